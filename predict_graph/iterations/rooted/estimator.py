"""Estimating iterations and counters from rooted samples."""

from __future__ import annotations

import math
import time
from contextlib import suppress

import numpy as np

from predict_graph.calibration import log_std
from predict_graph.deadline import StopRun, time_left
from predict_graph.engines import SampleSummary, StagedSample
from predict_graph.engines.local.observed import observed_run
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.estimate import IterationEstimate, crossing, iteration_interval
from predict_graph.iterations.method import LEAN, SamplingCase
from predict_graph.iterations.rooted.sample import Recipe, recipe_of


def estimate_by_rooted_samples(
    case: SamplingCase,
    pilot: float = 0.25,
    most_lean: int = 1 << 18,
    worth_while: float = 1.5,
    fewest: int = 2_000,
) -> IterationEstimate:
    """Return iterations and their counters from a sample that keeps whole paths.

    A small sample, of a `pilot` share of the ratio, first estimates how long the run is; how large
    a second one may be follows, which is drawn if it is `worth_while` times as large. From a large
    graph within a small budget at most `most_lean` vertices are drawn: errors of shares are 0.2%.
    At least `fewest` are, which limits the error of small samples.
    """
    graph, algorithm, ratio, budget = case.graph, case.algorithm, case.ratio, case.budget
    progress = case.progress
    progress("finding shortest paths", 0.0)
    recipe = recipe_of(algorithm, graph)
    few = min(fewest, graph.vertices)
    wanted = int(ratio * graph.vertices)
    most = min(wanted, most_lean) if budget.max_overhead <= LEAN else wanted
    size = max(min(int(pilot * ratio * graph.vertices), most), few)
    progress("pilot sample", 0.3)
    started = time.perf_counter()
    samples = [_sample_and_run(case, recipe, size)]
    seconds = time.perf_counter() - started
    length = min(crossing(samples[0].run.convergence, case.threshold), algorithm.max_iterations)
    allowed = budget.overhead_of(math.ceil(length))
    share = samples[0].sample.graph.edges / max(graph.edges, 1)
    factor = (allowed - share) / max(share, 1e-9)
    # Halved: the second sample is run once more to be timed.
    factor = min(factor, time_left() / (2.0 * seconds))
    # Hubs, and the paths to them, are in every sample, so drawn vertices grow faster than edges: by
    # a power of 1.5, not tuned.
    larger = min(int(max(factor, 0.0) ** 1.5 * size), max(most, few))
    if larger >= worth_while * size:
        progress("sample", 0.5)
        with suppress(StopRun):  # the first sample is sufficient then
            samples.append(_sample_and_run(case, recipe, larger))
    return _estimate(case, recipe, samples)


def _estimate(case: SamplingCase, recipe: Recipe, ran: list[StagedSample]) -> IterationEstimate:
    algorithm, threshold = case.algorithm, case.threshold
    last, limit = ran[-1].run, algorithm.max_iterations
    own = max(log_std("iterations by rooted samples", algorithm.name), recipe.std)
    ends = min(crossing(last.convergence, threshold), limit + 1.0)
    centre, std = max(ends, float(recipe.fewest)), own
    if recipe.exact:
        centre, std = float(recipe.fewest), 0.0
    iterations, low, high = iteration_interval(centre, std, limit)
    if recipe.level_std:
        factor = _level_factor(recipe)
        early, late = (crossing(last.convergence, threshold * by) for by in (factor, 1.0 / factor))
        low = iteration_interval(early, own, limit)[1]
        high = iteration_interval(late, own, limit)[2]
    curve, half = last.convergence, (len(last.convergence) - 1) // 2
    stays = half > 0 and curve[-1] >= max(threshold, 0.9 * curve[half])  # or hardly falls
    said = (
        f"the share that changes stays at {curve[-1]:.2g}, above the threshold of {threshold:g}: "
        "it oscillates or hardly falls"
    )
    counters = last.counters.take(np.minimum(np.arange(iterations), len(last.counters) - 1))
    return IterationEstimate(
        "rooted",
        centre,
        iterations,
        low,
        high,
        curve=curve[np.minimum(np.arange(iterations), len(curve) - 1)],
        converged=centre <= limit,
        samples=[staged.summary for staged in ran],
        warnings=[said] if stays else [],
        counters=counters.assign(total_vertices=case.graph.vertices),
        staged=ran[-1],
    )


def _sample_and_run(case: SamplingCase, recipe: Recipe, size: int) -> StagedSample:
    started = time.perf_counter()
    graph, algorithm = case.graph, case.algorithm
    sample = recipe.sampler.draw(size, case.rng)
    prior_values = None if recipe.inputs is None else recipe.inputs(sample)
    run = observed_run(
        algorithm,
        sample,
        threshold=case.threshold / _level_factor(recipe),
        edges=graph.edges,
        workers=case.engine.workers,
        prior=prior_values,
        threads=getattr(case.engine, "threads", None),
    )
    own, seconds = sample.graph, time.perf_counter() - started
    sizes = (own.vertices / max(graph.vertices, 1), own.vertices, own.edges)
    summary = SampleSummary("rooted", *sizes, len(run.convergence), seconds, "iterations")
    return StagedSample(sample, prior_values, run, summary)


def _level_factor(recipe: Recipe) -> float:
    """Return the share that changes / an end of its 90% interval, as a factor."""
    return math.exp(QUANTILE * recipe.level_std)
