"""Repeated completed samples of one graph, and their convergence."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import time_left
from predict_graph.graph import Graph
from predict_graph.graph.degrees import binned_degrees
from predict_graph.iterations.budget import LONG_RUN
from predict_graph.iterations.completion.completed import (
    CompletedSample,
    Completer,
    completed_curve,
)
from predict_graph.iterations.completion.hubs import choose_hubs
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.crossing import crossing
from predict_graph.iterations.estimate import Progress

FEWEST_VERTICES = 100  # of a sample at any ratio: limits its error


_COUNTS = (5, 9)  # samples: limits the error of the median, and overhead
_LARGEST = 1_200_000  # edges: limits overhead
_LARGEST_SHARE = 0.2  # of the edges of the graph: limits overhead
_LARGEST_HUB_SHARE = 0.1  # of the edges of the graph: limits the hubs
# Edges of a graph from which the inbound edges of all samples are found in one pass, which limits
# overhead: a pass over a smaller graph takes a quarter of a second.
TOGETHER = 1 << 26


@dataclass(frozen=True)
class ReplicatePlan:
    """How many completed samples, and how large."""

    edges: int
    count: int

    @classmethod
    def within(cls, edges: int, allowed: int) -> ReplicatePlan:
        """Return the plan for a graph of so many edges, if all samples may have `allowed`.

        Examples
        --------
        >>> ReplicatePlan.within(1_500_000, 600_000)
        ReplicatePlan(edges=120000, count=5)
        """
        fewest, most = _COUNTS
        size = max(min(int(_LARGEST_SHARE * edges), allowed // fewest, _LARGEST), 1)
        count = min(max(allowed // size, fewest), most)
        return cls(size, count - (count + 1) % 2)


@dataclass(frozen=True)
class Replicates:
    """Crossings and curves of repeated completed samples of one graph."""

    crossings: npt.NDArray[np.float64]
    curves: list[npt.NDArray[np.float64]]
    edges: int
    vertices: int
    edge_steps: float
    degrees: tuple[float, ...] = ()

    @property
    def crossing(self) -> float:
        """The median, which is robust to a loop by chance in one sample."""
        return float(np.median(self.crossings))

    @property
    def relative_std(self) -> float:
        """Standard error of the median on a log scale, from the interquartile range."""
        low, high = np.quantile(np.log(self.crossings), [0.25, 0.75])
        # Std of a median, by quartiles of a normal.
        return float(1.253 * (high - low) / 1.349 / np.sqrt(len(self.crossings)))


def replicate(
    graph: Graph,
    algorithm: Algorithm,
    threshold: float,
    ratio: float,
    plan: ReplicatePlan,
    rng: np.random.Generator,
    progress: Progress | None = None,
    *,
    long_plan: ReplicatePlan | None = None,
) -> Replicates:
    """Draw completed samples of a graph and run the algorithm on each.

    Fewer samples are drawn if the deadline would pass. A `long_plan` replaces the plan if its
    first sample indicates a long run.
    """
    profiles = vertex_profiles(graph)
    tell = progress or (lambda text, fraction: None)
    visits = 0.0
    if long_plan is not None and long_plan.edges < plan.edges:
        drawing = _Drawing(graph, algorithm, threshold, ratio, long_plan, profiles, rng)
        drawing.add(1, tell)
        if drawing.crossings[0] >= LONG_RUN:
            return drawing.add(long_plan.count - 1, tell).result(0.0)
        visits = drawing.edge_steps
    drawing = _Drawing(graph, algorithm, threshold, ratio, plan, profiles, rng)
    return drawing.add(plan.count, tell).result(visits)


class _Drawing:
    """Completed samples of one size."""

    def __init__(
        self,
        graph: Graph,
        algorithm: Algorithm,
        threshold: float,
        ratio: float,
        plan: ReplicatePlan,
        profiles: npt.NDArray[np.int32],
        rng: np.random.Generator,
    ) -> None:
        for_hubs = min(plan.edges // 2, int(_LARGEST_HUB_SHARE * graph.edges))
        for_others = plan.edges - for_hubs
        # Hubs are chosen by how many of their neighbours a sample will see: at the ratio to expect.
        expected = max(min(ratio, for_others / max(graph.edges, 1)), 1e-9)
        self._completer = Completer(graph, profiles, choose_hubs(graph, expected, for_hubs))
        self._size = _sample_size(self._completer, ratio, for_others)
        self._algorithm, self._threshold, self._rng = algorithm, threshold, rng
        self._count = plan.count
        self.crossings: list[float] = []
        self._curves: list[npt.NDArray[np.float64]] = []
        self._edges = 0
        self.edge_steps = 0.0
        self._degrees: tuple[float, ...] = ()

    def add(self, count: int, tell: Progress) -> _Drawing:
        """Draw so many more samples and run the algorithm on them."""
        limit, before = self._algorithm.max_iterations, len(self.crossings)
        if self._completer.graph.edges > TOGETHER:
            samples = self._completer.draw_all(self._size, count, self._rng)
        else:
            samples = (self._completer.draw(self._size, self._rng) for _ in range(count))
        started = time.perf_counter()
        for sample in samples:
            number = len(self.crossings)
            tell(f"completed sample {number + 1} of {self._count}", number / self._count)
            curve = completed_curve(self._algorithm, sample, self._threshold)
            self.crossings.append(min(crossing(curve, self._threshold), float(limit + 1)))
            self._curves.append(curve)
            self._edges = max(self._edges, sample.edges)
            self._degrees = self._degrees or _degrees(sample, self._completer.graph.directed)
            self.edge_steps += float(sample.edges) * len(curve)
            each = (time.perf_counter() - started) / (len(self.crossings) - before)
            if time_left() < each:
                break
        return self

    def result(self, visits_before: float) -> Replicates:
        """Return the results of all samples."""
        return Replicates(
            np.array(self.crossings),
            self._curves,
            self._edges,
            len(self._completer.hubs) + self._size,
            visits_before + self.edge_steps,
            self._degrees,
        )


def _degrees(sample: CompletedSample, directed: bool) -> tuple[float, ...]:
    """Return the binned degrees of the vertices that a completed sample represents."""
    pattern = sample.operator != 0
    degrees = np.asarray(pattern.sum(axis=0)).ravel()
    if directed:
        degrees = degrees + np.asarray(pattern.sum(axis=1)).ravel()
    return binned_degrees(degrees, sample.weights)


def _sample_size(completer: Completer, ratio: float, edges: int) -> int:
    """Return the number of other vertices with about `edges` edges, at most `ratio` of all."""
    graph, hubs, others = completer.graph, completer.hubs, len(completer.others)
    of_hubs = int((graph.indptr[hubs + 1] - graph.indptr[hubs]).sum())
    mean = max((graph.edges - of_hubs) / max(others, 1), 1.0)
    by_ratio = max(int(ratio * graph.vertices), FEWEST_VERTICES)
    by_edges = max(int(edges / mean), FEWEST_VERTICES)
    return min(others, by_ratio, by_edges)
