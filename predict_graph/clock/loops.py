"""What remains of a loop whose rounds are counted, by the pace of those that are done."""

from __future__ import annotations

import math
from collections.abc import Sequence

from predict_graph.clock.moment import Figure, Moment

__all__ = ["remaining_of"]

_RECENT = 0.5  # of the rounds done, whose pace is that of the rounds to come
_STD = 0.5  # of the logarithm of what remains, after the first round


def remaining_of(trail: Sequence[tuple[float, float, float]], elapsed: float) -> Moment:
    """Return what remains of a loop, from seconds, rounds done and rounds in all at some moments.

    Examples
    --------
    >>> found = remaining_of([(1.0, 10.0, 100.0), (2.0, 20.0, 100.0)], 2.0)
    >>> round(found.remaining.predicted, 6), round(found.share, 6)
    (8.0, 0.2)
    """
    seconds, done, total = trail[-1]
    half = next(each for each in trail if each[1] >= (1.0 - _RECENT) * done)
    began = trail[0][0] - trail[0][1] * (seconds - trail[0][0]) / max(done - trail[0][1], 1.0)
    began = min(max(began, 0.0), trail[0][0])
    overall = (seconds - began) / max(done, 1.0)
    recent = (seconds - half[0]) / max(done - half[1], 1e-9) if done > half[1] else overall
    pace = 0.5 * (overall + recent)
    left = max(total - done, 0.0) * pace
    differ = abs(math.log(max(recent, 1e-9) / max(overall, 1e-9)))
    std = math.hypot(0.5 * differ, _STD / math.sqrt(max(done, 1.0)), 0.03)
    remaining = Figure.spread(max(left, 0.0), std)
    return Moment(elapsed, done, Figure(total, total, total), remaining)
