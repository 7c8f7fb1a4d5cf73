"""Combine runs on samples, earlier runs and the first part of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.functions.growth import NOTHING, Growth, Hyper, Point, beyond, extrapolate
from predict_graph.functions.prediction import Evidence
from predict_graph.functions.prefix import Prefix
from predict_graph.intervals import QUANTILE

_OF_A_ROUND = ("vertices", "edges", "edges_log", "vertices_squared")
"""Drivers of an iteration of a loop that runs until nothing changes: a pass over graph or pairs."""
_FEWEST_RUNS = 3  # with iterations, and half of all: some end after one or two; not tuned
# Of the iterations on samples: those of PageRank differ by a fifth (docs/design-notes.md, fact 1),
# those of label propagation by a factor of two to four (measured on two graphs).
_ROUNDS = Hyper(noise=0.25, sampler=0.1, reach=0.12, seconds=0.5)

_STEEPEST = 4.0  # limits the power of the vertices by which a polynomial time may grow


class Gathered:
    """Runs of a function on samples of a graph and on other graphs."""

    def __init__(self, target: Mapping[str, float], graph: str, earlier: Sequence[Point]) -> None:
        self.points: list[Point] = []  # on samples
        self.earlier = earlier  # on other graphs
        self._target = target
        self._graph = graph
        self._stopped: list[tuple[Mapping[str, float], float]] = []
        self._growth: Growth | None = None
        self._current = False  # whether that includes all runs

    def add(self, point: Point) -> None:
        """Add a run on a sample."""
        self.points.append(point)
        self._current = False

    def add_stopped(self, drivers: Mapping[str, float], seconds: float) -> None:
        """Add a run on a sample, or on the graph itself, that was stopped before its end."""
        if seconds > 0.0:
            self._stopped.append((drivers, seconds))
            self._current = False

    def growth(self) -> Growth | None:
        """Return the extrapolation of all runs; those that were stopped are lower bounds."""
        if not self._current:
            found = plain = self._extrapolated(self._target)
            for drivers, seconds in self._stopped:
                there = self._extrapolated(drivers)
                if plain is not None and found is not None and there is not None:
                    found = max(found, beyond(plain, there, seconds), key=lambda each: each.cost)
            self._growth, self._current = found, True
        return self._growth

    def outgrown(self, prefix: Prefix | None) -> str:
        """Return why the run may not finish; empty without a reason.

        A run exceeded the 90% interval of the extrapolation, or, on the graph itself and without a
        loop, the extrapolation.
        """
        for drivers, seconds in self._stopped:
            there = None if prefix is not None else self._extrapolated(drivers)
            if there is None:
                continue
            own = drivers is self._target
            sure = 1.0 if own else math.exp(QUANTILE * there.log_std)
            if seconds > there.cost * sure:
                where = "the graph" if own else f"a sample of {drivers['vertices']:,.0f} vertices"
                return (
                    f"it had not ended on {where} after {readable_seconds(seconds)}, where growth "
                    f"from other samples by up to n cubed predicts "
                    f"{readable_seconds(there.cost)}: its time may be exponential"
                )
        return "" if prefix is not None else self._steep()

    def _steep(self) -> str:
        """Return that a sample was stopped at a time that no power of its size explains."""
        for drivers, seconds in self._stopped:
            size = drivers["vertices"]
            smaller = [point for point in self.points if point.drivers["vertices"] < size]
            if drivers is self._target or not smaller:
                continue
            near = max(smaller, key=lambda point: (point.drivers["vertices"], point.cost))
            before = near.drivers["vertices"]
            if seconds > near.cost * (size / before) ** _STEEPEST:
                return (
                    f"it had not ended on a sample of {size:,.0f} vertices after "
                    f"{readable_seconds(seconds)}, and took {readable_seconds(near.cost)} on one "
                    f"of {before:,.0f}: its time may be exponential"
                )
        return ""

    def before(self, seconds: Sequence[tuple[Mapping[str, float], float]]) -> float:
        """Return the seconds before the loop on the graph, from those on samples."""
        points = [Point(drivers, each, "", self._graph) for drivers, each in seconds]
        found = extrapolate(points, self._target, self._graph)
        return 0.0 if found is None else found.cost

    def rounds(self, target: Mapping[str, float] | None = None) -> Growth | None:
        """Return the iterations of an outermost loop that ends early; None of others.

        They hardly grow with the graph: by a power of its vertices near 0.
        """
        seen = [point for point in self.points if point.rounds]
        shortest = min((point.cost for point in seen), default=0.0)
        long = sum(point.cost >= shortest for point in self.points)  # shorter ones show none
        if len(seen) < max(_FEWEST_RUNS, 0.5 * long):
            return None
        points = [replace(point, cost=point.rounds, sampler="any") for point in seen]
        return extrapolate(
            points, target or self._target, self._graph, hyper=_ROUNDS, names=(NOTHING,)
        )

    def _extrapolated(self, target: Mapping[str, float]) -> Growth | None:
        """Return what finished runs predict for such drivers, by iterations where they are known.

        An iteration grows with the graph, and their number hardly does.
        """
        rounds = self.rounds(target)
        if rounds is None:
            return extrapolate([*self.points, *self.earlier], target, self._graph)
        known = [point for point in self.points if point.rounds]
        each = [replace(point, cost=point.cost / point.rounds) for point in known]
        usual = float(np.median([point.rounds for point in known]))
        hyper = replace(Hyper(), seconds=Hyper().seconds / usual)
        found = extrapolate(each, target, self._graph, hyper=hyper, names=_OF_A_ROUND)
        if found is None:
            return None
        spread = math.hypot(found.log_std, rounds.log_std)
        return Growth(found.cost * rounds.cost, spread, found.drivers)

    def weighed(
        self, prefix: Prefix | None, prefix_spent: float, samples_spent: float
    ) -> list[Evidence]:
        """Return each source with its weight, the inverse of its variance (:func:`widened`)."""
        found: list[Evidence] = []
        growth = self.growth()
        if growth is not None:
            grows = ", ".join(f"{name} ({weight:.0%})" for name, weight in growth.drivers[:2])
            source = "samples" if self.points else "history"
            count = f"{len(self.points)} runs on samples" if self.points else ""
            more = f"{len(self.earlier)} on other graphs" if self.earlier else ""
            if self.earlier and self.earlier[0].shipped:
                more += ", shipped with the package"
            detail = f"{', '.join(filter(None, (count, more)))}; grows with {grows}"
            found.append(Evidence(source, growth.cost, growth.log_std, 0.0, samples_spent, detail))
        if prefix is not None:
            about = "about " if prefix.estimated else ""
            detail = f"{prefix.rounds:,.0f} of {about}{prefix.total:,.0f} rounds of its outermost "
            detail += f"loop{', which ends when it has converged: as on samples' if about else ''}"
            found.append(
                Evidence("prefix", prefix.seconds, prefix.log_std, 0.0, prefix_spent, detail)
            )
        found = widened(found)
        precisions = [1.0 / each.log_std**2 for each in found]
        return [
            replace(each, weight=precision / sum(precisions))
            for each, precision in zip(found, precisions, strict=True)
        ]


def widened(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Widen sources that contradict the most precise one.

    Two that are further apart than both allow cannot both be right, and the more precise one more
    likely is: the other gets the standard deviation that makes their distance one of it (R. T.
    Birge, Physical Review 40, 207, 1932, widens all by such a ratio).

    Examples
    --------
    >>> part = Evidence("prefix", 60.0, 0.2, 0.0, 1.0, "")
    >>> samples = Evidence("samples", 1200.0, 0.9, 0.0, 1.0, "")
    >>> [round(each.log_std, 2) for each in widened([samples, part])]
    [2.99, 0.2]
    """
    surest = min(evidence, key=lambda each: each.log_std, default=None)
    if surest is None:
        return []
    return [
        replace(each, log_std=max(each.log_std, math.sqrt(max(distance, 0.0))))
        for each in evidence
        for distance in (math.log(each.predicted / surest.predicted) ** 2 - surest.log_std**2,)
    ]


def combined(evidence: Sequence[Evidence]) -> tuple[float, float]:
    """Return the weighted mean of all evidence, and the standard deviation of its logarithm.

    Examples
    --------
    >>> total, std = combined([Evidence("run", 2.0, 0.05, 1.0, 2.0, "the run itself")])
    >>> round(total, 6), std
    (2.0, 0.05)
    """
    mean = sum(each.weight * math.log(each.predicted) for each in evidence)
    variance = sum((each.weight * each.log_std) ** 2 for each in evidence)
    return math.exp(mean), math.sqrt(variance)
