"""Sample runs on a Spark cluster, where its stored runs do not show what the algorithm takes.

The first supersteps of a new JVM are slow. Each session therefore runs its largest sample twice:
the second run shows the cost of the work, and the difference the JVM warm-up. The largest is used
because code that is not yet compiled is slow on every row.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.calibration import log_std
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.seconds.cluster import runs as cluster
from predict_graph.prediction.seconds.learned import STEADY_ITERATIONS
from predict_graph.prediction.work import records_of


def supersteps_run(algorithm: Algorithm, most: int = 15) -> int:
    """Return the limit of supersteps of a sample run; library algorithms cannot be stopped."""
    if "replay" in algorithm.sampled_by:
        return algorithm.max_iterations
    return STEADY_ITERATIONS if algorithm.steady else most


def sample_run(
    engine: SparkEngine, algorithm: Algorithm, graph: Graph, sample: Graph, before: int, **how: Any
) -> list[cluster.ClusterRun]:
    """Run a chain of algorithms on a sample in a session that has run so many supersteps before.

    `how` has the sampler, its seed, the purpose, and the seconds in which the session opened.
    """
    most, threshold = supersteps_run(algorithm), 0.0 if algorithm.steady else None
    profile = engine.run(algorithm, sample, max_iterations=most, threshold=threshold)
    doubtful = profile.result.get("certainty") == "doubtful"
    drawn = {
        **how,
        "ratio": sample.vertices / graph.vertices,
        "machines": engine.workers,
        "cold": before == 0,
        "doubt": profile.result.get("reason") if doubtful else "",
    }
    runs = []
    for record in records_of(profile):
        own = replace(record, kind="sample", sample_of=graph.fingerprint)
        own = replace(own, sample={**drawn, "before": before})
        runs.append(cluster.cluster_run(own, graph, again=False))
        before += record.iterations
    return runs


def observed_estimate(runs: Sequence[cluster.ClusterRun], graph: Graph) -> IterationEstimate:
    """Return the iterations of a user's function on the graph, from those of its samples.

    Only the metrics of its tasks are known, so there is no transform (PREDIcT, section 3.2).

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
    curve = np.full(counts[0], np.nan)
    return IterationEstimate("observed", expected, *counts, curve, True, warnings=warnings)
