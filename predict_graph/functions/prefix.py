"""The first part of the real run: what its outermost loop says of the whole.

The vertices are shuffled (:func:`~predict_graph.functions.sampling.spread_order`), so that what the
loop has gone through is like what is to come. That says nothing where the outermost loop is a
``while``, or where the function does much outside of it: a run on a sample, which came to its end,
tells. Of a ``while`` whose condition uses something up, a set or the way to a number, such a run
shows what part of it is used up after what part of the time. Where the loop ends when something has
converged, as in functions that take ``max_iter``, its first part says what a round takes, and
samples how many rounds there will be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from predict_graph.functions.child import Look
from predict_graph.functions.watch import REPORTED

__all__ = [
    "LoopShape",
    "Prefix",
    "Rounds",
    "extrapolate_rounds",
    "gave_up",
    "loop_shape",
    "read_prefix",
    "shape_of_part",
    "surer",
]

FloatArray = npt.NDArray[np.float64]

_MOST_OF_A_RUN = 0.6  # of the looks that must be in a loop for it to stand for the run; judgement
_TO_THE_END = 0.9  # of its rounds on a sample, or a loop may end early; judgement
_FEWEST_LOOKS = 5  # on a sample, to trust the share of a loop; judgement
_FEWEST_ROUNDS = 3.0  # judgement
_WARM_ROUNDS = 20.0  # from which the beginning can be told from the rest; judgement
_WARM_UP = 0.2  # of what was seen; judgement
# Of a run about its first part: calibrated with whole functions left out.
_MODEL_STD = 0.22
_ROUNDS_STD = 0.18  # of log rounds of samples about their graph's (docs/design-notes.md, fact 1)
_ROUNDS_SLOPES = (0.0, 1.0)  # powers of vertices that rounds grow with: a choice, see there
_ROUNDS_POWER = 0.15  # of the power about either of these: not tuned
_ROUNDS_FITS = 4  # a choice: noise and slope are told by each other
_ROUNDS_NOISE = 0.05  # of log rounds of samples of one size, at least; judgement
# A loop over shuffled vertices is off the straight line by less than half of this, and removing
# edges by betweenness by five times it (measured).
_BENT = 0.15
_BENT_STD = 0.5  # of the logarithm of a correction by the curve of a sample; judgement
_STEADY = 0.7  # of the rounds of a tenth of the time, in the next one, at least; judgement
_LEAST_STEP = 0.5  # factors of e between two sizes: samples of one size differ too; judgement
_LOOKS_OF_A_LINE = 8  # at the least, of what a library reports; judgement
_LOOKS_OF_A_CURVE = 20  # at the least; judgement
_LOOKS_OF_A_ROUND = 3  # of a while's, on average, for them to be counted; judgement
_FEWEST_ELEMENTS = 200  # of a loop in a while, for part of a round to stand for all; judgement
_ROUND_STD = 0.5  # of one round about the mean, where the looks are too few to tell; judgement


@dataclass(frozen=True)
class LoopShape:
    """Which loop a function spends its time in, from a run that came to its end.

    Parameters
    ----------
    loop : str
        See :class:`~predict_graph.functions.watch.Seen`; empty where there is no such loop.
    share : float
        Of the run that was inside it.
    after : float
        Time after it / time inside it.
    rounds : float
        That it did, if it ends before its last one; else 0.
    reason : str
        Why the function has no such loop, in words.
    places : tuple of float
        Part of its rounds that were done after each tenth of the time inside it, where they are so
        unlike each other that the first ones do not stand for the rest, or are not counted; else
        empty.
    vertices : float
        Of the graph that it ran on; 0 if nobody said.
    counted : bool
        See :class:`~predict_graph.functions.watch.Seen`.
    looks : int
        That saw any loop.
    turned : bool
        Whether it is a ``while`` whose rounds are those of a loop inside it.
    """

    loop: str = ""
    share: float = 0.0
    after: float = 0.0
    rounds: float = 0.0
    reason: str = ""
    places: tuple[float, ...] = ()
    vertices: float = 0.0
    counted: bool = True
    looks: int = 0
    turned: bool = False

    def bend(self, place: float) -> float:
        """Return by what the pace up to a place, 0 to 1, overstates the time of the loop.

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
    """What the first part of a run says of the whole.

    Parameters
    ----------
    seconds : float
    log_std : float
        Standard deviation of its logarithm.
    rounds, total : float
        Of the outermost loop: done, and in all.
    loop : str
    estimated : bool
        Whether the total is an estimate by samples.
    """

    seconds: float
    log_std: float
    rounds: float
    total: float
    loop: str
    estimated: bool = False


@dataclass(frozen=True)
class Rounds:
    """How many rounds a loop that ends early will do on the whole graph.

    Parameters
    ----------
    total : float
    log_std : float
        Standard deviation of its logarithm.
    """

    total: float
    log_std: float


def gave_up(looks: Sequence[Look]) -> bool:
    """Whether a run did all rounds that its outermost loop may do, which was to end before."""
    last = next((look.loops[0] for look in reversed(looks) if look.loops), None)
    return last is not None and last.early and last.done > _TO_THE_END * last.total > 0.0


def loop_shape(
    looks: Sequence[Look], seconds: float, vertices: float = 0.0, *, converges: bool = False
) -> LoopShape:
    """Return the loop that a run which came to its end has spent its time in.

    Parameters
    ----------
    looks : sequence of Look
    seconds : float
        Of the whole run.
    vertices : float
        Of the graph.
    converges : bool
        Whether the loop is known to end early on the whole graph, even if it does not here.
    """
    seen = [look for look in looks if look.loops]
    if len(seen) < _FEWEST_LOOKS:
        return LoopShape(reason="the runs on samples are too short to see a loop in them")
    shape = _shape(seen, seconds, converges)
    return replace(shape, vertices=vertices, looks=len(seen))


def _shape(seen: Sequence[Look], seconds: float, converges: bool) -> LoopShape:
    """Return the loop of a run of so many seconds, by the looks that saw any."""
    counts = Counter(look.loops[0].loop for look in seen)
    loop, count = counts.most_common(1)[0]
    inside = [look for look in seen if look.loops[0].loop == loop]
    share = (inside[-1].seconds - inside[0].seconds) / max(seconds, 1e-9)
    if share < _MOST_OF_A_RUN or count < _MOST_OF_A_RUN * len(seen):
        return LoopShape(reason="there is no one loop in which it spends most of its time")
    # A look at the very end finds a generator that is through, which tells nothing any more.
    told = [look.loops[0] for look in inside if look.loops[0].total]
    if not told and not inside[-1].loops[0].bounded:
        return LoopShape(reason="its outermost loop is a while, whose rounds nothing tells")
    if not told:
        return LoopShape(reason="nothing tells how far its outermost loop is")
    last = told[-1]
    reason = "" if last.counted else _unlike_time(loop, inside)
    turned = math.isinf(last.total)
    rounds = float(math.ceil(last.done)) if turned else last.done + 1.0
    if turned and len(told) < _MOST_OF_A_RUN * len(inside):
        reason = "its outermost loop is a while around several loops"
    elif turned and len(inside) < _LOOKS_OF_A_ROUND * rounds:
        reason = "its outermost loop is a while, whose rounds on samples are too short to count"
    if reason:
        return LoopShape(reason=reason)
    after = max(seconds - inside[-1].seconds, 0.0)
    after /= max(inside[-1].seconds - inside[0].seconds, 1e-9)
    ended = converges or last.done < _TO_THE_END * last.total
    early = last.counted and last.early and ended
    places = () if early and not turned else _bent(inside, always=not last.counted)
    rounds = rounds if early else 0.0
    found = LoopShape(loop, min(share, 1.0), after, rounds, places=places, counted=last.counted)
    return replace(found, turned=turned)


def _unlike_time(loop: str, inside: Sequence[Look]) -> str:
    """Return why what tells a place does not say how much time has gone; empty where it does."""
    if loop == REPORTED:
        text = "what it reports of its progress does not go with time on samples"
        return "" if _is_straight(inside) else text
    text = "its outermost loop is a while that does not use up anything steadily"
    return "" if _uses_up(inside) else text


def _is_straight(inside: Sequence[Look]) -> bool:
    """Whether there are looks enough to tell that rounds go with time, and they do."""
    times, places = _curve(inside)
    return len(times) >= _LOOKS_OF_A_LINE and bool(np.max(np.abs(places - times)) < _BENT)


def _uses_up(inside: Sequence[Look]) -> bool:
    """Whether a ``while`` has steadily used up what its condition asks for, and never got more.

    Its rounds may become shorter all the time, or longer; where they do now this and now that, as
    in merging communities, the first ones say nothing. What it did after the last look, which is up
    to a tick before its end, is thought to be what it did in the last tenth of the time before.
    """
    times, places = _curve(inside)
    if len(times) < _LOOKS_OF_A_CURVE or np.any(np.diff(places) < 0.0):
        return False
    steps = np.diff(np.interp(np.arange(11) / 10.0, times, places))
    if places[-1] + steps[-1] < _TO_THE_END or np.any(steps <= 0.0):
        return False
    turns = steps[1:] / steps[:-1]
    return bool(np.all(turns > _STEADY) or np.all(turns < 1.0 / _STEADY))


def _curve(inside: Sequence[Look]) -> tuple[FloatArray, FloatArray]:
    """Return the part of the time, and the part of the rounds, at each look that tells a place."""
    told = [look for look in inside if look.loops[0].total > 0.0]
    times = np.array([look.seconds for look in told]) - inside[0].seconds
    last = told[-1].loops[0].done if told else 0.0  # all rounds of one that has none at first
    places = np.array(
        [
            _place(look) / (look.loops[0].total if math.isfinite(look.loops[0].total) else last)
            for look in told
        ]
    )
    return times / max(float(times[-1]), 1e-9) if len(told) else times, places


def _bent(inside: Sequence[Look], *, always: bool = False) -> tuple[float, ...]:
    """Return the part of the rounds done after each tenth of the time; none if all are alike."""
    times, places = _curve(inside)
    if len(times) < _LOOKS_OF_A_CURVE or np.any(np.diff(places) < 0.0):
        return ()
    if not always and np.max(np.abs(places - times)) < _BENT:
        return ()
    curve = np.interp(np.arange(1, 11) / 10.0, times, places)
    curve[-1] = 1.0
    return tuple(np.maximum(curve, 1e-6).tolist())


def extrapolate_rounds(
    samples: Sequence[tuple[float, float]],
    vertices: float,
    *,
    passes: bool = False,
) -> Rounds | None:
    """Return the rounds until a loop ends, from those that it did on samples.

    A line through logarithms of vertices and rounds, whose slope is near 0, as where something has
    converged, or near 1, as where a part of the vertices was enough: averaged by how well the
    samples lie on such a line. Samples are off together, however many they are.

    Parameters
    ----------
    samples : sequence of (float, float)
        Vertices and rounds of runs that came to their end; None comes back for less than two.
    vertices : float
        Of the graph.
    passes : bool
        Whether each round goes through the graph: their number hardly grows with it then.

    Examples
    --------
    >>> found = extrapolate_rounds([(100, 20), (200, 22), (400, 21)], 10_000)
    >>> 20 < found.total < 25, 0.18 < found.log_std < 0.8
    (True, True)
    >>> found = extrapolate_rounds([(100, 31), (200, 60), (400, 125)], 10_000)
    >>> 2500 < found.total < 3500
    True
    """
    if len(samples) < 2:
        return None
    far = np.log([size / vertices for size, _ in samples])
    logs = np.log([rounds for _, rounds in samples])
    lines = [_rounds_by_line(far, logs, slope) for slope in _ROUNDS_SLOPES[: 1 if passes else None]]
    means, variances, scores = (np.array(each) for each in zip(*lines, strict=True))
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    mean = float(weights @ means)
    spread = float(weights @ (variances + (means - mean) ** 2))
    return Rounds(math.exp(mean), math.sqrt(spread + _ROUNDS_STD**2))


def _rounds_by_line(far: FloatArray, logs: FloatArray, slope: float) -> tuple[float, float, float]:
    """Return mean and variance of the logarithm at 0, and how likely such a slope makes the rest.

    The likelihood is that of noise of a size that is not known.
    """
    middle, level = far.mean(), logs.mean()
    away = far - middle
    rests = logs - level - slope * away
    more = 0.0
    for _ in range(_ROUNDS_FITS):
        noise = max(float((rests - more * away).var(ddof=1)), _ROUNDS_NOISE**2)
        precision = float((away**2).sum()) / noise + 1.0 / _ROUNDS_POWER**2
        more = float((away * rests).sum()) / noise / precision
    variance = noise / len(logs) + middle**2 / precision
    score = -0.5 * ((len(logs) - 1) * math.log(noise) + (more / _ROUNDS_POWER) ** 2)
    return level - (slope + more) * middle, variance, score


def surer(one: LoopShape, other: LoopShape) -> LoopShape:
    """Return the one of two runs that shows more of the function's loop.

    Where elements are counted, any run that is one loop will do; where a condition or a library
    tells the place, the longer run has to show that it goes with time.

    Examples
    --------
    >>> said = LoopShape("progress", 0.9, counted=False, looks=20)
    >>> surer(said, LoopShape(reason="it does not go with time", looks=30)).loop
    ''
    >>> surer(said, LoopShape("a.py:f:3", 0.9, looks=10)).loop
    'a.py:f:3'
    """
    sure = [bool(each.loop) and each.counted for each in (one, other)]
    if sure[0] != sure[1]:
        return one if sure[0] else other
    return one if one.looks > other.looks else other


def shape_of_part(looks: Sequence[Look]) -> LoopShape:
    """Return the loop that a run which was stopped had been in for most of the time."""
    seen = [look for look in looks if look.loops]
    if len(seen) < _FEWEST_LOOKS:
        return LoopShape(reason="the runs on samples are too short to see a loop in them")
    counts = Counter(look.loops[0].loop for look in seen)
    loop, count = counts.most_common(1)[0]
    last = [look for look in seen if look.loops[0].loop == loop][-1].loops[0]
    if not last.counted:
        return LoopShape(reason="a run to the end has to show that its progress goes with time")
    if count < _MOST_OF_A_RUN * len(seen) or not last.bounded or last.early or not last.total:
        return LoopShape(reason="there is no one loop in which it spends most of its time")
    return LoopShape(loop, count / len(seen))


def read_prefix(
    looks: Sequence[Look],
    seconds: float,
    shape: LoopShape,
    rounds: Rounds | None = None,
    shapes: Sequence[LoopShape] = (),
    vertices: float = 0.0,
) -> Prefix | None:
    """Return what the looks at a run that was stopped after `seconds` say of the whole.

    Parameters
    ----------
    looks : sequence of Look
    seconds : float
    shape : LoopShape
        Of a run on a sample; only its loop is read.
    rounds : Rounds, optional
        How many there will be, of a loop that ends early.
    shapes : sequence of LoopShape
        Of runs on samples: where paces change, how unlike they are says how sure that is.
    vertices : float
        Of the graph.

    Returns
    -------
    Prefix or None
        None before the loop, or before it has done enough.
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
    total = float(np.median([look.loops[0].total for look in inside]))
    if shape.rounds:
        if rounds is None:
            return None
        total = min(max(rounds.total, float(places[-1]) + 1.0), total)
    if np.any(np.diff(places) < -1.0) or places[-1] <= 0:
        return None  # it began again, or its elements are not what we take them for
    entered = next(
        look.seconds for look in looks if look.loops and look.loops[0].loop == shape.loop
    )
    before = max(entered - _gap(times), 0.0)
    done = places[-1]
    if done < _FEWEST_ROUNDS and done < 0.02 * total:
        return None
    elements = _elements(inside)
    if elements and done < _FEWEST_ROUNDS and elements < _FEWEST_ELEMENTS:
        return None
    if done >= _WARM_ROUNDS:  # what is done once at the beginning is not paid again
        early = int(np.searchsorted(times, before + _WARM_UP * (times[-1] - before)))
        if len(places) - early >= _FEWEST_LOOKS and places[early] > 0:
            before += max(times[early] - before - _pace(places, times, early) * places[early], 0.0)
    bend = shape.bend(float(done / total))
    loop_seconds = (times[-1] - before) / done * total / bend
    whole = before + loop_seconds * (1.0 + shape.after)
    if done >= total:
        whole = max(whole, seconds)
    left = max(1.0 - done / total, 0.0)
    paces = _round_spread(places, times, done * max(elements, 1.0))
    spread = math.hypot(paces * left, _MODEL_STD * left)
    if shape.rounds and rounds is not None:
        spread = math.hypot(spread, rounds.log_std * left)
    curve = math.hypot(_BENT_STD * math.log(bend), _drift(shapes, float(done / total), vertices))
    spread = math.hypot(spread, curve * left)
    estimated = shape.rounds > 0.0
    seconds = max(float(whole), seconds)
    return Prefix(seconds, max(spread, 0.005), float(done), total, shape.loop, estimated)


def _elements(inside: Sequence[Look]) -> float:
    """Return how many elements a ``while`` goes through in each round; 0 for any other loop."""
    seen = [
        look.loops[1].total
        for look in inside
        if math.isinf(look.loops[0].total) and len(look.loops) > 1 and look.loops[1].total
    ]
    return float(np.median(seen)) if seen else 0.0


def _drift(shapes: Sequence[LoopShape], place: float, vertices: float) -> float:
    """Return by how much a correction by the curve of a sample may be off at the size of the graph.

    As that of a smaller sample is by a larger one's: a random walk along the logarithm of vertices.
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
    """Return rounds done; the loop inside the round that is under way tells a part of it."""
    outer = look.loops[0]
    if outer.total > 200 or len(look.loops) < 2:
        return outer.done
    inner = look.loops[1]
    if inner.bounded and not inner.early and inner.total >= 10 * max(outer.total, 1.0):
        return outer.done + min(inner.done / inner.total, 1.0)
    return outer.done


def _pace(places: np.ndarray, times: np.ndarray, early: int) -> float:  # type: ignore[type-arg]
    """Return seconds a round, from the look `early` on."""
    return float((times[-1] - times[early]) / max(places[-1] - places[early], 1e-9))


def _gap(times: np.ndarray) -> float:  # type: ignore[type-arg]
    """Return the time from entering the loop to the first look at how far it is, about."""
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def _round_spread(places: np.ndarray, times: np.ndarray, done: float) -> float:  # type: ignore[type-arg]
    """Return the relative standard error of the mean time of a round.

    From groups of looks that follow one another: how much their paces differ.
    """
    groups = int(min(12, len(places) // 2, max(done, 1.0)))
    alone = _ROUND_STD / math.sqrt(max(done, 1.0))
    if groups < 4:
        return alone
    edges = np.linspace(0, len(places) - 1, groups + 1).astype(int)
    steps, spans = np.diff(places[edges]), np.diff(times[edges])
    mean = steps.sum() / max(spans.sum(), 1e-12)
    rests = steps - mean * spans
    error = math.sqrt(float((rests**2).sum()) * groups / (groups - 1)) / max(steps.sum(), 1e-12)
    return float(max(error, min(alone, 0.1 / math.sqrt(max(done, 1.0)))))
