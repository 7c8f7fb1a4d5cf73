"""Predict a whole run from its first part, by the progress of its outermost loop.

The vertices are shuffled (:func:`~predict_graph.functions.sampling.spread_order`), so that the
first iterations are like the rest. Whether a function spends its time in one loop is seen in a run
on a sample, which also shows whether its iterations take equal times and all of them are done.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predict_graph.clock.loops import remaining_of
from predict_graph.functions.growth import RUN_STD
from predict_graph.functions.watch import Observation
from predict_graph.intervals import QUANTILE, Interval

_MOST_OF_A_RUN = 0.6  # share of the observations inside a loop that stands for the run; not tuned
_TO_THE_END = 0.9  # share of the iterations below which a loop ended early; not tuned
_FEWEST_OBSERVATIONS = 5  # observations that show the share of a loop; not tuned
_FEWEST_ROUNDS = 3.0  # iterations that show the pace; not tuned
# A loop over shuffled vertices deviates from the straight line by less than 0.075, and removing
# edges by betweenness by 0.75 (measured).
_BENT = 0.1
_CLEAR = 20  # observations that show whether iterations take equal times; not tuned
_TOO_SHORT = "the runs on samples are too short to see a loop in them"
_NO_LOOP = "there is no one loop in which it spends most of its time"


@dataclass(frozen=True)
class LoopShape:
    """The loop in which a function spends its time, as seen in one run.

    Parameters
    ----------
    loop : str
        See :class:`~predict_graph.functions.watch.LoopProgress`; empty where there is no such loop.
    after : float
        Time after it / time inside it.
    rounds : float
        Its iterations.
    reason : str
        Why the function has no such loop.
    counted : bool
        See :class:`~predict_graph.functions.watch.LoopProgress`.
    observations : int
        Observations inside any loop.
    """

    loop: str = ""
    after: float = 0.0
    rounds: float = 0.0
    reason: str = ""
    counted: bool = True
    observations: int = 0

    @property
    def clear(self) -> bool:
        """Whether observations are enough to show that its iterations take equal times."""
        return self.observations >= _CLEAR


@dataclass(frozen=True)
class Prefix:
    """The prediction of a whole run from its first part.

    Parameters
    ----------
    seconds, log_std : float
    rounds, total : float
        Iterations of the outermost loop: done, and in all.
    """

    seconds: float
    log_std: float
    rounds: float
    total: float


def loop_shape(observations: Sequence[Observation], seconds: float | None = None) -> LoopShape:
    """Return the loop in which a finished run of so many seconds, or a stopped one, spent its time.

    Only a finished run shows how its iterations and its time are related.
    """
    seen = [each for each in observations if each.loop.name]
    if len(seen) < _FEWEST_OBSERVATIONS:
        return LoopShape(reason=_TOO_SHORT)
    loop = Counter(each.loop.name for each in seen).most_common(1)[0][0]
    inside = [each for each in seen if each.loop.name == loop]
    start = _entered(observations, inside)
    spent = inside[-1].seconds - start
    if spent < _MOST_OF_A_RUN * (seconds or 0.0) or len(inside) < _MOST_OF_A_RUN * len(seen):
        return LoopShape(reason=_NO_LOOP, observations=len(seen))
    # A generator that was observed when it had ended has no progress.
    known = [each for each in inside if each.loop.total]
    last = (known or inside)[-1].loop
    if seconds is None:
        usable = last.total and last.counted and not last.early
        return LoopShape(loop) if usable else LoopShape(reason=_NO_LOOP)
    gap = float(np.max(np.diff([start, *(each.seconds for each in inside)])))
    end = min(inside[-1].seconds + gap, seconds)
    bend = _bend(known, start, end) if known else math.nan
    reason = ""
    if not known:
        reason = "the progress of its outermost loop is unknown"
    elif last.counted and last.early and last.done < _TO_THE_END * last.total:
        reason = "its outermost loop ends before its last element on samples"
    elif bend > _BENT or not (last.counted or bend <= _BENT):
        reason = "the progress of its outermost loop does not grow steadily with time on samples"
    if reason:
        return LoopShape(reason=reason, observations=len(seen))
    return LoopShape(
        loop,
        after=(seconds - end) / max(spent, 1e-9),
        rounds=last.done + 1.0,
        counted=last.counted,
        observations=len(seen),
    )


def _bend(known: Sequence[Observation], start: float, end: float) -> float:
    """Return how far the progress of a loop is from a straight line; nan where it shows too little.

    The last observation is up to a tick before the end, where a loop that cannot end early has done
    all iterations.
    """
    whole = not known[-1].loop.early
    times = np.array([*(each.seconds for each in known), *([end] if whole else [])]) - start
    places = np.array([each.loop.done / each.loop.total for each in known] + [1.0] * whole)
    if len(known) < _CLEAR or places[-1] < _TO_THE_END:
        return math.nan
    return float(np.max(np.abs(places - times / max(float(times[-1]), 1e-9))))


def clearest_shape(shapes: Sequence[LoopShape]) -> LoopShape:
    """Return the one of several runs that shows most of the function's loop.

    Any run in one loop with counted elements is enough; else the longest run decides.

    Examples
    --------
    >>> reported = LoopShape("progress", counted=False, observations=20)
    >>> clearest_shape([reported, LoopShape(reason="it is unsteady", observations=30)]).loop
    ''
    >>> clearest_shape([reported, LoopShape("a.py:f:3", observations=10)]).loop
    'a.py:f:3'
    """
    none = LoopShape(reason="no run on a sample has ended")

    def shows(shape: LoopShape) -> tuple[bool, int]:
        return bool(shape.loop) and shape.counted, shape.observations

    return max([*shapes, none], key=shows)


def read_prefix(
    observations: Sequence[Observation], seconds: float, shape: LoopShape
) -> Prefix | None:
    """Predict a run from the observations until it was stopped after `seconds`.

    None before the loop, or before enough of it is done.
    """
    inside = [each for each in observations if each.loop.name == shape.loop and each.loop.total > 0]
    if len(inside) < 2:
        return None
    places = np.array([each.loop.done for each in inside])
    total, done = float(np.median([each.loop.total for each in inside])), float(places[-1])
    if np.any(np.diff(places) < -1.0) or done <= 0:
        return None  # it started again, or its elements are not what they seem
    if done < min(_FEWEST_ROUNDS, 0.02 * total):
        return None
    trail = [(each.seconds, min(each.loop.done, total), total) for each in inside]
    left = remaining_of(trail, seconds).remaining or Interval(0.0, 0.0, 0.0)
    before = _entered(observations, inside)
    whole = before + (seconds - before + left.predicted) * (1.0 + shape.after)
    std = math.log((seconds + left.high) / (seconds + left.predicted)) / QUANTILE
    return Prefix(max(float(whole), seconds), math.hypot(std, RUN_STD), done, total)


def _entered(observations: Sequence[Observation], inside: Sequence[Observation]) -> float:
    """Return the seconds of the last observation before those inside a loop."""
    first = inside[0].seconds
    return max((each.seconds for each in observations if each.seconds < first), default=0.0)
