"""Repeated completed samples of one graph, and their convergence."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import time_left
from predict_graph.graph import Graph
from predict_graph.iterations.completion.completed import Completer
from predict_graph.iterations.completion.hubs import choose_hubs
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.crossing import crossing
from predict_graph.iterations.estimate import Progress

_FEWEST_VERTICES = 100  # of a sample at any ratio: limits its error


_COUNTS = (5, 9)  # samples: limits the error of the median, and overhead
_LARGEST = 1_200_000  # edges: limits overhead
_LARGEST_SHARE = 0.2  # of the edges of the graph: limits overhead
_LARGEST_HUB_SHARE = 0.1  # of the edges of the graph: limits the hubs


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
) -> Replicates:
    """Draw completed samples of a graph and run the algorithm on each.

    Fewer samples are drawn if the deadline would pass.
    """
    for_hubs = min(plan.edges // 2, int(_LARGEST_HUB_SHARE * graph.edges))
    for_others = plan.edges - for_hubs
    # Hubs are chosen by their neighbours in a sample at the expected ratio.
    expected = max(min(ratio, for_others / max(graph.edges, 1)), 1e-9)
    completer = Completer(graph, vertex_profiles(graph), choose_hubs(graph, expected, for_hubs))
    size = _sample_size(completer, ratio, for_others)
    samples, curve_of = completer.draw_all(size, plan.count, rng), algorithm.part_of("completion")
    crossings: list[float] = []
    curves: list[npt.NDArray[np.float64]] = []
    edges, edge_steps = 0, 0.0
    started = time.perf_counter()
    for number, sample in enumerate(samples, 1):
        if progress is not None:
            progress(f"completed sample {number} of {plan.count}", (number - 1) / plan.count)
        curve = curve_of(algorithm, sample, threshold)
        crossings.append(min(crossing(curve, threshold), float(algorithm.max_iterations + 1)))
        curves.append(curve)
        edges = max(edges, sample.edges)
        edge_steps += float(sample.edges) * len(curve)
        if time_left() < (time.perf_counter() - started) / number:
            break
    vertices = len(completer.hubs) + size
    return Replicates(np.array(crossings), curves, edges, vertices, edge_steps)


def _sample_size(completer: Completer, ratio: float, edges: int) -> int:
    """Return the number of other vertices with about `edges` edges, at most `ratio` of all."""
    graph, hubs, others = completer.graph, completer.hubs, len(completer.others)
    of_hubs = int((graph.indptr[hubs + 1] - graph.indptr[hubs]).sum())
    mean = max((graph.edges - of_hubs) / max(others, 1), 1.0)
    by_ratio = max(int(ratio * graph.vertices), _FEWEST_VERTICES)
    by_edges = max(int(edges / mean), _FEWEST_VERTICES)
    return min(others, by_ratio, by_edges)
