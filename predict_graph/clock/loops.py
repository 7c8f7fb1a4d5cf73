"""The remaining time of a loop with known progress, from its pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from statistics import NormalDist

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.clock.moment import Moment
from predict_graph.intervals import QUANTILE, Interval


def remaining_of(
    trail: Sequence[tuple[float, float, float]], elapsed: float, work: FloatArray | None = None
) -> Moment:
    """Return the remaining time of a loop, from times, finished iterations and their total.

    Iterations are alike, or `work` is the share before each: whichever pace is the steadier.

    Examples
    --------
    >>> found = remaining_of([(1.0, 10.0, 100.0), (2.0, 20.0, 100.0)], 2.0)
    >>> round(found.remaining.predicted, 6), round(found.share, 6)
    (8.0, 0.2)
    >>> burst = [(1.0, 1.0, 100.0), (5.0, 1.0, 100.0), (5.1, 20.0, 100.0)]
    >>> remaining_of(burst, 5.1).remaining.log_std > 1.0
    True
    """
    table = np.array(trail)
    # Where several observations fall into one iteration, only the first shows when it started. The
    # last of them shows that many others, which come within a moment, did not come before.
    steps = np.diff(table[:, 1])
    table = table[np.append(True, steps > 0.0) | np.append(steps > 1.0, False)]
    done, total = float(table[-1, 1]), float(table[-1, 2])
    # An iteration that takes longer than those before it ends now at the earliest.
    seconds = np.append(table[:, 0], elapsed)
    iterations = np.append(table[:, 1], min(done + 1.0, total))
    places = [iterations / total]
    if work is not None:
        places.append(np.interp(iterations, np.arange(len(work)), work))
    found = (
        map(max, _left(seconds[:-1], each[:-1], elapsed), _left(seconds, each, elapsed))
        for each in places
    )
    left, std, _ = min(map(tuple, found), key=itemgetter(2))
    return Moment(elapsed, done, Interval.exact(total), Interval.spread(left, min(std, 1.5)))


_LEAST_STD = 0.15  # of the logarithm of the remaining time; calibrated on runs under `track`


def _left(seconds: FloatArray, places: FloatArray, elapsed: float) -> tuple[float, float, float]:
    """Return the remaining time, its log std and the change of the pace, by the shares done.

    The pace so far goes on; its error is that of the means of eight parts of the time and of the
    rest, and :data:`_LEAST_STD` however even it is.
    """
    gone, rest = float(places[-1] - places[0]), max(1.0 - float(places[-1]), 1e-9)
    std = change = 1.0
    left = rest * max(float(seconds[-1]), 1e-9)
    if gone > 0.0:
        left = rest / gone * max(float(seconds[-1] - seconds[0]), 1e-9)
        ends = np.linspace(seconds[0], seconds[-1], min(8, len(seconds) - 1) + 1)
        steps = np.diff(np.interp(ends, seconds, places))
        paces = np.log(np.diff(ends) / np.maximum(steps, 1e-3 * gone / len(steps)))
        change = float(paces.std(ddof=1)) if len(paces) > 1 else 0.0
        error = change * math.sqrt((1.0 + gone / rest) / len(paces))
        std = max(error, 0.3 if len(paces) < 3 else 0.0)
    return max(left - (elapsed - float(seconds[-1])), 0.0), math.hypot(std, _LEAST_STD), change


def with_prediction(moment: Moment, first: Interval) -> Moment:
    """Combine the remaining time from the pace with the first prediction of the runtime.

    Both are weighted by their errors: that of the first prediction, given the elapsed time, and
    that of the pace, which only affects the remaining part.

    Examples
    --------
    >>> pace = Moment(10.0, 5, Interval(10, 10, 10), Interval(10.0, 5.0, 20.0))
    >>> 10.0 < with_prediction(pace, Interval(40.0, 30.0, 50.0)).remaining.predicted < 30.0
    True
    """
    by_pace, by_first = moment.remaining, remaining_after(first, moment.elapsed)
    if by_pace is None or by_pace.predicted <= 0.0:
        return moment
    both = by_pace, by_first
    weights = [max(each.log_std, 1e-3) ** -2.0 for each in both]
    logs = sum(w * math.log(each.predicted) for w, each in zip(weights, both, strict=True))
    spread = Interval.spread(math.exp(logs / sum(weights)), sum(weights) ** -0.5)
    return replace(moment, remaining=spread)


def remaining_after(first: Interval, elapsed: float) -> Interval:
    """Return the remaining time of a run with a predicted runtime, given the elapsed time.

    These are quantiles of the lognormal distribution truncated to values above `elapsed`.

    Examples
    --------
    >>> first = Interval.spread(10.0, 0.3)
    >>> round(remaining_after(first, 1.0).predicted, 2)
    9.0
    """
    std = max(math.log(first.high / first.predicted) / QUANTILE, 0.01)
    centre, normal = math.log(first.predicted), NormalDist()
    gone = normal.cdf((math.log(max(elapsed, 1e-9)) - centre) / std)
    gone = min(gone, 1.0 - 1e-6)
    left = [
        max(math.exp(centre + std * normal.inv_cdf(gone + (1.0 - gone) * part)) - elapsed, 0.0)
        for part in (0.5, 0.05, 0.95)
    ]
    least = 0.01 * elapsed  # lower bound where the distribution has no mass left
    return Interval(max(left[0], least), max(left[1], 0.1 * least), max(left[2], 2.0 * least))
