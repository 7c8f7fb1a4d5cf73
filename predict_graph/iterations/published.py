"""The published method: the iterations of a walk sample (PREDIcT, section 3.2)."""

from __future__ import annotations

import numpy as np

from predict_graph.intervals import QUANTILE
from predict_graph.iterations.crossing import crossing, mean_curve
from predict_graph.iterations.estimate import (
    IterationEstimate,
    iteration_interval,
)
from predict_graph.iterations.method import Method, SamplingCase
from predict_graph.iterations.samples import SampleRun, counters_by, draw_sample, run_sample

_METHOD_STD = 0.18  # of log(predicted / true), BRJ at 10%: docs/design-notes.md, fact 1


def estimate_by_sample_runs(case: SamplingCase, repeats: int = 3) -> IterationEstimate:
    """Return the median iterations of walk samples (PREDIcT, section 3.2).

    It is repeated `repeats` times for the spread. Samples have their full size regardless of the
    budget of edges, as published.
    """
    algorithm, threshold = case.algorithm, case.threshold
    runs: list[SampleRun] = []
    crossings, curves, samples, steps = [], [], [], 0.0
    converged = True
    for repeat in range(repeats):
        case.progress(f"sample run {repeat + 1} of {repeats}", repeat / repeats)
        sample = draw_sample(case.graph, case.sampler, case.ratio, case.rng)
        run = run_sample(
            sample, algorithm, case.engine, case.transform, threshold, purpose="iterations"
        )
        runs.append(run)
        curve = np.asarray(run.profile.convergence)
        # The aggregate of the sample is 1 / ratio times that of the graph: undo the transform.
        curves.append(curve * (threshold / run.threshold))
        crossings.append(float(run.profile.iterations))
        converged = converged and run.profile.converged
        samples.append(run.summary)
        steps += float(sample.graph.edges) * run.profile.iterations
    centre = float(np.median(crossings))
    spread = float(np.std(np.log(crossings), ddof=1)) if repeats > 1 else 0.0
    iterations, low, high = iteration_interval(
        centre, float(np.hypot(spread, _METHOD_STD)), QUANTILE, algorithm.max_iterations
    )
    warnings = []
    if any(not np.isfinite(crossing(curve, threshold)) for curve in curves):
        warnings.append(
            f"a sample run did not converge within {algorithm.max_iterations} iterations"
        )
    largest = max((run.profile for run in runs), key=lambda profile: int(profile.graph["edges"]))
    if not largest.graph["edges"]:
        warnings.append(
            "the samples that counters are extrapolated from have no edges, so messages count as "
            "0; allow a larger ratio or more overhead"
        )
    return IterationEstimate(
        method="published",
        crossing=centre,
        iterations=iterations,
        low=low,
        high=high,
        curve=mean_curve(curves, iterations),
        converged=converged,
        samples=samples,
        edge_steps=steps,
        warnings=warnings,
        counters=counters_by(largest, case, iterations),
    )


PUBLISHED = Method(
    "published",
    "count the iterations of walk samples (PREDIcT, section 3.2)",
    frozenset({"sampler", "ratio", "transform"}),
    lambda algorithm: "observed" not in algorithm.sampled_by,
    estimate_by_sample_runs,
)
