"""Straight lines through few points, none of whose coefficients is negative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Line", "fitted_line"]

FloatArray = npt.NDArray[np.float64]

_LEAST = 1e-9  # seconds; a cost has to be positive to be fitted; by definition


@dataclass(frozen=True)
class Line:
    """Seconds = constant + slope x what there is to do; neither is negative.

    Parameters
    ----------
    constant, slope : float
    """

    constant: float
    slope: float

    def at(self, size: float) -> float:
        """Return the seconds for so much to do."""
        return self.constant + self.slope * size

    def scaled(self, factor: float) -> Line:
        """Return the line that is `factor` times as high everywhere."""
        return Line(self.constant * factor, self.slope * factor)


def fitted_line(sizes: FloatArray, seconds: FloatArray, weight: FloatArray | None = None) -> Line:
    """Fit a line to relative errors; a constant if there is one size only, 0 if there is none.

    Examples
    --------
    >>> line = fitted_line(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]))
    >>> round(line.constant, 6), round(line.slope, 6)
    (1.0, 2.0)
    """
    if len(sizes) == 0:
        return Line(0.0, 0.0)
    if len(np.unique(sizes)) < 2:
        return Line(float(np.median(seconds)), 0.0)
    from costmodels import NonNegativeLinear  # with scikit-learn: only who fits waits for it

    model = NonNegativeLinear().fit(sizes[:, None], np.maximum(seconds, _LEAST), weight)
    return Line(float(model.intercept_), float(model.coef_[0]))
