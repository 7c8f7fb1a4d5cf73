"""The estimated runtime on a Spark cluster, for any machine count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import (
    COUNTERS,
    EstimationContext,
    Evidence,
    RuntimeEstimate,
    Workload,
)
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction.seconds.cluster.executor_memory import ExecutorMemory, memory_of
from predict_graph.prediction.seconds.cluster.known_costs import KnownCosts, known_costs
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.seconds.cluster.observed_functions import observed_estimate
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.work_by_machines import work_by_machines
from predict_graph.prediction.seconds.earlier_runs import PHASE_STD
from predict_graph.table import Table


class ClusterRuntimeModel:
    """The runtime model of a Spark cluster.

    Iterations and messages depend on the algorithm alone. Their costs are fitted to sample runs on
    the cluster at a few machine counts, which may exclude that of the real run, or to stored
    training runs.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios", "train_machines"})
    by_work_alone: ClassVar[bool] = True
    """Whether the samples of the iteration estimate are of no use for the runtime estimate."""

    def __init__(
        self,
        engine: SparkEngine,
        graph: AnyGraph,
        algorithms: Sequence[Algorithm],
        context: EstimationContext,
    ) -> None:
        self._engine, self._graph, self._context = engine, graph, context
        self._algorithms = list(algorithms)
        self._learned: Learned | None = None

    def survey(self) -> None:
        """Do nothing: samples on this machine do not disturb a cluster."""

    def observe(self) -> list[IterationEstimate]:
        """Return the iterations of a user function that only Spark can run, from its sample
        runs.
        """
        self._learned = learn_on_cluster(self._graph, self._engine, self._algorithms, self._context)
        return [observed_estimate(self._learned.runs[0], self._graph)]

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first includes session start."""
        learned = self._learned or learn_on_cluster(
            self._graph, self._engine, self._algorithms, self._context, workloads
        )
        return runtimes_on(learned, self._graph, self._engine, workloads, self._context.cost_models)


def runtimes_on(
    learned: Learned,
    graph: AnyGraph,
    engine: SparkEngine,
    workloads: Sequence[Workload],
    cost_models: Mapping[str, str | None] = MappingProxyType({}),
) -> list[RuntimeEstimate]:
    """Return the estimates on the machines of `engine`, from training at other counts."""
    return [
        _runtime_on(
            known_costs(
                learned,
                number,
                workload.algorithm,
                engine,
                cost_models.get(workload.algorithm.name),
            ),
            graph,
            engine,
            workload,
            first=number == 0,
            more=learned.more,
        )
        for number, workload in enumerate(workloads)
    ]


def _runtime_on(
    known: KnownCosts,
    graph: AnyGraph,
    engine: SparkEngine,
    workload: Workload,
    *,
    first: bool,
    more: str,
) -> RuntimeEstimate:
    """Return the estimate of one algorithm; the first of a chain includes session start and
    reading.
    """
    costs, runs, std = known.costs, known.runs, known.std
    work = work_by_machines(graph, engine, workload, runs)
    warm = engine.is_warm(workload.algorithm.name)

    name = workload.algorithm.name
    usual = shipped_runs(name, first=first) if shipped_name(workload.algorithm) == name else []

    def at(machines: int) -> tuple[dict[str, float], pd.DataFrame, ExecutorMemory | None]:
        rows = work(machines)
        rows["seconds"] = costs.supersteps(rows, machines, warm=warm)
        memory = memory_of(runs, graph, rows, engine.settings.on(machines), usual)
        if memory is not None:
            rows["seconds"] += memory.spilling_seconds(known.slower)
        kept = engine.settings.checkpoints(workload.iterations)
        phases = costs.phases(machines, graph.edges, kept, warm=warm)
        opening = phases.pop("opening") if first else 0.0
        named = {
            "setup": phases["setup"] + opening,
            "read": phases["read"] if first else 0.0,
            "superstep": float(rows["seconds"].sum()),
            "write": phases["write"],
        }
        return named, rows, memory

    phases, rows, memory = at(engine.workers)
    evidence = Evidence(
        known.source,
        rows["seconds"].to_numpy(np.float64),
        math.hypot(std, known.common_std),
        model={
            "name": costs.name,
            "terms": costs.terms,
            "r2": costs.r2,
            "rows": costs.rows,
            "runs": costs.runs,
            "history_runs": known.history_runs,
            "start_seconds": costs.at("superstep start", engine.workers),
            "machines": sorted({run.machines for run in runs}),
        },
    )
    return RuntimeEstimate(
        evidence=[evidence],
        rows=Table(_counters(rows, engine.workers)),
        relative_std=std,
        phases=phases,
        phase_std=PHASE_STD,
        common_std=known.common_std,
        samples=[run.summary for run in known.samples],
        edge_visits=sum(run.edge_visits for run in known.samples),
        warnings=[
            *_reach_doubts(runs, engine.workers),
            *engine.session_doubts(),
            *known.warnings,
            *(memory.warnings if memory else []),
        ],
        at=lambda machines: at(machines)[0],
        executors=memory.to_dict() if memory else {},
        more=more,
    )


def _counters(rows: pd.DataFrame, machines: int) -> pd.DataFrame:
    """Return the table of iterations: messages before combining, bytes after it."""
    table = pd.DataFrame({"iteration": np.arange(1, len(rows) + 1)})
    for name in COUNTERS:
        table[name] = np.rint(rows[name].to_numpy(dtype=np.float64)).astype(np.int64)
    table["total_vertices"] = np.rint(rows["vertices"] * machines).astype(np.int64)
    moved = table["local_message_bytes"] + table["remote_message_bytes"]
    table["average_message_bytes"] = moved / np.maximum(
        table["local_messages"] + table["remote_messages"], 1.0
    )
    table["seconds"] = rows["seconds"].to_numpy()
    return table


def _reach_doubts(runs: list[ClusterRun], target: int) -> list[str]:
    most = max(run.machines for run in runs)
    if target <= 4 * most:
        return []
    return [
        f"the cost model was trained on {most} machines at most, far from {target}; "
        f"--train-machines {most},{target // 2} would narrow the interval"
    ]
