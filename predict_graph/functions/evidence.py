"""Combine runs on samples, earlier runs and the first part of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from predict_graph.durations import readable_seconds
from predict_graph.functions.atlas import MACHINE
from predict_graph.functions.growth import NOTHING, Growth, Hyper, Point, extrapolate
from predict_graph.functions.prefix import Prefix
from predict_graph.outcome import SourceEstimate

# Of the iterations on samples: those of PageRank differ by a fifth (docs/design-notes.md, fact 1),
# those of label propagation by a factor of two to four (measured on two graphs).
_ROUNDS = Hyper(noise=0.3, sampler=0.4, seconds=0.5)
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
        smaller = [
            point
            for point in points
            if run.sampler in ("", point.sampler) and point.drivers["vertices"] < size
        ]
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
    prefix: Prefix | None,
) -> list[SourceEstimate]:
    """Return each source with its weight, the inverse of its variance."""
    found: list[SourceEstimate] = []
    if growth is not None:
        atlas = sum(point.machine == MACHINE for point in earlier)
        own = len(earlier) - atlas
        counts = {"runs on samples": len(points), "on other graphs": own, "of the atlas": atlas}
        source = "samples" if points else "history" if own else "atlas"
        grows = ", ".join(f"{name} ({weight:.0%})" for name, weight in growth.drivers[:2])
        listed = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        detail = f"{listed}; grows with {grows}"
        found.append(SourceEstimate(source, growth.cost, growth.log_std, 0.0, detail))
    if prefix is not None:
        about = "about " if prefix.estimated else ""
        detail = f"{prefix.rounds:,.0f} of {about}{prefix.total:,.0f} rounds of its outermost "
        detail += f"loop{', which ends when it has converged: as on samples' if about else ''}"
        found.append(SourceEstimate("prefix", prefix.seconds, prefix.log_std, 0.0, detail))
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
