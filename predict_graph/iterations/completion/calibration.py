"""How far off is a completed sample? Ask graphs whose answer is known.

A walk sample is a small graph with structure of its own kind: communities, triangles, chains. Run
the algorithm on it: its crossing is known exactly. Complete a sample *of the walk sample* and
compare. What completion misses there, it misses in the whole graph too, so the logarithm of the
ratio is added to the estimate, averaged over two samplers that err in opposite directions: random
jump (denser places, shorter walks) and Metropolis–Hastings (even, sparser).

A walk sample that is sparser than the graph says little about it: its word counts in proportion
to its density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Calibration", "combined_correction"]


@dataclass(frozen=True)
class Calibration:
    """What one walk sample said.

    Parameters
    ----------
    exact, completed : float
        Crossing of the walk sample itself, and as estimated from completed samples of it.
    density_ratio : float
        Edges per vertex of the walk sample / of the graph.
    """

    exact: float
    completed: float
    density_ratio: float

    @property
    def log_correction(self) -> float:
        """Logarithm of the factor that the estimate should be multiplied with."""
        if not (np.isfinite(self.exact) and np.isfinite(self.completed)):
            return 0.0
        trust = min(1.0, self.density_ratio)
        return trust * float(np.log(self.exact / self.completed))


def combined_correction(calibrations: list[Calibration]) -> tuple[float, float]:
    """Return the mean logarithmic correction, and the standard error that it brings.

    Examples
    --------
    >>> correction, error = combined_correction(
    ...     [Calibration(11.0, 10.0, 1.0), Calibration(10.0, 10.0, 2.0)]
    ... )
    >>> round(correction, 3), round(error, 3)
    (0.048, 0.048)
    """
    if not calibrations:
        return 0.0, 0.0
    logs = np.array([calibration.log_correction for calibration in calibrations])
    return float(logs.mean()), float(logs.std() / np.sqrt(max(len(logs) - 1, 1)))
