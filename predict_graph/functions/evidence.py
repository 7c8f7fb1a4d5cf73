"""Weighing what samples, earlier runs and the first part of the run say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.functions.growth import Growth, Hyper, Point, beyond, extrapolate
from predict_graph.functions.prediction import Evidence
from predict_graph.functions.prefix import Prefix, Rounds, extrapolate_rounds
from predict_graph.intervals import QUANTILE

__all__ = ["Gathered", "combined", "refuted"]

_OF_A_ROUND = ("vertices", "edges", "edges_log")
"""Drivers of a round of a loop that goes on until nothing changes: it passes over the graph."""
_FEWEST_RUNS = 3  # with rounds, and half of all: some end in one or two; judgement, not measured


class Gathered:
    """Runs of a function on samples of a graph and on other graphs.

    Parameters
    ----------
    target : mapping
        Drivers of the graph.
    graph : str
        Its name among the points.
    """

    def __init__(self, target: Mapping[str, float], graph: str) -> None:
        self.points: list[Point] = []
        self.turns = False  # whether rounds are those of a while around a loop over the graph
        self.earlier: list[Point] = []
        self._target = target
        self._graph = graph
        self._known: tuple[int, Growth | None] = (-1, None)
        self._counted: Rounds | None = None
        self._stopped: list[tuple[Mapping[str, float], float]] = []

    def add(self, point: Point) -> None:
        """Add a run on a sample."""
        self.points.append(point)

    @property
    def counted(self) -> bool:
        """Whether somebody has counted the rounds of the outermost loop."""
        return self._counted is not None

    def count_rounds(self, rounds: Rounds) -> None:
        """Take the rounds of the outermost loop, which somebody has counted."""
        self._counted = rounds
        self._known = (-1, None)

    def add_history(self, points: Sequence[Point]) -> None:
        """Add runs on other graphs."""
        self.earlier.extend(points)

    def add_stopped(self, drivers: Mapping[str, float], seconds: float) -> None:
        """Add a run on a sample, or on the graph itself, that was stopped before its end."""
        if seconds > 0.0:
            self._stopped.append((drivers, seconds))
            self._known = (-1, None)

    def growth(self) -> Growth | None:
        """Return what the runs extrapolate, those that were stopped among them."""
        count = len(self.points) + len(self.earlier)
        if self._known[0] != count:
            found = plain = self._foretold(self._target)
            for drivers, seconds in self._stopped:
                there = self._foretold(drivers)
                if plain is None or found is None or there is None:
                    continue
                found = max(found, beyond(plain, there, seconds), key=lambda each: each.cost)
            self._known = (count, found)
        return self._known[1]

    def outgrown(self, prefix: Prefix | None) -> str:
        """Return why the run may not finish; empty where nothing says so.

        A run outlasted the 90% interval of what others extrapolate, or, where it was the run itself
        and showed no loop, what they predict.
        """
        for drivers, seconds in self._stopped:
            there = None if prefix is not None else self._foretold(drivers)
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
        return ""

    def _foretold(self, target: Mapping[str, float]) -> Growth | None:
        """Return what the runs that came to their end predict of a graph with such drivers."""
        rounds = self._by_rounds(target)
        others = self.earlier and not self.counted  # which tell no rounds
        if rounds is not None and not others:
            return rounds
        found = extrapolate([*self.points, *self.earlier], target, self._graph)
        return found if rounds is None or found is None else _mixed(rounds, found)

    def rounds(self, target: Mapping[str, float] | None = None) -> Rounds | None:
        """Return the rounds of an outermost loop that ends early; None of others, or of few runs.

        What a round costs grows with the graph, and how many there are hardly does.
        """
        seen = [(point.drivers["vertices"], point.rounds) for point in self.points if point.rounds]
        if self._counted is not None and seen:
            return self._counted
        shortest = min((point.cost for point in self.points if point.rounds), default=0.0)
        long = sum(point.cost >= shortest for point in self.points)  # shorter ones show no rounds
        enough = len(seen) >= max(_FEWEST_RUNS, 0.5 * long)
        size = (target or self._target)["vertices"]
        return extrapolate_rounds(seen, size, passes=self.turns) if enough else None

    def _by_rounds(self, target: Mapping[str, float]) -> Growth | None:
        """Return what a round of such a loop will cost, times the rounds."""
        rounds = self.rounds(target)
        if rounds is None:
            return None
        known = [point for point in [*self.points, *self.earlier] if point.rounds]
        each = [replace(point, cost=point.cost / point.rounds) for point in known]
        usual = float(np.median([point.rounds for point in known]))
        noise = 0.0 if self._counted is None else rounds.log_std  # each run is one try
        own = Hyper()
        hyper = replace(own, seconds=own.seconds / usual, noise=math.hypot(own.noise, noise))
        found = extrapolate(each, target, self._graph, hyper=hyper, names=_OF_A_ROUND)
        if found is None:
            return None
        spread = math.hypot(found.log_std, rounds.log_std)
        return Growth(found.cost * rounds.total, spread, found.drivers)

    def weighed(
        self, prefix: Prefix | None, prefix_spent: float, samples_spent: float
    ) -> list[Evidence]:
        """Return each kind of evidence with its weight: the inverse of its variance.

        The variance is that of :func:`refuted`.
        """
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
            source = "as counted in arrays" if self.counted else "as on samples"
            detail = (
                f"{prefix.rounds:,.0f} of {about}{prefix.total:,.0f} rounds of its outermost loop"
                + (f", which ends when it has converged: {source}" if about else "")
            )
            found.append(
                Evidence("prefix", prefix.seconds, prefix.log_std, 0.0, prefix_spent, detail)
            )
        found = refuted(found)
        precisions = [1.0 / each.log_std**2 for each in found]
        whole = sum(precisions) or 1.0
        return [
            Evidence(
                each.source,
                each.predicted,
                each.log_std,
                precision / whole,
                each.spent,
                each.detail,
            )
            for each, precision in zip(found, precisions, strict=True)
        ]


def _mixed(one: Growth, other: Growth) -> Growth:
    """Return what two models of the same runs say: between them, and as wide as both."""
    weights = np.array([one.log_std, other.log_std]) ** -2.0
    weights /= weights.sum()
    logs = np.log([one.cost, other.cost])
    centre = float(weights @ logs)
    spread = float(weights @ (np.array([one.log_std, other.log_std]) ** 2 + (logs - centre) ** 2))
    return Growth(math.exp(centre), math.sqrt(spread), one.drivers)


def refuted(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Widen evidence to what the surest of it says that it is off by, if that is more.

    Two that are further apart than both allow cannot both be right, and the surer one more likely
    is: the other gets the spread that makes their distance one standard deviation (R. T. Birge,
    Physical Review 40, 207, 1932, widens all by such a ratio).

    Examples
    --------
    >>> part = Evidence("prefix", 60.0, 0.2, 0.0, 1.0, "")
    >>> samples = Evidence("samples", 1200.0, 0.9, 0.0, 1.0, "")
    >>> [round(each.log_std, 2) for each in refuted([samples, part])]
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
    """Return the weighed mean of all evidence, and the standard deviation of its logarithm.

    Examples
    --------
    >>> total, std = combined([Evidence("run", 2.0, 0.05, 1.0, 2.0, "the run itself")])
    >>> round(total, 6), std
    (2.0, 0.05)
    """
    weights = [each.weight for each in evidence]
    mean = sum(w * math.log(each.predicted) for w, each in zip(weights, evidence, strict=True))
    variance = sum((w * each.log_std) ** 2 for w, each in zip(weights, evidence, strict=True))
    return math.exp(mean), math.sqrt(variance)
