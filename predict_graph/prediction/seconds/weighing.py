"""Combining several sources of an estimate by weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from predict_graph.engines import Evidence

FloatArray = npt.NDArray[np.float64]

_COMMON_STD = 0.12  # error of an iteration's time common to all sources (docs/studies/overhead.md)


def weighed(
    evidence: Sequence[Evidence], *, only: str | None = None
) -> tuple[list[Evidence], FloatArray, float]:
    """Return sources with their weights, the seconds of each iteration, and their deviation.

    Weights are the inverse squared deviations of the logarithm of the total time; the distribution
    over iterations is that of the source with the largest weight. If sources differ by more than
    their deviations allow, the combined deviation grows by Birge's ratio.

    References
    ----------
    .. [1] R. T. Birge: The Calculation of Errors by the Method of Least Squares, Physical Review
       40, 1932.

    Examples
    --------
    >>> one = Evidence("probe", np.full(4, 1.0), 0.1)
    >>> other = Evidence("regression", np.full(4, 2.0), 0.3)
    >>> both, seconds, _ = weighed([one, other])
    >>> [round(each.weight, 2) for each in both], round(float(seconds.sum()), 2)
    ([0.81, 0.19], 4.56)
    """
    totals = np.array([float(each.seconds.sum()) for each in evidence])
    stds = np.array([math.hypot(each.relative_std, _COMMON_STD) for each in evidence])
    counts = totals > 0.0
    if only is not None:
        counts = np.array([each.name == only for each in evidence])
    if not counts.any():
        counts = np.ones(len(evidence), bool)
    weights = np.where(counts, 1.0 / stds**2, 0.0)
    weights /= weights.sum()
    weighted = [
        replace(each, weight=float(weight)) for each, weight in zip(evidence, weights, strict=True)
    ]
    main = evidence[int(weights.argmax())].seconds
    whole = float(main.sum())
    if whole <= 0.0:
        return weighted, main, float(stds[int(weights.argmax())])
    logs = np.log(np.maximum(totals[counts], 1e-12))
    mean = float(weights[counts] @ logs)
    internal = 1.0 / math.sqrt(float((1.0 / stds[counts] ** 2).sum()))
    freedom = max(int(counts.sum()) - 1, 1)
    birge = math.sqrt(float((((logs - mean) / stds[counts]) ** 2).sum()) / freedom)
    std = max(internal * max(birge, 1.0), _COMMON_STD)
    return weighted, main * (math.exp(mean) / whole), std
