"""Reach of prediction intervals from a handful of residuals.

Reaches are of logarithms, because errors of runtimes and of iteration counts are factors: they are
positive, and twice too high is as likely as half.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, ndtri, stdtrit

FloatArray = npt.NDArray[np.float64]
# Relative noise of one run, assumed where nothing was repeated: 1.9 to 2.7% were measured
# (docs/studies/cluster-models.md), rounded up.
USUAL_NOISE = 0.03


def interval_about(
    predicted: FloatArray, errors: FloatArray, noise: float, level: float
) -> FloatArray:
    """Return low and high of one run, symmetric as factors about each prediction, shape (n, 2).

    `errors` are logarithms of predicted/actual of runs that were left out, `noise` is that of a
    single run.
    """
    reach = spread_reach(float(np.mean(errors**2)), len(errors), noise**2, level)
    return np.column_stack((predicted * np.exp(-reach), predicted * np.exp(reach)))


def spread_reach(own: float, freedom: int, extra: float, level: float) -> float:
    """Return x such that ``|√own t + √extra z| <= x`` has the probability `level`.

    t is Student's with `freedom` degrees of freedom, z standard normal. Given the chi-squared
    variable of t the sum is normal; that variable is integrated out over its quantiles.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, but must be between 0 and 1")
    if own == 0:
        return float(ndtri((1 + level) / 2)) * math.sqrt(extra)
    alone = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(own)
    if extra == 0:
        return alone
    deviations = np.sqrt(own * freedom / _chi_squared(freedom) + extra)

    def excess(reach: float) -> float:
        return float(np.mean(2 * ndtr(reach / deviations) - 1)) - level

    most = 2 * (alone + float(ndtri((1 + level) / 2)) * math.sqrt(extra))
    return float(brentq(excess, 0, most, xtol=1e-9 * most, rtol=1e-9))


@lru_cache(maxsize=64)
def _chi_squared(freedom: int, count: int = 512) -> FloatArray:
    quantiles: FloatArray = chdtri(freedom, (np.arange(count) + 0.5) / count)
    return quantiles
