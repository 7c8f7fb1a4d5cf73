"""The prices of a run on a Spark cluster, at any machine count."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, Means, Prices, Witness, Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.engines.spark.graphx.algorithm import GraphXAlgorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts, fit_cluster_costs
from predict_graph.prediction.seconds.cluster.executor_memory import memory_of
from predict_graph.prediction.seconds.cluster.graphx_work import graphx_rows
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.seconds.cluster.observed_functions import (
    observed_estimate,
    observed_rows,
)
from predict_graph.prediction.seconds.cluster.placement import placement_of
from predict_graph.prediction.seconds.cluster.real_runs import between_graphs_std
from predict_graph.prediction.seconds.cluster.record_sizes import record_sizes
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.superstep_features import (
    predicted_rows,
    sent_messages,
)

__all__ = ["ClusterCosting", "priced"]

_OTHER_GRAPH = (
    "the sample runs are of another graph, whose records may be longer or shorter; --budget none "
    "runs samples of this one, which makes the seconds surer"
)
_REAL_RUNS = (
    "the seconds are learned from real runs of other graphs alone; learn, or --budget none, runs "
    "samples on the cluster, which makes them surer"
)
_PHASE_STD = 0.2  # of the next run's phases; judgement (intervals: docs/studies/spark.md)


class ClusterCosting:
    """What a Spark cluster charges for the work of a run.

    Iterations and messages are those of the algorithm, whatever runs it. What they cost is learned
    from sample runs on the cluster at a few machine counts, which need not be those of the real
    run, or from the lessons of earlier predictions.

    Parameters
    ----------
    engine : SparkEngine
        Its machines are those of the real run.
    graph : AnyGraph
    algorithms : sequence of Algorithm
        A chain, in the order in which they run.
    means : Means
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios", "train_machines"})

    def __init__(
        self, engine: SparkEngine, graph: AnyGraph, algorithms: Sequence[Algorithm], means: Means
    ) -> None:
        self._engine, self._graph, self._means = engine, graph, means
        self._algorithms = list(algorithms)
        self._learned: Learned | None = None

    def survey(self) -> None:
        """Do nothing: samples on this machine disturb no cluster."""

    def observe(self) -> list[IterationEstimate]:
        """Return the iterations of a function that only Spark can run, from its sample runs."""
        self._learned = learn_on_cluster(self._graph, self._engine, self._algorithms, self._means)
        return [observed_estimate(self._learned.runs[0], self._graph)]

    def price(self, workloads: Sequence[Workload]) -> list[Prices]:
        """Return what each algorithm of the chain takes; the first one opens the session."""
        learned = self._learned or learn_on_cluster(
            self._graph, self._engine, self._algorithms, self._means, workloads
        )
        return priced(learned, self._graph, self._engine, workloads, self._means.cost_model)


def priced(
    learned: Learned,
    graph: AnyGraph,
    engine: SparkEngine,
    workloads: Sequence[Workload],
    cost_model: str | None = None,
) -> list[Prices]:
    """Return the prices on the machines of `engine`, from what was learned at other counts.

    Parameters
    ----------
    learned : Learned
    graph : AnyGraph
    engine : SparkEngine
    workloads : sequence of Workload
        Of the algorithms of a chain, in the order in which they run.
    cost_model : str, optional
        Of a registered cost model.

    Raises
    ------
    JobError
        If no sample run came to its end.
    """
    return [
        _priced(
            graph,
            engine,
            workload,
            learned.runs[number],
            learned.others[number],
            cost_model,
            first=number == 0,
        )
        for number, workload in enumerate(workloads)
    ]


def _priced(
    graph: AnyGraph,
    engine: SparkEngine,
    workload: Workload,
    runs: list[ClusterRun],
    others: list[ClusterRun],
    cost_model: str | None,
    *,
    first: bool,
) -> Prices:
    """Return the prices of one algorithm; the first of a chain opens the session and reads."""
    costs = fit_cluster_costs(runs, others, cost_model)
    taught = bool(runs)
    runs = runs or _told(others, graph)
    elsewhere = all(run.elsewhere for run in runs)
    std = math.hypot(costs.relative_std, between_graphs_std(costs.errors) if elsewhere else 0.0)
    work = _work(graph, engine, workload, runs)

    warm = engine.is_warm(workload.algorithm)

    def at(machines: int) -> tuple[dict[str, float], pd.DataFrame]:
        rows = work(machines)
        rows["seconds"] = costs.supersteps(rows, machines, warm=warm)
        kept = engine.settings.checkpoints(workload.iterations)
        phases = costs.phases(machines, graph.edges, kept, warm=warm)
        opening = phases.pop("opening") if first else 0.0
        named = {
            "setup": phases["setup"] + opening,
            "read": phases["read"] if first else 0.0,
            "superstep": float(rows["seconds"].sum()),
            "write": phases["write"],
        }
        return named, rows

    phases, rows = at(engine.workers)
    memory = memory_of(runs, graph, rows, engine.settings)
    witness = Witness(
        _source(runs, taught),
        rows["seconds"].to_numpy(np.float64),
        std,
        model={
            "name": costs.name,
            "terms": costs.terms,
            "r2": costs.r2,
            "rows": costs.rows,
            "runs": costs.runs,
            "history_runs": len(others),
            "start_seconds": float(costs.start.sum()),
            "machines": sorted({run.machines for run in runs}),
        },
    )
    return Prices(
        witnesses=[witness],
        table=_counters(rows, engine.workers),
        relative_std=std,
        phases=phases,
        phase_std=_PHASE_STD,
        samples=[run.summary for run in runs],
        edge_visits=sum(run.edge_visits for run in runs),
        warnings=[
            *_reach_doubts(runs, engine.workers),
            *engine.session_doubts(),
            *([_OTHER_GRAPH if taught else _REAL_RUNS] if elsewhere else []),
            *_contradicted(costs),
            *(memory.warnings if memory else []),
        ],
        at=lambda machines: at(machines)[0],
        executors=memory.to_dict() if memory else {},
    )


def _told(others: list[ClusterRun], graph: AnyGraph) -> list[ClusterRun]:
    """Return the real runs that say how long records are: of this graph if there are any."""
    own = [run for run in others if not run.elsewhere]
    return own or others


def _source(runs: list[ClusterRun], taught: bool) -> str:
    if not taught:
        return "real runs on the cluster"
    again = all(run.again for run in runs)
    return "lessons of the cluster" if again else "sample runs on the cluster"


def _contradicted(costs: ClusterCosts) -> list[str]:
    """Say that the newest real runs are outside of what the lessons before them said."""
    count = costs.contradicted
    if not count:
        return []
    off = math.expm1(float(np.mean(costs.errors[:count])))
    runs = "the newest real run" if count == 1 else f"the {count} newest real runs"
    return [
        f"{runs} on this cluster took {abs(off):.0%} {'longer' if off > 0 else 'less'} than its "
        "lessons say: these are corrected by that; learn makes new ones"
    ]


def _work(
    graph: AnyGraph, engine: SparkEngine, workload: Workload, runs: list[ClusterRun]
) -> Callable[[int], pd.DataFrame]:
    """Return a function from a machine count to the features and counters of each iteration."""
    if isinstance(workload.algorithm, FunctionAlgorithm):

        def observed(machines: int) -> pd.DataFrame:
            there = engine.settings.on(machines)
            return observed_rows(
                runs, graph, workload.iterations, machines, there.partitions, there.executors
            )

        return observed
    if isinstance(workload.algorithm, GraphXAlgorithm):
        algorithm = workload.algorithm
        if not isinstance(graph, Graph):
            raise RequestError(
                f"{algorithm.name} is predicted for graphs that this machine reads; accepted: "
                "without --spark-reads"
            )
        whole = graph

        def counted(machines: int) -> pd.DataFrame:
            there = engine.settings.on(machines)
            return graphx_rows(runs, algorithm, whole, machines, there.partitions, there.executors)

        return counted
    sent = sent_messages(graph, workload)
    sizes = record_sizes(runs, len(sent))

    def known(machines: int) -> pd.DataFrame:
        settings = engine.settings.on(machines)
        placement = placement_of(graph, machines, settings.partitions, executors=settings.executors)
        return predicted_rows(graph, sent, placement, sizes)

    return known


def _counters(rows: pd.DataFrame, machines: int) -> pd.DataFrame:
    """Return the table of iterations: messages as they are sent, bytes as Spark moves them."""
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
        f"--train-machines {most},{target // 2} would make it surer"
    ]
