"""The full local run: the job itself on this machine by the compiled kernel, under a deadline.

Iterations and messages do not depend on the engine, so they are exact. A run of up to about a
second costs less than its samples (docs/studies/accuracy.md). Those of a library algorithm on Spark
are counted by its compiled local replay.
"""

from __future__ import annotations

import time

import numpy as np

from predict_graph.engines import RunProfile, evenly, per_iteration, spread_evenly
from predict_graph.errors import RequestError
from predict_graph.history import RunRecord
from predict_graph.iterations.estimate import IterationEstimate, whole_graph
from predict_graph.iterations.method import SamplingCase
from predict_graph.table import Table


def whole_run_estimates(profile: RunProfile | None) -> list[IterationEstimate]:
    """Return the exact iterations and counters of a local run and of its priors."""
    found: list[IterationEstimate] = []
    while profile is not None:
        seconds = profile.runtime_seconds if not found else 0.0
        made = IterationEstimate.exact(
            "whole-run",
            np.asarray(profile.convergence),
            per_iteration(profile.rows).without("seconds"),
            converged=profile.converged,
            samples=[whole_graph(profile.graph, profile.iterations, seconds)],
        )
        found.insert(0, made)
        profile = profile.prior
    return found


def recalled_estimate(record: RunRecord, workers: int) -> IterationEstimate:
    """Return the iterations and counters of an earlier run of the same graph.

    If it had another number of workers, messages are divided as a hash partitioning does.
    """
    rows = per_iteration(record.rows).without("seconds")
    if len(np.unique(record.rows["worker"])) != workers:
        rows = spread_evenly(rows, workers)
    curve = rows.floats("convergence")
    return IterationEstimate.exact("history", curve, rows, converged=bool(record.converged))


def estimate_by_replay(case: SamplingCase) -> IterationEstimate:
    """Return the exact counters of each superstep of a library algorithm on Spark."""
    from predict_graph.engines.spark import SparkEngine
    from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, rounds_of

    algorithm, engine = case.algorithm, case.engine
    if not isinstance(algorithm, LibraryAlgorithm) or not isinstance(engine, SparkEngine):
        raise RequestError(f"{algorithm.name} runs on Spark alone; accepted: --engine spark")
    graph, started = case.graph, time.perf_counter()
    rounds = rounds_of(algorithm, graph, engine.settings.partitions)
    seconds = time.perf_counter() - started
    count = len(rounds)
    messages = rounds["messages"].to_numpy(np.float64)
    counters = Table(
        {
            "active_vertices": rounds["active_vertices"],
            **evenly(messages, np.zeros(count), engine.workers),
            "total_vertices": graph.vertices,
        }
    )
    return IterationEstimate.exact(
        "replay",
        rounds["received"].to_numpy(np.float64) / max(graph.vertices, 1),
        counters,
        converged=bool(rounds["received"].iloc[-1] == 0),
        samples=[whole_graph(graph.describe(), count, seconds)],
    )
