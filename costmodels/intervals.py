"""Prediction intervals from a handful of repeated values or residuals.

Both intervals work on the logarithm, because errors of runtimes and of iteration counts are
factors: they are positive, and twice too high is as likely as half.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, ndtri, stdtrit

__all__ = ["log_interval", "residual_interval", "spread_reach"]

QUANTILES = 512  # a choice: of a chi-squared distribution, to integrate over it


def log_interval(
    values: npt.ArrayLike,
    level: float = 0.9,
    extra_relative_std: float = 0.0,
    *,
    target: str = "draw",
) -> tuple[float, float]:
    """Interval for the next value, given repeated ones and an error that they do not show.

    The logarithms of the values are taken as normal with unknown mean and variance, which gives
    Student's t distribution with n - 1 degrees of freedom; the extra error as normal with known
    deviation. The interval is that of their sum (Behrens and Fisher's), which covers the truth at
    least about as often as `level` says; adding variances and degrees of freedom instead (Welch
    and Satterthwaite) covers less for two to four values.

    Parameters
    ----------
    values : array_like, shape (n,)
        Repeated estimates; positive and finite.
    level : float, default 0.9
        Probability that the interval contains the truth; in (0, 1).
    extra_relative_std : float, default 0
        Standard deviation, relative, of an error common to all values, such as the residual error
        of a cost model.
    target : {"draw", "mean"}, default "draw"
        What the interval is for: one more value that scatters as these do, or the median about
        which they scatter (narrower: the spread is divided by √n).

    Returns
    -------
    low, high : float
        Symmetric, as factors, about the geometric mean of the values.

    Raises
    ------
    ValueError
        If a value is not positive and finite, an option is out of range, or there is one value and
        no extra error.

    References
    ----------
    Hahn, Meeker: Statistical Intervals (1991).

    Examples
    --------
    >>> low, high = log_interval([90, 100, 110])
    >>> round(low, 1), round(high, 1)
    (71.0, 139.8)
    >>> low, high = log_interval([100], extra_relative_std=0.1)
    >>> round(low, 1), round(high, 1)
    (84.9, 117.8)
    """
    logs = _logs(values, "value")
    _check_level(level)
    if not (extra_relative_std >= 0 and math.isfinite(extra_relative_std)):
        raise ValueError(f"extra_relative_std is {extra_relative_std!r}, but must be 0 or more")
    if target not in ("draw", "mean"):
        raise ValueError(f"unknown target {target!r}; accepted: draw, mean")
    count = len(logs)
    extra = math.log1p(extra_relative_std**2)  # variance of the logarithm
    if count == 1:
        if extra == 0:
            raise ValueError("one value has no spread: give more values or extra_relative_std")
        own = 0.0
    else:
        factor = 1 / count if target == "mean" else 1 + 1 / count
        own = float(np.var(logs, ddof=1)) * factor
    return _around(float(logs.mean()), spread_reach(own, count - 1, extra, level))


def residual_interval(
    predicted: float, relative_errors: npt.ArrayLike, level: float = 0.9
) -> tuple[float, float]:
    """Interval for the truth, given a prediction and the relative errors of earlier ones.

    Parameters
    ----------
    predicted : float
        The prediction; positive.
    relative_errors : array_like, shape (n,)
        predicted/actual - 1 of n earlier predictions of unseen cases; above -1. Their bias is not
        corrected but counted: the spread is taken about 0.
    level : float, default 0.9
        Probability that the interval contains the truth; in (0, 1).

    Returns
    -------
    low, high : float
        Symmetric, as factors, about `predicted`.

    Raises
    ------
    ValueError
        If there is no error given, or a value is out of range.

    Examples
    --------
    >>> low, high = residual_interval(10.0, [0.1, -0.1, 0.05])
    >>> round(low, 2), round(high, 2)
    (8.15, 12.26)
    """
    center = float(_logs([predicted], "prediction")[0])
    errors = np.atleast_1d(np.asarray(relative_errors, dtype=np.float64))
    factors = _logs(errors + 1, "factor 1 + relative error")
    _check_level(level)
    return _around(center, spread_reach(float(np.mean(factors**2)), len(factors), 0.0, level))


def spread_reach(own: float, freedom: int, extra: float, level: float) -> float:
    """Return x such that ``|√own t + √extra z| <= x`` has the probability `level`.

    t is Student's with `freedom` degrees of freedom, z standard normal. Given the chi-squared
    variable of t the sum is normal; that variable is integrated out over its quantiles.
    """
    _check_level(level)
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
def _chi_squared(freedom: int) -> npt.NDArray[np.float64]:
    quantiles: npt.NDArray[np.float64] = chdtri(freedom, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    return quantiles


def _around(center: float, reach: float) -> tuple[float, float]:
    if center + reach > math.log(np.finfo(np.float64).max):
        return math.exp(center - reach), math.inf
    return math.exp(center - reach), math.exp(center + reach)


def _logs(values: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()
    if numbers.size == 0:
        raise ValueError(f"there is no {what}, but at least one is needed")
    wrong = numbers[~((numbers > 0) & np.isfinite(numbers))]
    if wrong.size:
        raise ValueError(f"the {what} {wrong[0]:g} is not positive and finite")
    logs: npt.NDArray[np.float64] = np.log(numbers)
    return logs


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, but must be between 0 and 1")
