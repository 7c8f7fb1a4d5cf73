"""The estimator of iterations from completed samples."""

from __future__ import annotations

import math
import time

import numpy as np

from predict_graph.calibration import log_std
from predict_graph.deadline import deadline
from predict_graph.engines import SampleSummary
from predict_graph.graph import Graph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.completion.replicates import (
    ReplicatePlan,
    Replicates,
    replicate,
)
from predict_graph.iterations.crossing import mean_curve
from predict_graph.iterations.estimate import IterationEstimate, iteration_interval
from predict_graph.iterations.method import SamplingCase
from predict_graph.iterations.samples import counters_by
from predict_graph.table import Table

# Of log(predicted / true) of samples of few vertices, which grows below so many: measured, see
# docs/studies/accuracy.md.
_SMALL_STD, _SMALL_SAMPLE = 0.06, 1000


def estimate_by_completion(case: SamplingCase) -> IterationEstimate:
    """Return the median iterations of completed samples.

    Repeated stratified samples are completed (:class:`Completer`) and iterated until they cross the
    threshold of the whole graph. The edges of the graph are read once, for the profiles of its
    vertices; no iteration runs on it.
    """
    graph, algorithm = case.graph, case.algorithm
    started = time.perf_counter()
    case.progress("reading vertex profiles", 0.0)
    plan = ReplicatePlan.within(graph.edges, case.budget.for_completion)
    whole = replicate(graph, algorithm, case.threshold, case.ratio, plan, case.rng, case.progress)
    elapsed = time.perf_counter() - started
    common = log_std("iterations by completion", algorithm.name)
    stds = (whole.relative_std, _small_std(whole.vertices), common)
    limit = algorithm.max_iterations
    iterations, low, high = iteration_interval(whole.crossing, math.hypot(*stds), QUANTILE, limit)
    return IterationEstimate(
        method="completion",
        crossing=whole.crossing,
        iterations=iterations,
        low=low,
        high=high,
        curve=mean_curve(whole.curves, iterations),
        converged=whole.crossing <= limit,
        samples=_summaries(whole, graph.vertices, elapsed),
        edge_steps=whole.edge_steps,
        warnings=_doubts(whole, graph.vertices),
        counters=_counters_by_a_pair(case, iterations),
    )


def _counters_by_a_pair(case: SamplingCase, iterations: int) -> Table:
    """Return the counters by an iteration on two joined vertices: all of any graph send alike."""
    pair = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), directed=case.graph.directed)
    with deadline(None):
        run = case.engine.run(case.algorithm, pair, max_iterations=1)
    return counters_by(run, case, iterations)


def _small_std(vertices: int) -> float:
    """Return the additional error common to all samples of few vertices."""
    return _SMALL_STD * math.sqrt(max(1.0, _SMALL_SAMPLE / max(vertices, 1)))


def _doubts(whole: Replicates, vertices: int) -> list[str]:
    if whole.vertices >= min(_SMALL_SAMPLE // 2, vertices):
        return []
    return [
        f"the samples have only {whole.vertices} vertices: allow more of them by a larger ratio or "
        "a larger overhead"
    ]


def _summaries(whole: Replicates, vertices: int, seconds: float) -> list[SampleSummary]:
    return [
        SampleSummary(
            sampler="completion",
            ratio=whole.vertices / max(vertices, 1),
            vertices=whole.vertices,
            edges=whole.edges,
            iterations=_whole(value),
            seconds=seconds / len(whole.crossings),
            purpose="iterations",
        )
        for value in whole.crossings
    ]


def _whole(value: float) -> int:
    return int(np.ceil(value - 1e-9))
