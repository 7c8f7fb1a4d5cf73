"""What is known of a run: from its first part, from runs on samples, and from earlier runs.

The vertices are shuffled (:func:`~predict_graph.functions.subject.spread_order`), so that the
first iterations of the outermost loop are like the rest. Whether a function spends its time in one
loop is seen in a run on a sample, which also shows which part of its iterations takes which part of
the time. Of a loop that ends when it has converged, the first part gives the time of an iteration
and the samples the number of iterations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.clock.loops import remaining_of
from predict_graph.durations import readable_seconds
from predict_graph.functions.atlas import MACHINE
from predict_graph.functions.growth import NOTHING, RUN_STD, Growth, Hyper, Point, extrapolate
from predict_graph.functions.loops import FEW_ROUNDS, Observation
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.outcome import SourceEstimate

_MOST_OF_A_RUN = 0.6  # share of the observations inside a loop that stands for the run; not tuned
_TO_THE_END = 0.9  # share of the iterations below which a loop ended early; not tuned
# A loop over shuffled vertices deviates from the straight line by less than 0.075, pairs that are
# not adjacent from any power by 0.13, and removing edges by betweenness by 0.75 (measured).
_BENT = 0.1
_CONVERGED = ", which ends when it has converged: as on samples"
OBSERVATIONS_OF_A_CURVE = 20  # that show one; not tuned


@dataclass(frozen=True)
class Curve:
    """The part of its time that a loop has taken when a part of its iterations is done.

    A power of that part where iterations grow; where they shrink to nothing, the rest of the time
    is a power of the rest of the iterations.

    Examples
    --------
    >>> Curve(2.0).time(0.5), Curve(2.0, shrinks=True).time(0.5)
    (0.25, 0.75)
    >>> Curve(2.0, shrinks=True).place(0.75)
    0.5
    """

    power: float = 1.0
    shrinks: bool = False

    def time(self, place: FloatArray | float) -> Any:
        """Return the part of the time at a part of the iterations."""
        return 1.0 - (1.0 - place) ** self.power if self.shrinks else place**self.power

    def place(self, time: FloatArray | float) -> Any:
        """Return the part of the iterations at a part of the time."""
        return Curve(1.0 / self.power, self.shrinks).time(time)


@dataclass(frozen=True)
class LoopShape:
    """The loop in which a function spends its time, as seen in one run.

    Parameters
    ----------
    loop : str
        See :class:`~predict_graph.functions.loops.Observation`; empty where there is no such loop.
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
    curve : Curve
        Straight where the run is too short to show another one.
    counted : bool
        See :class:`~predict_graph.functions.loops.Observation`.
    observations : int
        Observations inside any loop.
    """

    loop: str = ""
    before: float = 0.0
    after: float = 0.0
    rounds: float = 0.0
    early: bool = False
    reason: str = ""
    curve: Curve = Curve()
    counted: bool = True
    observations: int = 0


def loop_shape(observations: Sequence[Observation], seconds: float | None = None) -> LoopShape:
    """Return the loop in which a finished run of so many seconds, or a stopped one, spent its time.

    Only a finished run shows how its iterations and its time are related.
    """
    seen = [each for each in observations if each.loop]
    if len(seen) < 5:  # too few to show a share
        return LoopShape(reason="the runs on samples are too short to see a loop in them")
    none = LoopShape(
        reason="there is no one loop in which it spends most of its time", observations=len(seen)
    )
    loop = Counter(each.loop for each in seen).most_common(1)[0][0]
    inside = [each for each in seen if each.loop == loop]
    start = _entered(observations, inside)
    spent = inside[-1].seconds - start
    if spent < _MOST_OF_A_RUN * (seconds or 0.0) or len(inside) < _MOST_OF_A_RUN * len(seen):
        return none
    # A generator that was observed when it had ended has no progress.
    known = [each for each in inside if each.total]
    last = (known or inside)[-1]
    if seconds is None:
        return LoopShape(loop) if known and last.counted and not last.early else none
    if not known:
        return replace(none, reason="the length of its outermost loop is unknown")
    if last.counted and np.any(np.diff([each.done for each in known]) < -1.0):
        return replace(none, reason="its outermost loop starts again and again")
    gap = float(np.max(np.diff([start, *(each.seconds for each in inside)])))
    end = min(inside[-1].seconds + gap, seconds)
    curve, error = _curve(known, start, end)
    if not last.counted and error > _BENT:
        reason = "the progress of its outermost loop does not grow steadily with time on samples"
        return replace(none, reason=reason)
    early = last.counted and last.early and last.done < _TO_THE_END * last.total
    return LoopShape(
        loop,
        before=start,
        after=(seconds - end) / max(spent, 1e-9),
        rounds=last.done + 1.0,
        early=early,
        curve=Curve() if early else curve,
        counted=last.counted,
        observations=len(seen),
    )


def _curve(known: Sequence[Observation], start: float, end: float) -> tuple[Curve, float]:
    """Return the curve of a loop, straight if it nearly is or is like none, and the least error.

    The last observation is up to a tick before the end, where a loop that cannot end early has done
    all iterations. The error is infinite where observations are few, iterations are undone, or are
    missing at the end.
    """
    ends = [] if known[-1].early else [1.0]
    times = np.array([*(each.seconds for each in known), *(end * each for each in ends)]) - start
    places = np.array([*(each.done / each.total for each in known), *ends])
    times = np.clip(times / max(float(times[-1]), 1e-9), 0.0, 1.0)  # an end may be before a look
    few = len(known) < OBSERVATIONS_OF_A_CURVE
    if few or np.any(np.diff(places) < 0.0) or places[-1] < _TO_THE_END:
        return Curve(), math.inf
    mean = float(np.clip(np.trapezoid(places, times), 0.01, 0.99))
    power = mean / (1.0 - mean)
    curves = (Curve(), Curve(power), Curve(1.0 / power, shrinks=True))
    errors = [float(np.max(np.abs(places - curve.place(times)))) for curve in curves]
    error = min(errors)
    straight = errors[0] < _BENT or error > _BENT
    return Curve() if straight else curves[errors.index(error)], error


def read_prefix(
    observations: Sequence[Observation],
    seconds: float,
    shape: LoopShape,
    rounds: Callable[[float], Growth | None] = lambda done: None,
) -> tuple[SourceEstimate, float] | None:
    """Predict a run from the observations until it was stopped after `seconds`.

    Also return all iterations of its loop / those that it had done. None before the loop, or before
    enough of it is done. `rounds` returns the iterations of a loop that ends early, with that many
    completed.
    """
    inside = [each for each in observations if each.loop == shape.loop and each.total > 0.0]
    if len(inside) < 2:
        return None
    places = np.array([each.done for each in inside])
    total, done = float(np.median([each.total for each in inside])), float(places[-1])
    if np.any(np.diff(places) < -1.0) or done <= 0:
        return None  # it started again, or its elements are not what they seem
    expected = rounds(done)
    total = total if expected is None else min(expected.cost, total)
    if (shape.early and expected is None) or done < min(FEW_ROUNDS, 0.02 * total):
        return None
    work = total * shape.curve.time(np.minimum(places / total, 1.0))
    trail = [(each.seconds, part, total) for each, part in zip(inside, work, strict=True)]
    left = remaining_of(trail, seconds).remaining or Interval.exact(0.0)
    before = _entered(observations, inside)
    whole = before + (seconds - before + left.predicted) * (1.0 + shape.after)
    std = math.log((seconds + left.high) / (seconds + left.predicted)) / QUANTILE
    spread = math.hypot(std, RUN_STD, 0.0 if expected is None else expected.log_std)
    about, until = ("", "") if expected is None else ("about ", _CONVERGED)
    detail = f"{done:,.0f} of {about}{total:,.0f} iterations of its outermost loop{until}"
    return SourceEstimate("prefix", max(float(whole), seconds), spread, 0.0, detail), total / done


def _entered(observations: Sequence[Observation], inside: Sequence[Observation]) -> float:
    """Return the seconds of the last observation before a loop."""
    start = inside[0].seconds
    return max((each.seconds for each in observations if each.seconds < start), default=0.0)


# Of the iterations on samples: those of PageRank differ by a fifth (docs/design-notes.md, fact 1),
# those of label propagation by a factor of two to four (measured on two graphs).
_ROUNDS = Hyper(noise=0.3, quiet=1.0, sampler=0.4, seconds=0.5)
ROUNDS_STD = _ROUNDS.noise
"""Standard deviation of the logarithm of iterations, and of a call that draws random numbers."""


def counting(earlier: Sequence[Point], points: Sequence[Point], enough: int = 2) -> list[Point]:
    """Return the runs on other graphs that count beside those on samples.

    The atlas does not count beside `enough` samples: with both, 35 drawn functions were predicted
    no better than by samples alone (docs/studies/functions.md).
    """
    return [each for each in earlier if len(points) < enough or each.machine != MACHINE]


def rounds_of(
    points: Sequence[Point], target: Mapping[str, float], graph: str, done: float = 0.0
) -> Growth | None:
    """Return the iterations of an outermost loop that ends early; None of others.

    They hardly grow with the graph: by a power of its vertices near 0. The run on the graph has
    `done` so many, and goes on.
    """
    if not any(point.early for point in points):
        return None
    seen = [replace(point, cost=point.rounds) for point in points if point.rounds]
    own = [Point(target, done, "", graph)] if done else []
    return extrapolate(seen, target, graph, hyper=_ROUNDS, names=(NOTHING,), stopped=own)


def outgrown(points: Sequence[Point], stopped: Sequence[Point], steepest: float = 4.0) -> str:
    """Return why a run may not finish; empty without a reason.

    A run was stopped at a time that no power of its size up to the `steepest` explains, by the
    largest smaller one of the same sampler; one on the graph itself by any.
    """
    for run in stopped:
        size = run.drivers["vertices"]
        alike = [point for point in points if run.sampler in ("", point.sampler)]
        smaller = [point for point in alike if point.drivers["vertices"] < size]
        near = max(smaller, key=lambda each: (each.drivers["vertices"], each.cost), default=run)
        before = near.drivers["vertices"]
        if run.cost > near.cost * (size / before) ** steepest:
            where = f"a sample of {size:,.0f} vertices" if run.sampler else "the graph"
            return (
                f"it had not ended on {where} after {readable_seconds(run.cost)}, and took "
                f"{readable_seconds(near.cost)} on one of {before:,.0f} vertices: its time may "
                "be exponential"
            )
    return ""


def estimates_of(
    growth: Growth | None,
    points: Sequence[Point],
    earlier: Sequence[Point],
    prefix: SourceEstimate | None,
) -> list[SourceEstimate]:
    """Return each source with its weight, the inverse of its variance."""
    found = [] if prefix is None else [prefix]
    if growth is not None:
        atlas = sum(point.machine == MACHINE for point in earlier)
        own = len(earlier) - atlas
        counts = {"runs on samples": len(points), "on other graphs": own, "of the atlas": atlas}
        source = "samples" if points else "history" if own else "atlas"
        grows = ", ".join(f"{name} ({weight:.0%})" for name, weight in growth.drivers[:2])
        listed = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        detail = f"{listed}; grows with {grows}"
        found.insert(0, SourceEstimate(source, growth.cost, growth.log_std, 0.0, detail))
    total = sum(1.0 / each.log_std**2 for each in found)
    return [replace(each, weight=1.0 / each.log_std**2 / total) for each in found]


def combine(evidence: Sequence[SourceEstimate], shared: float = 0.5) -> tuple[float, float]:
    """Return the weighted mean of all evidence, and the standard deviation of its logarithm.

    Half of the errors of two sources is `shared`: both rest on the same runs on samples.

    Examples
    --------
    >>> total, std = combine([SourceEstimate("run", 2.0, 0.05, 1.0)])
    >>> round(total, 6), std
    (2.0, 0.05)
    """
    mean = sum(each.weight * math.log(each.seconds) for each in evidence)
    parts = [each.weight * each.log_std for each in evidence]
    variance = shared * sum(parts) ** 2 + (1.0 - shared) * sum(part**2 for part in parts)
    return math.exp(mean), math.sqrt(variance)
