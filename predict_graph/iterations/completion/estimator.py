"""Estimating iterations from completed samples."""

from __future__ import annotations

import math
import time

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.graph import Graph
from predict_graph.iterations.budget import LONG_RUN, EdgeBudget
from predict_graph.iterations.completion.calibration import calibrate, combined_correction
from predict_graph.iterations.completion.replicates import ReplicatePlan, Replicates, replicate
from predict_graph.iterations.crossing import stretched_curve
from predict_graph.iterations.estimate import (
    QUANTILE,
    IterationEstimate,
    Progress,
    SampleSummary,
    iteration_interval,
)
from predict_graph.transforms import Transform

__all__ = ["estimate_by_completion"]

_METHOD_STD = 0.035  # of log(predicted / true), what repeated samples do not show (docs/studies)
_SMALL_SAMPLE = 1000  # vertices; smaller ones err more, alike in every repetition


def estimate_by_completion(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    transform: Transform,
    *,
    ratio: float,
    budget: EdgeBudget,
    rng: np.random.Generator,
    progress: Progress,
) -> IterationEstimate:
    """Return the iterations that completed samples of the graph take, calibrated on walk samples.

    Repeated stratified samples are completed (:class:`Completer`) and iterated until they cross the
    threshold of the whole graph; walk samples, whose exact answer is cheap, tell how much
    completion errs on this kind of graph (:mod:`~predict_graph.iterations.completion.calibration`).
    No iteration runs on the whole graph. What is read of it is one pass over its edges for the
    profiles of the vertices, and the edges of the sampled vertices.

    Parameters
    ----------
    graph, algorithm, engine, transform
        What to predict; the engine runs the walk samples.
    ratio : float
        Vertices of a sample / vertices of the graph, at most.
    budget : EdgeBudget
        Edges that all samples together may have.
    rng : Generator
    progress : callable
    """
    threshold = algorithm.threshold(graph.vertices)
    started = time.perf_counter()
    progress("reading vertex profiles", 0.0)
    plan = ReplicatePlan.within(graph.edges, budget.for_completion)
    long_plan = ReplicatePlan.within(graph.edges, budget.for_run(LONG_RUN).for_completion)
    whole = replicate(graph, algorithm, threshold, ratio, plan, rng, progress, long_plan=long_plan)
    elapsed = time.perf_counter() - started
    calibrations, walk_samples, steps = calibrate(
        graph,
        algorithm,
        engine,
        transform,
        ratio=ratio,
        allowed=budget.for_run(whole.crossing).for_calibration,
        rng=rng,
        progress=progress,
    )
    correction, correction_error = combined_correction(calibrations)
    limit = algorithm.max_iterations
    centre = whole.crossing * math.exp(correction)
    iterations, low, high = iteration_interval(
        centre,
        math.hypot(whole.relative_std, correction_error, _method_std(whole.vertices)),
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
        samples=[*_summaries(whole, graph.vertices, elapsed), *walk_samples],
        edge_steps=steps + whole.edge_steps,
        warnings=_doubts(whole, graph.vertices),
    )


def _method_std(vertices: int) -> float:
    """Return the error that samples of so many vertices have in common."""
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
        )
        for value in whole.crossings
    ]


def _whole(value: float) -> int:
    return int(np.ceil(value - 1e-9))
