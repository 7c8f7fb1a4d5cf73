"""The work of each iteration on the busiest worker, for any machine count."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.programs import program_of
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.machine_counts import machine_counts
from predict_graph.prediction.seconds.cluster.library_work import bytes_read, library_rows
from predict_graph.prediction.seconds.cluster.observed_functions import observed_rows
from predict_graph.prediction.seconds.cluster.placement import placement_of
from predict_graph.prediction.seconds.cluster.record_sizes import record_sizes
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.superstep_features import (
    predicted_rows,
    sent_messages,
)


def work_by_machines(
    graph: AnyGraph,
    engine: SparkEngine,
    workload: Workload,
    runs: list[ClusterRun],
) -> Callable[[int], pd.DataFrame]:
    """Return a function from a machine count to the features and counters of each iteration."""
    if isinstance(workload.algorithm, FunctionAlgorithm):

        def observed(machines: int) -> pd.DataFrame:
            there = engine.settings.on(machines)
            return observed_rows(
                runs, graph, workload.iterations, machines, there.partitions, there.executors
            )

        return observed
    if isinstance(workload.algorithm, LibraryAlgorithm):
        algorithm = workload.algorithm
        if not isinstance(graph, Graph):
            raise RequestError(
                f"{algorithm.name} is predicted for graphs that this machine reads; accepted: "
                "without --spark-reads"
            )
        whole, read = graph, bytes_read(runs)

        def counted(machines: int) -> pd.DataFrame:
            there = engine.settings.on(machines)
            return library_rows(read, algorithm, whole, machines, there.partitions, there.executors)

        return counted
    sent = sent_messages(graph, workload)
    sizes = record_sizes(runs, len(sent))
    program = program_of(workload.algorithm)
    combines, looks_up = program.combines, program.looks_up
    counts = machine_counts(engine.workers)
    beside = [(count, engine.settings.on(count).partitions) for count in counts]

    def known(machines: int) -> pd.DataFrame:
        settings = engine.settings.on(machines)
        placement = placement_of(
            graph, machines, settings.partitions, executors=settings.executors, beside=beside
        )
        return predicted_rows(graph, sent, placement, sizes, combines=combines, looks_up=looks_up)

    return known
