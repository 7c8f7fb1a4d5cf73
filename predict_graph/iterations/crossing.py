"""Fractional iterations at which a convergence curve crosses its threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def crossing(curve: Sequence[float] | npt.NDArray[np.float64], threshold: float) -> float:
    """Return the point at which a convergence curve falls below `threshold`.

    The curve is read as a straight line on a log scale between iterations, so samples can be
    averaged without the rounding of whole iterations. The number of iterations that a run takes is
    the crossing rounded up.

    Examples
    --------
    >>> crossing([0.1, 0.001], 0.01)
    1.5
    >>> crossing([0.1, 0.001], 0.5)
    1.0
    """
    values = np.asarray(curve, dtype=np.float64)
    below = np.flatnonzero(values < threshold)
    if not len(below):
        return math.inf
    first = int(below[0])
    if first == 0:
        return 1.0
    before, after = values[first - 1], values[first]
    if after <= 0.0 or before <= threshold:
        return float(first + 1)
    return float(first + np.log(before / threshold) / np.log(before / after))


def mean_curve(
    curves: Sequence[npt.NDArray[np.float64]], iterations: int
) -> npt.NDArray[np.float64]:
    """Return the geometric mean of curves of any lengths, for so many iterations."""
    length = max(iterations, *(len(curve) for curve in curves))
    logs = [_extended(np.log(np.maximum(curve, 1e-300)), length) for curve in curves]
    curve: npt.NDArray[np.float64] = np.exp(np.mean(logs, axis=0))[:iterations]
    return curve


def _extended(logs: npt.NDArray[np.float64], length: int) -> npt.NDArray[np.float64]:
    """Continue a curve on a log scale with its last slope."""
    missing = length - len(logs)
    if missing == 0:
        return logs
    slope = logs[-1] - logs[-2] if len(logs) > 1 else 0.0
    return np.concatenate((logs, logs[-1] + slope * np.arange(1, missing + 1)))
