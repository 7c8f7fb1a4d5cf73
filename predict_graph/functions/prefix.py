"""Predict a whole run from its first part, by the progress of its outermost loop.

The vertices are shuffled (:func:`~predict_graph.functions.sampling.spread_order`), so that the
first iterations are like the rest. Whether a function spends its time in one loop is seen in a run
on a sample, which also shows which part of its iterations takes which part of the time. Of a loop
that ends when it has converged, the first part gives the time of an iteration and the samples the
number of iterations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.clock import remaining_of
from predict_graph.functions.child import Look
from predict_graph.functions.growth import RUN_STD, Growth
from predict_graph.intervals import QUANTILE, Interval

FloatArray = npt.NDArray[np.float64]

_MOST_OF_A_RUN = 0.6  # share of the observations inside a loop that stands for the run; not tuned
_TO_THE_END = 0.9  # share of the iterations below which a loop ended early; not tuned
_FEWEST_LOOKS = 5  # observations that show the share of a loop; not tuned
_FEWEST_ROUNDS = 3.0  # iterations that show the pace; not tuned
# A loop over shuffled vertices deviates from the straight line by less than half of this, and
# removing edges by betweenness by five times it (measured).
_BENT = 0.15
_LOOKS_OF_A_CURVE = 20  # observations that show a curve; not tuned
_LOOKS_OF_A_ROUND = 3  # observations of an iteration of a while that can be counted; not tuned
_FEWEST_ELEMENTS = 200  # of a loop in a while, for a part of it to stand for all; not tuned
_TOO_SHORT = "the runs on samples are too short to see a loop in them"
_NO_LOOP = "there is no one loop in which it spends most of its time"


@dataclass(frozen=True)
class LoopShape:
    """The loop in which a function spends its time, as seen in one run.

    Parameters
    ----------
    loop : str
        See :class:`~predict_graph.functions.watch.Seen`; empty where there is no such loop.
    before : float
        Seconds before it.
    after : float
        Time after it / time inside it.
    rounds : float
        Its iterations.
    early : bool
        Whether it ended before its last element.
    reason : str
        Why the function has no such loop.
    power : float
        Of the part of its iterations that is done, to which the part of its time is proportional.
    counted : bool
        See :class:`~predict_graph.functions.watch.Seen`.
    looks : int
        Observations inside any loop.
    """

    loop: str = ""
    before: float = 0.0
    after: float = 0.0
    rounds: float = 0.0
    early: bool = False
    reason: str = ""
    power: float = 1.0
    counted: bool = True
    looks: int = 0


@dataclass(frozen=True)
class Prefix:
    """The prediction of a whole run from its first part.

    Parameters
    ----------
    seconds, log_std : float
    rounds, total : float
        Iterations of the outermost loop: done, and in all.
    estimated : bool
        Whether the total is an estimate from samples.
    """

    seconds: float
    log_std: float
    rounds: float
    total: float
    estimated: bool = False


def loop_shape(looks: Sequence[Look], seconds: float) -> LoopShape:
    """Return the loop in which a finished run of so many seconds spent its time."""
    seen = [look for look in looks if look.loops]
    if len(seen) < _FEWEST_LOOKS:
        return LoopShape(reason=_TOO_SHORT)
    loop, inside = _main_loop(seen)
    start = _entered(looks, inside)
    spent = inside[-1].seconds - start
    if spent < _MOST_OF_A_RUN * seconds or len(inside) < _MOST_OF_A_RUN * len(seen):
        return LoopShape(reason=_NO_LOOP, looks=len(seen))
    # A generator that was observed when it had ended has no progress.
    known = [look for look in inside if look.loops[0].total]
    last = (known or inside)[-1].loops[0]
    turned = math.isinf(last.total)
    rounds = float(math.ceil(last.done)) if turned else last.done + 1.0
    power, bent = _curve(known, start) if known else (1.0, 1.0)
    reason = ""
    if not known and last.bounded:
        reason = "the progress of its outermost loop is unknown"
    elif not known:
        reason = "its outermost loop is a while of unknown length"
    elif not last.counted and bent > _BENT:
        reason = "the progress of its outermost loop does not grow steadily with time on samples"
    elif turned and len(known) < _MOST_OF_A_RUN * len(inside):
        reason = "its outermost loop is a while around several loops"
    elif turned and len(inside) < _LOOKS_OF_A_ROUND * rounds:
        reason = "its outermost loop is a while, whose rounds on samples are too short to count"
    if reason:
        return LoopShape(reason=reason, looks=len(seen))
    gap = float(np.max(np.diff([start, *(look.seconds for look in inside)])))
    early = last.counted and last.early and last.done < _TO_THE_END * last.total
    return LoopShape(
        loop,
        before=start,
        after=max(seconds - inside[-1].seconds - gap, 0.0) / max(spent, 1e-9),
        rounds=rounds,
        early=early,
        power=1.0 if early and not turned else power,
        counted=last.counted,
        looks=len(seen),
    )


def _main_loop(seen: Sequence[Look]) -> tuple[str, list[Look]]:
    """Return the outermost loop of most observations, and those inside it."""
    loop = Counter(look.loops[0].loop for look in seen).most_common(1)[0][0]
    return loop, [look for look in seen if look.loops[0].loop == loop]


def _curve(known: Sequence[Look], start: float) -> tuple[float, float]:
    """Return the power of :class:`LoopShape`, 1 near a straight line, and the error of its curve.

    The last observation is up to a tick before the end. The error is infinite where iterations are
    few, are undone, or are missing at the end.
    """
    times = np.array([look.seconds for look in known]) - start
    last = known[-1].loops[0].done  # all iterations where the total is unknown
    totals = [each.loops[0].total if math.isfinite(each.loops[0].total) else last for each in known]
    places = np.array([_place(look) / total for look, total in zip(known, totals, strict=True)])
    times = times / max(float(times[-1]), 1e-9)
    if len(times) < _LOOKS_OF_A_CURVE or np.any(np.diff(places) < 0.0) or places[-1] < _TO_THE_END:
        return 1.0, math.inf
    error = float(np.max(np.abs(places - times)))
    if error < _BENT:
        return 1.0, error
    mean = float(np.clip(np.trapezoid(places, times), 0.01, 0.99))
    power = mean / (1.0 - mean)
    return power, float(np.max(np.abs(places - times ** (1.0 / power))))


def surer(one: LoopShape, other: LoopShape) -> LoopShape:
    """Return the one of two runs that shows more of the function's loop.

    Any run in one loop with counted elements is enough; else the longer run decides.

    Examples
    --------
    >>> reported = LoopShape("progress", counted=False, looks=20)
    >>> surer(reported, LoopShape(reason="it does not grow steadily", looks=30)).loop
    ''
    >>> surer(reported, LoopShape("a.py:f:3", looks=10)).loop
    'a.py:f:3'
    """
    return max(one, other, key=lambda each: (bool(each.loop) and each.counted, each.looks))


def shape_of_part(looks: Sequence[Look]) -> LoopShape:
    """Return the loop in which a run that was stopped had been for most of the time."""
    seen = [look for look in looks if look.loops]
    if len(seen) < _FEWEST_LOOKS:
        return LoopShape(reason=_TOO_SHORT)
    loop, inside = _main_loop(seen)
    last = inside[-1].loops[0]
    if not last.counted:
        return LoopShape(reason="only a finished run shows whether its progress is steady")
    if len(inside) < _MOST_OF_A_RUN * len(seen) or last.early or not (last.bounded and last.total):
        return LoopShape(reason=_NO_LOOP)
    return LoopShape(loop)


def read_prefix(
    looks: Sequence[Look],
    seconds: float,
    shape: LoopShape,
    rounds: Callable[[float], Growth | None] = lambda done: None,
    shapes: Sequence[LoopShape] = (),
) -> Prefix | None:
    """Predict a run from the observations until it was stopped after `seconds`.

    None before the loop, or before enough of it is done. `rounds` returns the iterations of a loop
    that ends early, with that many completed; `shapes`, of the samples, show how much curves
    differ between sizes.
    """
    inside = [
        look
        for look in looks
        if look.loops and look.loops[0].loop == shape.loop and look.loops[0].total > 0
    ]
    if len(inside) < 3:
        return None
    places = np.array([_place(look) for look in inside])
    times = np.array([look.seconds for look in inside])
    total, done = float(np.median([look.loops[0].total for look in inside])), float(places[-1])
    if np.any(np.diff(places) < -1.0) or done <= 0:
        return None  # it started again, or its elements are not what they seem
    expected = rounds(done)
    if shape.early and expected is None:
        return None
    total = total if expected is None else min(expected.cost, total)
    elements = _elements(inside)
    few = elements < _FEWEST_ELEMENTS if elements else done < 0.02 * total
    if math.isinf(total) or (done < _FEWEST_ROUNDS and few):
        return None
    work = total * np.minimum(places / total, 1.0) ** shape.power
    trail = [(time, part, total) for time, part in zip(times, work, strict=True)]
    left = remaining_of(trail, seconds).remaining or Interval(0.0, 0.0, 0.0)
    before = _entered(looks, inside)
    whole = before + (seconds - before + left.predicted) * (1.0 + shape.after)
    std = math.log((seconds + left.high) / (seconds + left.predicted)) / QUANTILE
    differ = float(np.std([each.power for each in shapes])) if shapes else 0.0
    spread = math.hypot(std, RUN_STD, differ * math.log(min(done / total, 1.0)))
    if expected is not None:
        spread = math.hypot(spread, expected.log_std)
    return Prefix(max(float(whole), seconds), spread, done, total, expected is not None)


def _entered(looks: Sequence[Look], inside: Sequence[Look]) -> float:
    """Return the seconds at which a loop started, by its pace and the observation before it."""
    known = [look for look in inside if look.loops[0].total > 0.0]
    before = max((each.seconds for each in looks if each.seconds < inside[0].seconds), default=0.0)
    if not known:
        return before
    first, last = known[0], known[-1]
    steps = last.loops[0].done - first.loops[0].done
    pace = (last.seconds - first.seconds) / steps if steps > 0.0 else 0.0
    return min(max(before, first.seconds - pace * first.loops[0].done), inside[0].seconds)


def _elements(inside: Sequence[Look]) -> float:
    """Return the elements of the loop inside a ``while``; 0 for any other loop."""
    seen = [
        look.loops[1].total
        for look in inside
        if math.isinf(look.loops[0].total) and len(look.loops) > 1 and look.loops[1].total
    ]
    return float(np.median(seen)) if seen else 0.0


def _place(look: Look) -> float:
    """Return iterations done, with the part of the current one that an inner loop shows."""
    outer = look.loops[0]
    if outer.total > 200 or len(look.loops) < 2:
        return outer.done
    inner = look.loops[1]
    if inner.bounded and not inner.early and inner.total >= 10 * max(outer.total, 1.0):
        return outer.done + min(inner.done / inner.total, 1.0)
    return outer.done
