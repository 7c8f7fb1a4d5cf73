"""The estimator of iterations from completed samples."""

from __future__ import annotations

import math
import time

import numpy as np

from predict_graph.arrays import IntArray
from predict_graph.calibration import log_std
from predict_graph.deadline import deadline, time_left
from predict_graph.engines import SampleSummary
from predict_graph.graph import Graph
from predict_graph.iterations import estimate
from predict_graph.iterations.completion.completed import Completer
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.method import SamplingCase
from predict_graph.iterations.samples import counters_by, edges_by_later_position
from samplers.search import largest


def estimate_by_completion(
    case: SamplingCase, small_std: float = 0.06, small: int = 1000
) -> estimate.IterationEstimate:
    """Return the median iterations of completed samples.

    Repeated stratified samples are completed (:class:`Completer`) and iterated until they cross the
    threshold of the whole graph; fewer of them if the deadline would pass. The edges of the graph
    are read once, for the profiles of its vertices; no iteration runs on it. `small_std` is of
    log(predicted / true), and grows below so many vertices of a sample (docs/studies/accuracy.md).
    """
    graph, algorithm, limit = case.graph, case.algorithm, case.algorithm.max_iterations
    started = time.perf_counter()
    case.progress("reading vertex profiles", 0.0)
    most_edges, count = sample_sizes(graph.edges, case.budget.for_completion)
    for_hubs = min(most_edges // 2, graph.edges // 10)
    for_others = most_edges - for_hubs
    # Hubs are chosen by their neighbours in a sample at the expected ratio.
    expected = max(min(case.ratio, for_others / max(graph.edges, 1)), 1e-9)
    completer = Completer(graph, vertex_profiles(graph), choose_hubs(graph, expected, for_hubs))
    size = _others(completer, case.ratio, for_others)
    curve_of = algorithm.part_of("completion")
    curves, crossings, edges = [], [], 0
    began = time.perf_counter()
    for number, sample in enumerate(completer.draw_all(size, count, case.rng), 1):
        case.progress(f"completed sample {number} of {count}", (number - 1) / count)
        curve = curve_of(algorithm, sample, case.threshold)
        crossings.append(min(estimate.crossing(curve, case.threshold), float(limit + 1)))
        curves.append(curve)
        edges = max(edges, int(sample.operator.nnz))
        if time_left() < (time.perf_counter() - began) / number:
            break
    each, vertices = (time.perf_counter() - started) / len(crossings), len(completer.hubs) + size
    sizes = (vertices / max(graph.vertices, 1), vertices, edges)
    middle = float(np.median(crossings))  # robust to a loop by chance in one sample
    low, high = np.quantile(np.log(crossings), [0.25, 0.75])
    stds = (
        1.253 * (high - low) / 1.349 / math.sqrt(len(crossings)),  # of a median, by quartiles
        small_std * math.sqrt(max(1.0, small / max(vertices, 1)) * max(1.0, 5 / len(crossings))),
        log_std("iterations by completion", algorithm.name),
    )
    counts = estimate.iteration_interval(middle, math.hypot(*stds), limit)
    # All of any graph send alike: the counters are those of two joined vertices.
    pair = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), directed=graph.directed)
    with deadline(None):
        run = case.engine.run(algorithm, pair, max_iterations=1)
    few = (
        f"the samples have only {vertices} vertices: allow more of them by a larger ratio or a "
        "larger overhead"
    )
    return estimate.IterationEstimate(
        "completion",
        middle,
        *counts,
        curve=estimate.mean_curve(curves, counts[0]),
        converged=middle <= limit,
        samples=[
            SampleSummary("completion", *sizes, math.ceil(at - 1e-9), each, "iterations")
            for at in crossings
        ],
        warnings=[few] if vertices < min(small // 2, graph.vertices) else [],
        counters=counters_by(run, case, counts[0]),
    )


def choose_hubs(
    graph: Graph, ratio: float, edge_budget: int, share: float = 0.03, neighbours: int = 10
) -> IntArray:
    """Return the vertices that a stratified sample takes with certainty, highest degree first.

    Hubs are the largest set of highest-degree vertices that has at most `edge_budget` edges among
    its members, is at most a `share` of the vertices, and whose members have so many neighbours
    (``10 / ratio``) that a sample at `ratio` has ten of them, as their edges are thinned.
    """
    least = math.ceil(neighbours / ratio)
    larger = np.maximum(graph.in_degrees, graph.out_degrees)
    able = int(np.count_nonzero(larger >= least))
    count = min(int(share * graph.vertices), able)
    candidates = largest(graph.in_degrees + graph.out_degrees, count)
    inside = np.cumsum(edges_by_later_position(graph, candidates))
    kept = candidates[: int(np.searchsorted(inside, edge_budget, side="right"))]
    return kept[larger[kept] >= least].astype(np.int64)


# Limits the error of the median of samples, and overhead: the number of samples, and the edges of
# each, also as a share of the graph's.
_FEWEST, _MOST = 5, 9
_LARGEST, _SHARE = 1_200_000, 0.2


def sample_sizes(edges: int, allowed: int) -> tuple[int, int]:
    """Return the edges of each sample of a graph of so many, and the (odd) number of samples.

    All of them together have at most `allowed` edges.

    Examples
    --------
    >>> sample_sizes(1_500_000, 600_000)
    (120000, 5)
    """
    size = max(min(int(_SHARE * edges), allowed // _FEWEST, _LARGEST), 1)
    count = min(max(allowed // size, _FEWEST), _MOST)
    return size, count - (count + 1) % 2


def _others(completer: Completer, ratio: float, edges: int, fewest: int = 100) -> int:
    """Return the number of other vertices with about `edges` edges, at most `ratio` of all."""
    graph, hubs, others = completer.graph, completer.hubs, len(completer.others)
    of_hubs = int((graph.indptr[hubs + 1] - graph.indptr[hubs]).sum())
    mean = max((graph.edges - of_hubs) / max(others, 1), 1.0)
    return min(others, max(min(int(ratio * graph.vertices), int(edges / mean)), fewest))
