"""Predict a whole run from its first part, by the progress of its outermost loop.

The vertices are shuffled (:func:`~predict_graph.functions.sampling.spread_order`), so that the
first iterations are like the rest. Whether a function spends its time in one loop is seen in a run
on a sample. The progress of a ``while`` is how much of what its condition tests is used up, and
the sample shows which part of that takes which part of the time. Of a loop that ends when it has
converged, the first part gives the time of an iteration and the samples the number of iterations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from predict_graph.functions.child import Look
from predict_graph.functions.growth import Growth, beyond
from predict_graph.functions.watch import REPORTED

FloatArray = npt.NDArray[np.float64]

_MOST_OF_A_RUN = 0.6  # share of the observations inside a loop that stands for the run; not tuned
_TO_THE_END = 0.9  # share of the iterations below which a loop ended early; not tuned
_FEWEST_LOOKS = 5  # observations that show the share of a loop; not tuned
_FEWEST_ROUNDS = 3.0  # iterations that show the pace; not tuned
# Of a run about its first part: calibrated with whole functions left out.
_MODEL_STD = 0.22
# A loop over shuffled vertices deviates from the straight line by less than half of this, and
# removing edges by betweenness by five times it (measured).
_BENT = 0.15
_BENT_STD = 0.5  # of the logarithm of a correction by the curve of a sample; not tuned
_STEADY = 0.7  # least iterations of a tenth of the time / those of the tenth before; not tuned
_LEAST_STEP = 0.5  # factors of e between two sizes: samples of one size differ too; not tuned
_LOOKS_OF_A_CURVE = 20  # observations that show a curve; not tuned
_LOOKS_OF_A_ROUND = 3  # observations of an iteration of a while that can be counted; not tuned
_FEWEST_ELEMENTS = 200  # of a loop in a while, for a part of it to stand for all; not tuned
_ROUND_STD = 0.5  # of one iteration about the mean; not tuned
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
        Its iterations, if it ended before its last element; else 0.
    reason : str
        Why the function has no such loop.
    places : tuple of float
        Part of its iterations done after each tenth of the time inside it, where that is no
        straight line or nothing is counted; else empty.
    vertices : float
    counted : bool
        See :class:`~predict_graph.functions.watch.Seen`.
    looks : int
        Observations inside any loop.
    """

    loop: str = ""
    before: float = 0.0
    after: float = 0.0
    rounds: float = 0.0
    reason: str = ""
    places: tuple[float, ...] = ()
    vertices: float = 0.0
    counted: bool = True
    looks: int = 0

    def bend(self, place: float) -> float:
        """Return by what factor the pace up to a place, 0 to 1, overestimates the loop's time.

        Examples
        --------
        >>> places = (0.02, 0.04, 0.06, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
        >>> round(LoopShape(places=places).bend(0.01))
        5
        >>> LoopShape().bend(0.01)
        1.0
        """
        if not self.places:
            return 1.0
        place = min(max(place, self.places[0]), 1.0)
        return float(np.interp(place, self.places, np.arange(1, 11) / 10.0) / place)


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


def loop_shape(looks: Sequence[Look], seconds: float, vertices: float = 0.0) -> LoopShape:
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
    known = [look.loops[0] for look in inside if look.loops[0].total]
    last = known[-1] if known else inside[-1].loops[0]
    turned = math.isinf(last.total)
    rounds = float(math.ceil(last.done)) if turned else last.done + 1.0
    reason = ""
    if not known and last.bounded:
        reason = "the progress of its outermost loop is unknown"
    elif not known:
        reason = "its outermost loop is a while of unknown length"
    elif not last.counted and not _uses_up(inside, start):
        reason = "its outermost loop is a while that does not use up anything steadily"
        if loop == REPORTED:
            reason = "the progress that it reports does not grow steadily with time on samples"
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
        rounds=rounds if early else 0.0,
        places=() if early and not turned else _bent(inside, start, always=not last.counted),
        vertices=vertices,
        counted=last.counted,
        looks=len(seen),
    )


def _main_loop(seen: Sequence[Look]) -> tuple[str, list[Look]]:
    """Return the outermost loop of most observations, and those inside it."""
    loop = Counter(look.loops[0].loop for look in seen).most_common(1)[0][0]
    return loop, [look for look in seen if look.loops[0].loop == loop]


def _uses_up(inside: Sequence[Look], start: float) -> bool:
    """Whether a loop without counted elements made steady progress to its end.

    Its iterations may become shorter all the time, or longer. Where they vary, as in merging
    communities, the first ones do not stand for the rest. The last observation is up to a tick
    before the end: the progress after it is taken for that of the last tenth of the time.
    """
    times, places = _curve(inside, start)
    if len(times) < _LOOKS_OF_A_CURVE or np.any(np.diff(places) < 0.0):
        return False
    steps = np.diff(np.interp(np.arange(11) / 10.0, times, places))
    if places[-1] + steps[-1] < _TO_THE_END or np.any(steps <= 0.0):
        return False
    turns = steps[1:] / steps[:-1]
    return bool(np.all(turns > _STEADY) or np.all(turns < 1.0 / _STEADY))


def _curve(inside: Sequence[Look], start: float) -> tuple[FloatArray, FloatArray]:
    """Return the part of the time and the part of the iterations at each known place."""
    known = [look for look in inside if look.loops[0].total > 0.0]
    times = np.array([look.seconds for look in known]) - start
    last = known[-1].loops[0].done if known else 0.0  # all iterations where the total is unknown
    totals = [each.loops[0].total if math.isfinite(each.loops[0].total) else last for each in known]
    places = np.array([_place(look) / total for look, total in zip(known, totals, strict=True)])
    return times / max(float(times[-1]), 1e-9) if known else times, places


def _bent(inside: Sequence[Look], start: float, *, always: bool = False) -> tuple[float, ...]:
    """Return the part of the iterations done after each tenth of the time; none on a line."""
    times, places = _curve(inside, start)
    if len(times) < _LOOKS_OF_A_CURVE or np.any(np.diff(places) < 0.0):
        return ()
    if not always and np.max(np.abs(places - times)) < _BENT:
        return ()
    curve = np.interp(np.arange(1, 11) / 10.0, times, places)
    curve[-1] = 1.0
    return tuple(np.maximum(curve, 1e-6).tolist())


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
    rounds: Growth | None = None,
    shapes: Sequence[LoopShape] = (),
    vertices: float = 0.0,
) -> Prefix | None:
    """Predict a run from the observations until it was stopped after `seconds`.

    None before the loop, or before enough of it is done. `rounds` are the iterations of a loop that
    ends early; `shapes`, of the samples, show how much curves differ between sizes.
    """
    inside = [
        look
        for look in looks
        if look.loops and look.loops[0].loop == shape.loop and look.loops[0].total > 0
    ]
    if len(inside) < 3 or (shape.rounds and rounds is None):
        return None
    places = np.array([_place(look) for look in inside])
    times = np.array([look.seconds for look in inside])
    total, done = float(np.median([look.loops[0].total for look in inside])), float(places[-1])
    if np.any(np.diff(places) < -1.0) or done <= 0:
        return None  # it started again, or its elements are not what they seem
    if rounds is not None and shape.rounds:
        rounds = beyond(rounds, rounds, done)
        total = min(rounds.cost, total)
    elements = _elements(inside)
    few = elements < _FEWEST_ELEMENTS if elements else done < 0.02 * total
    if done < _FEWEST_ROUNDS and few:
        return None
    before, place = _entered(looks, inside), done / total
    bend = shape.bend(place)
    whole = before + (times[-1] - before) / place / bend * (1.0 + shape.after)
    left = max(1.0 - place, 0.0)
    parts = [_ROUND_STD / math.sqrt(done * max(elements, 1.0)), _MODEL_STD]
    parts += [_BENT_STD * math.log(bend), _drift(shapes, place, vertices)]
    spread = max(math.hypot(*parts) * left, 0.005)
    if rounds is not None and shape.rounds:
        spread = math.hypot(spread, rounds.log_std)
    return Prefix(max(float(whole), seconds), spread, done, total, shape.rounds > 0.0)


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


def _drift(shapes: Sequence[LoopShape], place: float, vertices: float) -> float:
    """Return the error of a correction by a sample's curve at the size of the graph.

    From the differences between samples: a random walk along the logarithm of vertices.
    """
    curved = sorted((each for each in shapes if each.places), key=lambda each: each.vertices)
    rates = [
        math.log(larger.bend(place) / smaller.bend(place)) ** 2
        / max(math.log(larger.vertices / smaller.vertices), _LEAST_STEP)
        for smaller, larger in pairwise(curved)
    ]
    if not rates:
        return 0.0
    far = max(math.log(vertices / curved[-1].vertices), _LEAST_STEP)
    return math.sqrt(sum(rates) / len(rates) * far)


def _place(look: Look) -> float:
    """Return iterations done, with the part of the current one that an inner loop shows."""
    outer = look.loops[0]
    if outer.total > 200 or len(look.loops) < 2:
        return outer.done
    inner = look.loops[1]
    if inner.bounded and not inner.early and inner.total >= 10 * max(outer.total, 1.0):
        return outer.done + min(inner.done / inner.total, 1.0)
    return outer.done
