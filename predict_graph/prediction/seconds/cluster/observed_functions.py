"""The iterations of a user function on Spark, from its sample runs.

Only the metrics of its tasks are known. The growth of iterations with the size of samples is
extrapolated to the graph (PREDIcT, section 3.2, without a transform, because the job's threshold is
unknown).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

from predict_graph.calibration import log_std
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.seconds.cluster.runs import ClusterRun


def observed_estimate(runs: Sequence[ClusterRun], graph: Graph) -> IterationEstimate:
    """Return the iterations of the graph, from those of its samples.

    Samples that agree exactly indicate a fixed number of iterations. Otherwise the smallest and the
    largest are extrapolated over the logarithm of their size.
    """
    if not runs:
        raise JobError("executors were lost in every sample run, so nothing is known of the job")
    by_size = sorted(runs, key=lambda run: run.record.vertices)
    small, large = by_size[0], by_size[-1]
    seen = [run.record.iterations for run in by_size]
    expected = float(seen[-1])
    apart = math.log(large.record.vertices / small.record.vertices)
    if apart > 0.0:
        growth = max(expected - small.record.iterations, 0.0) / apart
        expected += growth * math.log(max(graph.vertices / large.record.vertices, 1.0))
    spread = float(np.log([*seen, expected]).std())
    std = math.hypot(spread, log_std("iterations by rooted samples"))
    counts = iteration_interval(expected, std, sys.maxsize)
    warnings = []
    if min(seen) < max(seen):
        warnings.append(
            f"the samples took {min(seen)} to {max(seen)} iterations; the real run "
            "may differ as much"
        )
    if large.doubt:
        warnings.append(f"it is doubtful what the supersteps of the job are: {large.doubt}")
    return IterationEstimate(
        "observed",
        expected,
        *counts,
        curve=np.full(counts[0], np.nan),
        converged=True,
        warnings=warnings,
    )
