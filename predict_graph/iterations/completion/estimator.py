"""The estimator of iterations from completed samples."""

from __future__ import annotations

import math
import time

import numpy as np

from predict_graph.deadline import deadline, time_left
from predict_graph.engines import SampleSummary
from predict_graph.graph import Graph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.budget import LEAN, LONG_RUN
from predict_graph.iterations.completion.calibration import calibrate, combined_correction
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.completion.replicates import (
    TOGETHER,
    ReplicatePlan,
    Replicates,
    replicate,
)
from predict_graph.iterations.crossing import stretched_curve
from predict_graph.iterations.estimate import IterationEstimate, iteration_interval
from predict_graph.iterations.method import SamplingCase
from predict_graph.iterations.samples import SampleRun, counters_of, draw_sample, run_sample

_METHOD_STD = 0.06  # of log(predicted / true), common to all samples: docs/studies/accuracy.md
_SMALL_SAMPLE = 1000  # vertices, below which the error grows; not tuned
_UNCALIBRATED_STD = 0.1  # of the usual correction (docs/studies/accuracy.md)
_FEW_EDGES = 50_000  # of a sample for counters alone: limits overhead
_SMALL_RATIO = 0.2  # of such a sample of a small graph; not tuned


def estimate_by_completion(case: SamplingCase) -> IterationEstimate:
    """Return the median iterations of completed samples, calibrated on walk samples.

    Repeated stratified samples are completed (:class:`Completer`) and iterated until they cross the
    threshold of the whole graph, and corrected by the error of completion on walk samples
    (:mod:`~predict_graph.iterations.completion.calibration`). The edges of the graph are read once,
    for the profiles of its vertices; no iteration runs on it.
    """
    graph, algorithm, ratio, budget = case.graph, case.algorithm, case.ratio, case.budget
    rng, progress = case.rng, case.progress
    threshold = case.threshold
    started = time.perf_counter()
    progress("reading vertex profiles", 0.0)
    calibrated = budget.max_overhead > LEAN
    if calibrated and graph.directed:
        _ = graph.reverse  # of walks: without it, each step would be a pass over all edges
    plan = ReplicatePlan.within(graph.edges, budget.for_completion)
    long_plan = ReplicatePlan.within(graph.edges, budget.for_run(LONG_RUN).for_completion)
    whole = replicate(
        graph,
        algorithm,
        threshold,
        ratio,
        plan,
        rng,
        progress,
        long_plan=long_plan,
    )
    elapsed = time.perf_counter() - started
    correction, correction_error = 0.0, _UNCALIBRATED_STD
    runs: list[SampleRun] = []
    steps = 0.0
    if calibrated:
        calibrations, runs, steps = calibrate(case, budget.for_run(whole.crossing).for_calibration)
        if calibrations or time_left() > 0.0:
            correction, correction_error = combined_correction(calibrations)
    if not runs:
        with deadline(None):  # takes milliseconds
            runs = [_any_run(case)]
        steps += float(runs[0].summary.edges * runs[0].summary.iterations)
    limit = algorithm.max_iterations
    centre = whole.crossing * math.exp(correction)
    iterations, low, high = iteration_interval(
        centre,
        math.hypot(
            whole.relative_std,
            correction_error,
            _method_std(whole.vertices),
            algorithm.sampling_std,
        ),
        QUANTILE,
        limit,
    )
    return IterationEstimate(
        method="completion",
        crossing=centre,
        iterations=iterations,
        low=low,
        high=high,
        curve=stretched_curve(whole.curves, math.exp(correction), iterations),
        converged=centre <= limit,
        samples=[*_summaries(whole, graph.vertices, elapsed), *(run.summary for run in runs)],
        edge_steps=steps + whole.edge_steps,
        warnings=_doubts(whole, graph.vertices),
        observed=counters_of(runs),
    )


def prepare(graph: Graph) -> None:
    """Find profiles and in-degrees of a large graph in one pass over its edges.

    A smaller graph may not need profiles, as the full run is often faster than samples.
    """
    if graph.directed and graph.edges > TOGETHER and "reverse" not in vars(graph):
        vertex_profiles(graph)


def _any_run(case: SamplingCase) -> SampleRun:
    """Run the algorithm on a small sample, for its counters alone."""
    ratio = max(case.ratio, _SMALL_RATIO)
    sample = draw_sample(case.graph, case.sampler, ratio, case.rng, max_edges=_FEW_EDGES)
    threshold = case.threshold
    return run_sample(
        sample, case.algorithm, case.engine, case.transform, threshold, purpose="work"
    )


def _method_std(vertices: int) -> float:
    """Return the error common to all samples of so many vertices."""
    return _METHOD_STD * math.sqrt(max(1.0, _SMALL_SAMPLE / max(vertices, 1)))


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
            degrees=whole.degrees,
        )
        for value in whole.crossings
    ]


def _whole(value: float) -> int:
    return int(np.ceil(value - 1e-9))
