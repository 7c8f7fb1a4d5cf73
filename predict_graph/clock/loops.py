"""What remains of a loop whose rounds are counted, by the pace of those that are done.

The rounds of a loop over vertices are not alike: hubs come early in many files. Where the work of
each round can be guessed (by degrees, by what a search from there reaches), what is done is
measured in that work instead of in rounds; which of the guesses holds is seen in the run itself:
under a good one the pace does not change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from predict_graph.clock.moment import Moment
from predict_graph.intervals import QUANTILE, Interval

__all__ = ["outlasted", "remaining_of", "with_first"]

FloatArray = npt.NDArray[np.float64]

_PARTS = 8  # of what was seen, whose paces are compared; a choice
# Of a change of pace from one half to the next: halfway to the pace of the last; judgement.
_CARRIED = 0.25
_ROUND_STD = 0.5  # of the logarithm of a round about the mean; judgement
# Of what remains, however even the pace: calibrated on runs under `track`.
_LEAST_STD = 0.15
_EVEN = 0.02  # a change of pace that tells nothing about a guess of the work


def remaining_of(
    trail: Sequence[tuple[float, float, float]],
    elapsed: float,
    works: Mapping[str, FloatArray] | None = None,
) -> Moment:
    """Return what remains of a loop, from seconds, rounds done and rounds in all at some moments.

    Parameters
    ----------
    trail : sequence of (float, float, float)
        The last one is now; at least two.
    elapsed : float
        Seconds.
    works : mapping of ndarray, shape (rounds + 1,), optional
        Guesses of the work that is done after so many rounds, from 0 to 1. That all rounds are
        alike is one in any case.

    Examples
    --------
    >>> found = remaining_of([(1.0, 10.0, 100.0), (2.0, 20.0, 100.0)], 2.0)
    >>> round(found.remaining.predicted, 6), round(found.share, 6)
    (8.0, 0.2)
    """
    table = np.array(trail)
    # Where one round takes many looks, only the first look at a round says when it began.
    table = table[np.concatenate(([True], np.diff(table[:, 1]) > 0.0))]
    seconds, done, total = table[:, 0], table[:, 1], float(table[-1, 2])
    said = []
    for work in (None, *(works or {}).values()):
        if work is None:
            places = done / total
        elif len(work) == int(total) + 1:
            places = np.interp(done, np.arange(len(work)), work)
        else:
            continue
        said.append(_by_work(seconds, places))
    logs, stds, changes, counts = (np.array(each) for each in zip(*said, strict=True))
    # The likelihood of paces that differ by noise of a size that is not known.
    scores = -0.5 * counts * np.log(changes**2 + _EVEN**2)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    mean = float(weights @ logs)
    spread = float(weights @ (stds**2 + (logs - mean) ** 2))
    # Rounds are few at first, and each its own; towards the end there is little to be wrong about.
    std = math.sqrt(spread + _ROUND_STD**2 / max(float(done[-1]), 1.0) + _LEAST_STD**2)
    left = max(math.exp(mean) - (elapsed - float(seconds[-1])), 0.0)
    return Moment(
        elapsed,
        float(done[-1]),
        Interval(total, total, total),
        Interval.spread(left, min(std, 1.5)),
    )


def _by_work(seconds: FloatArray, places: FloatArray) -> tuple[float, float, float, int]:
    """Return what remains if a round's time is proportional to its work.

    Returns
    -------
    log_left, log_std : float
    change : float
        Standard deviation of the logarithms of the paces of parts of what was seen.
    count : int
        Parts but one.
    """
    left = max(1.0 - places[-1], 1e-9)
    gone = places[-1] - places[0]
    if gone <= 0.0:
        return math.log(left * max(float(seconds[-1]), 1e-9)), 1.0, 1.0, 1
    overall = max(float(seconds[-1] - seconds[0]), 1e-9) / gone
    ends = np.linspace(seconds[0], seconds[-1], min(_PARTS, len(seconds) - 1) + 1)
    steps = np.diff(np.interp(ends, seconds, places))
    paces = np.log(np.diff(ends) / np.maximum(steps, 1e-3 * gone / len(steps)))
    count = len(paces)
    if count < 3:
        return math.log(left * overall), 0.3, 0.3, 1
    change = float(paces.std(ddof=1))
    half = count // 2
    drift = float(paces[half:].mean() - paces[:half].mean())
    noise = change * 2.0 / math.sqrt(count)  # of such a difference, if the paces do not drift
    real = drift**2 / (drift**2 + noise**2) if drift else 0.0
    recent = _CARRIED * real * drift
    std = math.hypot(change / math.sqrt(count), recent)
    return math.log(left * overall) + recent, std, change, count - 1


def with_first(moment: Moment, first: Interval) -> Moment:
    """Return a moment with what remains corrected by the first prediction of the whole.

    Both are weighed by their errors: of the first prediction, given that the run takes longer than
    it has until now, and of the pace, of which only what remains can be wrong.

    Examples
    --------
    >>> pace = Moment(10.0, 5, Interval(10, 10, 10), Interval(10.0, 5.0, 20.0))
    >>> 10.0 < with_first(pace, Interval(40.0, 30.0, 50.0)).remaining.predicted < 30.0
    True
    """
    by_pace, by_first = moment.remaining, outlasted(first, moment.elapsed)
    if by_pace is None or by_pace.predicted <= 0.0:
        return moment
    logs = [math.log(each.predicted) for each in (by_pace, by_first)]
    stds = [
        max(math.log(each.high / max(each.low, 1e-9)) / (2.0 * QUANTILE), 1e-3)
        for each in (by_pace, by_first)
    ]
    shares = np.array(stds) ** -2.0
    weights = shares / shares.sum()
    mean = float(weights @ np.array(logs))
    spread = Interval.spread(math.exp(mean), float(shares.sum() ** -0.5))
    return Moment(moment.elapsed, moment.done, moment.of, spread)


def outlasted(first: Interval, elapsed: float) -> Interval:
    """Return what remains of a run that was foretold, and has taken `elapsed` seconds already.

    The quantiles of a lognormal distribution above `elapsed`.

    Examples
    --------
    >>> first = Interval.spread(10.0, 0.3)
    >>> round(outlasted(first, 1.0).predicted, 2), outlasted(first, 30.0).predicted > 1.0
    (9.0, True)
    """
    std = max(math.log(first.high / first.predicted) / QUANTILE, 0.01)
    centre, normal = math.log(first.predicted), NormalDist()
    gone = normal.cdf((math.log(max(elapsed, 1e-9)) - centre) / std)
    gone = min(gone, 1.0 - 1e-6)
    left = [
        max(math.exp(centre + std * normal.inv_cdf(gone + (1.0 - gone) * part)) - elapsed, 0.0)
        for part in (0.5, 0.05, 0.95)
    ]
    least = 0.01 * elapsed  # where the distribution has no more to say
    return Interval(max(left[0], least), max(left[1], 0.1 * least), max(left[2], 2.0 * least))
