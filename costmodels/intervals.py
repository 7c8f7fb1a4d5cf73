"""Prediction intervals from a handful of residuals."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from costmodels.arrays import FloatArray


def interval_about(
    predicted: FloatArray, errors: FloatArray, level: float, noise: float = 0.03
) -> FloatArray:
    """Return low and high of one run, symmetric as factors about each prediction, shape (n, 2).

    The reach is of logarithms, because runtimes are positive, and twice too high is as likely as
    half. It is the root of the sum of squares of the reach of the errors (Student's t) and that of
    the noise (normal), which is within 2% of the exact one at 90% from three errors on.

    Parameters
    ----------
    errors : ndarray
        Logarithms of predicted/actual of runs that were left out.
    level : float
        Probability that the interval contains the run; in (0, 1).
    noise : float
        Relative noise of one run. The default is for runs that were not repeated: 1.9 to 2.7%
        were measured (docs/studies/cluster-models.md), rounded up.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, but must be between 0 and 1")
    end = (1 + level) / 2
    squares = stdtrit(len(errors), end) ** 2 * np.mean(errors**2) + (noise * ndtri(end)) ** 2
    factor = np.exp(np.sqrt(squares))
    return np.column_stack((predicted / factor, predicted * factor))
