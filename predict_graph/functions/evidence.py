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

_SHARED = 0.5  # correlation of the errors of two sources; not tuned
# Runs on samples from which the atlas counts no more: with both, 35 drawn functions were predicted
# no better than by samples alone (docs/studies/functions.md).
_ENOUGH = 2
_STEEPEST = 4.0  # limits the power of the vertices by which a polynomial time may grow


class Gathered:
    """Runs of a function on samples of a graph and on other graphs."""

    def __init__(self, target: Mapping[str, float], graph: str, earlier: Sequence[Point]) -> None:
        self.points: list[Point] = []  # on samples
        self.earlier = earlier  # on other graphs
        self._target = target
        self._graph = graph
        self._stopped: list[Point] = []
        self._growth: Growth | None = None  # by all runs so far

    def add(self, point: Point) -> None:
        """Add a run on a sample."""
        self.points.append(point)
        self._growth = None

    def add_stopped(self, drivers: Mapping[str, float], seconds: float, sampler: str = "") -> None:
        """Add a run on a sample, or on the graph itself, that was stopped before its end."""
        if seconds > 0.0:
            self._stopped.append(Point(drivers, seconds, sampler, self._graph))
            self._growth = None

    def growth(self) -> Growth | None:
        """Return the extrapolation of all runs; those that were stopped are lower bounds."""
        if self._growth is None:
            known = [*self.points, *self.earlier]
            if len(self.points) >= _ENOUGH:
                known = [point for point in known if point.machine != MACHINE]
            self._growth = extrapolate(known, self._target, self._graph, stopped=self._stopped)
        return self._growth

    def outgrown(self, prefix: Prefix | None) -> str:
        """Return why the run may not finish; empty without a reason.

        A run was stopped at a time that no power of its size explains, by the largest smaller one
        of the same sampler; one on the graph itself by any.
        """
        for run in [] if prefix is not None else self._stopped:
            size = run.drivers["vertices"]
            smaller = [
                point
                for point in self.points
                if run.sampler in ("", point.sampler) and point.drivers["vertices"] < size
            ]
            near = max(smaller, key=lambda each: (each.drivers["vertices"], each.cost), default=run)
            before = near.drivers["vertices"]
            if run.cost > near.cost * (size / before) ** _STEEPEST:
                where = f"a sample of {size:,.0f} vertices" if run.sampler else "the graph"
                return (
                    f"it had not ended on {where} after {readable_seconds(run.cost)}, and took "
                    f"{readable_seconds(near.cost)} on one of {before:,.0f} vertices: its time may "
                    "be exponential"
                )
        return ""

    @property
    def early(self) -> bool:
        """Whether the outermost loop ended early on a sample."""
        return any(point.early for point in self.points)

    def rounds(self, done: float = 0.0) -> Growth | None:
        """Return the iterations of an outermost loop that ends early; None of others.

        They hardly grow with the graph: by a power of its vertices near 0. The run on the graph has
        `done` so many, and goes on.
        """
        seen = [point for point in self.points if point.rounds]
        if not self.early:
            return None
        points = [replace(point, cost=point.rounds) for point in seen]
        own = [Point(self._target, done, "", self._graph)] if done else []
        return extrapolate(
            points, self._target, self._graph, hyper=_ROUNDS, names=(NOTHING,), stopped=own
        )

    def estimates(self, prefix: Prefix | None) -> list[SourceEstimate]:
        """Return each source with its weight, the inverse of its variance."""
        found: list[SourceEstimate] = []
        growth = self.growth()
        if growth is not None:
            own = sum(point.machine != MACHINE for point in self.earlier)
            counts = {
                "runs on samples": len(self.points),
                "on other graphs": own,
                "of the atlas": (len(self.earlier) - own) * (len(self.points) < _ENOUGH),
            }
            source = "samples" if self.points else "history" if own else "atlas"
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


def combine(evidence: Sequence[SourceEstimate]) -> tuple[float, float]:
    """Return the weighted mean of all evidence, and the standard deviation of its logarithm.

    Half of the errors of two sources is shared: both rest on the same runs on samples.

    Examples
    --------
    >>> total, std = combine([SourceEstimate("run", 2.0, 0.05, 1.0)])
    >>> round(total, 6), std
    (2.0, 0.05)
    """
    mean = sum(each.weight * math.log(each.seconds) for each in evidence)
    parts = [each.weight * each.log_std for each in evidence]
    shared = _SHARED * sum(parts) ** 2
    return math.exp(mean), math.sqrt(shared + (1.0 - _SHARED) * sum(part**2 for part in parts))
