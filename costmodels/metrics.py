"""How far predicted times are from real ones, and whether they rank configurations rightly.

They are the metrics of Shivam, Babu and Chase: NIMO, 2005, section V-A.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costmodels.arrays import FloatArray


def absolute_errors(predicted: npt.ArrayLike, actual: npt.ArrayLike) -> FloatArray:
    """Return AE: the size of each difference, in the unit of the times.

    Raises
    ------
    ValueError
        If the two differ in length, are empty, or a value is not finite.

    Examples
    --------
    >>> absolute_errors([17.5, 10.0], [16.0, 12.0])
    array([1.5, 2. ])
    """
    estimated, truth = _pairs(predicted, actual)
    return np.abs(estimated - truth)


def percentage_errors(predicted: npt.ArrayLike, actual: npt.ArrayLike) -> FloatArray:
    """Return PE: the size of each difference in percent of the real time.

    Raises
    ------
    ValueError
        As in :func:`absolute_errors`, and if a real time is not positive.

    Examples
    --------
    >>> percentage_errors([15.0, 9.0], [12.0, 12.0])
    array([25., 25.])
    """
    estimated, truth = _pairs(predicted, actual)
    if not (truth > 0).all():
        raise ValueError(f"the actual value {truth[truth <= 0][0]:g} is not positive")
    return 100.0 * np.abs(estimated / truth - 1.0)


def ranking_distance(predicted: npt.ArrayLike, actual: npt.ArrayLike, k: int = 1) -> float:
    """Return RD(k): how far down the model ranks what is really among the k best.

    ``sum |p_i - i| / sum (n - i)`` over the k truly best of n, where the i-th best is ranked at
    p_i; 0 when the model ranks them as they are. Equals share the mean of their ranks.

    Parameters
    ----------
    predicted, actual : array_like, shape (n,)
        Times; the smaller the better.
    k : int, default 1
        From 1 to n.

    Raises
    ------
    ValueError
        As in :func:`absolute_errors`, and if `k` is out of range.

    Examples
    --------
    >>> ranking_distance([3.0, 1.0, 2.0], [1.0, 2.0, 3.0], k=1)
    1.0
    >>> ranking_distance([1.1, 2.2, 2.9], [1.0, 2.0, 3.0], k=3)
    0.0
    """
    from scipy.stats import rankdata

    estimated, truth = _pairs(predicted, actual)
    n = len(truth)
    if not 1 <= k <= n:
        raise ValueError(f"k is {k}, but must be from 1 to {n}")
    baseline_ranks, true_ranks = rankdata(estimated), rankdata(truth)
    best = np.argsort(truth, kind="stable")[:k]
    possible = float(np.sum(n - np.arange(1, k + 1)))
    distance = float(np.abs(baseline_ranks[best] - true_ranks[best]).sum())
    return distance / possible if possible else 0.0


def order_preserving_degree(predicted: npt.ArrayLike, actual: npt.ArrayLike) -> float:
    """Return OPD: the share of all n x n pairs that the model puts in their real order.

    A pair that is really equal must be predicted equal; each one is a pair with itself.

    Raises
    ------
    ValueError
        As in :func:`absolute_errors`.

    Examples
    --------
    >>> order_preserving_degree([10.0, 20.0, 30.0], [1.0, 2.0, 3.0])
    1.0
    >>> round(order_preserving_degree([20.0, 10.0, 30.0], [1.0, 2.0, 3.0]), 3)
    0.778
    """
    estimated, truth = _pairs(predicted, actual)
    kept = np.sign(estimated[:, None] - estimated) == np.sign(truth[:, None] - truth)
    return float(kept.mean())


def _pairs(predicted: npt.ArrayLike, actual: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    estimated = np.asarray(predicted, dtype=np.float64).ravel()
    truth = np.asarray(actual, dtype=np.float64).ravel()
    if len(estimated) != len(truth) or len(truth) == 0:
        raise ValueError(
            f"{len(estimated)} predicted and {len(truth)} actual values; accepted: as many, "
            "at least one"
        )
    for values in (estimated, truth):
        if not np.isfinite(values).all():
            raise ValueError(f"the value {values[~np.isfinite(values)][0]:g} is not finite")
    return estimated, truth
