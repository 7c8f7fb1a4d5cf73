"""The published method: the iterations of a walk sample (PREDIcT, section 3.2)."""

from __future__ import annotations

import numpy as np

from predict_graph.iterations.crossing import crossing, mean_curve
from predict_graph.iterations.estimate import (
    IterationEstimate,
    iteration_interval,
)
from predict_graph.iterations.method import SamplingCase
from predict_graph.iterations.samples import SampleRun, counters_by, draw_sample, run_sample


def estimate_by_sample_runs(
    case: SamplingCase, repeats: int = 3, method_std: float = 0.18
) -> IterationEstimate:
    """Return the median iterations of walk samples (PREDIcT, section 3.2).

    It is repeated `repeats` times for the spread. Samples have their full size regardless of the
    budget of edges, as published. `method_std` is of log(predicted / true), of BRJ at 10%
    (docs/design-notes.md, fact 1).
    """
    algorithm, threshold = case.algorithm, case.threshold
    runs: list[SampleRun] = []
    for repeat in range(repeats):
        case.progress(f"sample run {repeat + 1} of {repeats}", repeat / repeats)
        sample = draw_sample(case.graph, case.sampler, case.ratio, case.rng)
        given = sample, algorithm, case.engine, case.transform, threshold
        runs.append(run_sample(*given, purpose="iterations"))
    # The aggregate of the sample is 1 / ratio times that of the graph: undo the transform.
    curves = [np.asarray(run.profile.convergence) * (threshold / run.threshold) for run in runs]
    crossings = [float(run.profile.iterations) for run in runs]
    centre = float(np.median(crossings))
    spread = float(np.std(np.log(crossings), ddof=1)) if repeats > 1 else 0.0
    std = float(np.hypot(spread, method_std))
    counts = iteration_interval(centre, std, algorithm.max_iterations)
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
        "published",
        centre,
        *counts,
        curve=mean_curve(curves, counts[0]),
        converged=all(run.profile.converged for run in runs),
        samples=[run.summary for run in runs],
        warnings=warnings,
        counters=counters_by(largest, case, counts[0]),
    )
