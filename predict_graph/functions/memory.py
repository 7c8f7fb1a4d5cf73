"""Peak memory of a call, from the peaks on samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from predict_graph.functions.child import ChildRun
from predict_graph.functions.growth import NOTHING, Hyper, Point, extrapolate
from predict_graph.intervals import Interval

_VISIBLE = 2.0**22  # bytes that show among those of an interpreter; not tuned
_RESOLUTION = 1.5 * 2**20  # bytes that the interpreter and the allocator hold back; not tuned
_DRIVERS = (NOTHING, "vertices", "edges", "reached_vertices", "vertices_squared")
_PAIRS = ("reached_vertices", "vertices_squared")
# Of peaks: noise of one run (calibrated), half of what Python's allocator takes at once, powers
# nearer to one than those of times (bytes are proportional to what is held), and no least: peaks of
# small runs do not show all that is held.
_HYPER = Hyper(noise=0.18, quiet=1.0, power=0.1, seconds=0.5 * 2**20, least=0.0)


def predict_memory(
    runs: Sequence[tuple[Mapping[str, float], ChildRun]],
    target: Mapping[str, float],
    whole: ChildRun | None,
    prefix: ChildRun | None,
    *,
    converted: bool,
    rounds_left: float = math.inf,
) -> Interval:
    """Return the bytes that the graph and the call take at their peak.

    `runs` are on samples; `converted` is whether building the library's graph is part of the run;
    `rounds_left` are all iterations of the outermost loop / those that the prefix has done.
    """
    if whole is not None:
        total = whole.peak_bytes + (whole.graph_bytes if converted else 0.0)
        return Interval(total, 0.9 * total, 1.1 * total + _RESOLUTION)
    call = grown_bytes([(drivers, run.peak_bytes) for drivers, run in runs], target)
    if prefix is not None:  # the first part takes the least, and no iteration keeps more than those
        least, most = prefix.peak_bytes, _most(prefix, max(rounds_left, 1.0))
        refuted = call.predicted < least and math.isfinite(most)  # the samples, by the first part
        high = most if refuted else call.high
        call = Interval(*(min(max(x, least), most) for x in (call.predicted, call.low, high)))
    graph = 0.0
    if converted and prefix is not None and prefix.graph_bytes:
        graph = prefix.graph_bytes
    elif converted:
        sizes = [(drivers, run.graph_bytes) for drivers, run in runs]
        graph = grown_bytes(sizes, target, ("edges", "vertices")).predicted
    high = graph * 1.15 + call.high + _RESOLUTION
    return Interval(call.predicted + graph, graph / 1.15 + call.low, high)


def _most(prefix: ChildRun, rounds_left: float) -> float:
    """Return the bytes of a run whose iterations keep as many as those of its first part.

    What the second half of these did not take on top of the first is not kept by iterations.
    """
    done = prefix.held[-1][0] if prefix.held else 0.0
    halves = [each for each in prefix.held if 0.0 < each[0] <= done / 2.0]
    if not halves:
        return max(prefix.peak_bytes, _RESOLUTION) * rounds_left
    until, held = halves[-1]
    kept = (prefix.peak_bytes - held + _HYPER.seconds) / (1.0 - until / done)
    return prefix.peak_bytes + kept * (rounds_left - 1.0)


def grown_bytes(
    points: Sequence[tuple[Mapping[str, float], float]],
    target: Mapping[str, float],
    names: Sequence[str] = _DRIVERS,
) -> Interval:
    """Extrapolate bytes; the allocator sometimes takes more at once than it needs, never less.

    They do not grow with pairs of vertices where these would take less than a number each, and not
    faster than the steepest driver.
    """
    names = [name for name in names if name not in _PAIRS or _may_hold_pairs(points, name)]
    made = []
    for each, _ in points:
        larger = (b for d, b in points if all(d[n] >= each[n] for n in ("vertices", "edges")))
        made.append(Point(each, min(larger), "", ""))
    found = extrapolate(made, target, "", hyper=_HYPER, names=names, wider=2.0)
    if found is None:
        return Interval.exact(0.0)
    steepest = [
        max(target[name] / each[name] for name in names if name != NOTHING) * (held + _RESOLUTION)
        for each, held in points
    ]
    grown = Interval.spread(found.cost, found.log_std)
    return replace(grown, high=max(grown.predicted, min([grown.high, *steepest])))


def _may_hold_pairs(points: Sequence[tuple[Mapping[str, float], float]], name: str) -> bool:
    """Whether one of the two runs with most pairs, so many that it shows, took 32 bits for each."""
    seen = sorted((4.0 * drivers[name], held) for drivers, held in points)[-2:]
    return any(held >= least or least < _VISIBLE for least, held in seen)
