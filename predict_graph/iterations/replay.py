"""Exact iterations of a library algorithm, by its compiled local replay."""

from __future__ import annotations

import time

import numpy as np

from predict_graph.engines import evenly
from predict_graph.errors import RequestError
from predict_graph.iterations.estimate import IterationEstimate, whole_graph
from predict_graph.iterations.method import SamplingCase
from predict_graph.table import Table


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
