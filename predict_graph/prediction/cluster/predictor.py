"""Predicting a run on a Spark cluster, its prior included."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, Engine
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.own.algorithm import OwnAlgorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.history import History
from predict_graph.iterations import QUANTILE, IterationEstimate
from predict_graph.prediction.cluster.costs import fit_cluster_costs
from predict_graph.prediction.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.cluster.memory import memory_of
from predict_graph.prediction.cluster.observed import observed_rows
from predict_graph.prediction.cluster.placement import placement_of
from predict_graph.prediction.cluster.records import record_sizes
from predict_graph.prediction.cluster.sample_runs import ClusterRun
from predict_graph.prediction.cluster.work import predicted_rows, sent_messages
from predict_graph.prediction.doubts import graph_doubts
from predict_graph.prediction.prediction import Interval, Prediction
from predict_graph.prediction.request import Request

__all__ = ["predict_from", "predict_on_cluster"]

_ELSEWHERE_STD = 0.35  # of supersteps by samples of another graph (docs/studies/spark.md)
_ELSEWHERE = (
    "the sample runs are of another graph, whose records may be longer or shorter; without "
    "--reuse-samples, those of this graph make the seconds surer"
)
_MEASURED_STD = 0.2  # of phases that sample runs measured: the next time differs so much


def predict_on_cluster(
    graph: Graph, request: Request, engine: Engine, history: History | None
) -> Prediction:
    """Predict a run on the cluster of `engine`, without running it.

    Iterations and messages are those of the algorithm, whatever runs it: they are estimated here,
    from samples, with the compiled kernels. What they cost is learned from sample runs on the
    cluster at the machine counts of `train_machines`, which need not be those of the real run.

    Parameters
    ----------
    graph : Graph
    request : Request
    engine : SparkEngine
        Its machines are those of the real run.
    history : History or None
        Gets the sample runs, also when a later one fails; real runs of other graphs on the same
        cluster train the cost model too.

    Raises
    ------
    JobError
        If Spark fails.
    """
    if not isinstance(engine, SparkEngine):
        raise RequestError(f"the engine {type(engine).__name__} is called 'spark', but is another")
    return predict_from(learn_on_cluster(graph, request, engine, history), graph, engine)


def predict_from(learned: Learned, graph: Graph, engine: SparkEngine) -> Prediction:
    """Predict the run on the machines of `engine` from what was learned at other counts."""
    predictions = [
        _predicted(
            graph,
            request,
            engine,
            learned.estimates[number],
            learned.runs[number],
            learned.others[number],
            first=number == 0,
        )
        for number, request in enumerate(learned.requests)
    ]
    result = predictions[0]
    for prediction in predictions[1:]:
        result = prediction.after(result)
    return replace(result, overhead_seconds=learned.seconds)


def _predicted(
    graph: Graph,
    request: Request,
    engine: SparkEngine,
    estimate: IterationEstimate,
    runs: list[ClusterRun],
    others: list[pd.DataFrame],
    *,
    first: bool,
) -> Prediction:
    """Return the prediction of one algorithm; the first of a chain opens the session and reads."""
    algorithm = request.algorithm
    costs = fit_cluster_costs(runs, others, request.cost_model)
    elsewhere = any(run.elsewhere for run in runs)
    cost_std = math.hypot(costs.relative_std, _ELSEWHERE_STD if elsewhere else 0.0)
    work = _work(graph, algorithm, engine, estimate, runs)

    def at(machines: int) -> tuple[dict[str, float], pd.DataFrame]:
        rows = work(machines)
        rows["seconds"] = costs.supersteps(rows, machines)
        phases = costs.phases(machines, graph.edges)
        opening = phases.pop("opening") if first else 0.0
        named = {
            "setup": phases["setup"] + opening,
            "read": phases["read"] if first else 0.0,
            "superstep": float(rows["seconds"].sum()),
            "write": phases["write"],
        }
        return named, rows

    phases, rows = at(engine.workers)
    table = _counters(rows, estimate, engine.workers)
    memory = memory_of(runs, graph, rows, engine.settings)
    by_machines: list[Mapping[str, float]] = []
    for machines in _machine_counts(engine.workers):
        other, _ = at(machines)
        interval = _runtime(other, estimate, cost_std)
        by_machines.append({"machines": machines, **interval.to_dict()})
    return Prediction(
        algorithm={"name": algorithm.name, "parameters": algorithm.to_dict()},
        graph=graph.describe(),
        engine=engine.describe(),
        seed=request.seed,
        iterations=Interval(estimate.iterations, estimate.low, estimate.high),
        runtime_seconds=_runtime(phases, estimate, cost_std),
        phases=phases,
        per_iteration=table,
        samples=[*estimate.samples, *(run.summary for run in runs)],
        cost_model={
            "name": costs.name,
            "terms": costs.terms,
            "r2": costs.r2,
            "relative_std": cost_std,
            "rows": costs.rows,
            "runs": costs.runs,
            "history_runs": len(others),
            "probe_factor": 1.0,
            "transfer_factor": None,
            "start_seconds": float(costs.start.sum()),
            "machines": sorted({run.machines for run in runs}),
        },
        overhead_seconds=0.0,
        edge_visits=estimate.edge_steps + sum(run.edge_visits for run in runs),
        method={
            "name": estimate.method,
            "sampler": request.sampler,
            "ratio": request.ratio,
            "transform": request.transform.name,
            "threshold": algorithm.threshold(graph.vertices),
        },
        warnings=[
            *graph_doubts(graph),
            *estimate.warnings,
            *_reach_doubts(runs, engine.workers),
            *([_ELSEWHERE] if elsewhere else []),
            *memory.warnings,
        ],
        executors=memory.to_dict(),
        by_machines=by_machines,
    )


def _work(
    graph: Graph,
    algorithm: Algorithm,
    engine: SparkEngine,
    estimate: IterationEstimate,
    runs: list[ClusterRun],
) -> Callable[[int], pd.DataFrame]:
    """Return a function from a machine count to the features and counters of each iteration."""
    if isinstance(algorithm, OwnAlgorithm):

        def observed(machines: int) -> pd.DataFrame:
            there = engine.settings.on(machines)
            return observed_rows(
                runs, graph, estimate.iterations, machines, there.partitions, there.executors
            )

        return observed
    sent = sent_messages(graph, estimate)
    sizes = record_sizes(runs, len(sent))

    def known(machines: int) -> pd.DataFrame:
        settings = engine.settings.on(machines)
        placement = placement_of(graph, machines, settings.partitions, executors=settings.executors)
        return predicted_rows(graph, sent, placement, sizes)

    return known


def _machine_counts(target: int) -> list[int]:
    """Return the machine counts that a prediction says something about besides its own.

    Examples
    --------
    >>> _machine_counts(5)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
    """
    few = range(1, min(2 * target, 8) + 1)
    many = (12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
    return sorted({*few, target, 2 * target, *(n for n in many if n <= max(4 * target, 16))})


def _counters(rows: pd.DataFrame, estimate: IterationEstimate, machines: int) -> pd.DataFrame:
    """Return the table of iterations."""
    table = pd.DataFrame({"iteration": np.arange(1, len(rows) + 1)})
    for name in COUNTERS:
        table[name] = np.rint(rows[name].to_numpy(dtype=np.float64)).astype(np.int64)
    table["total_vertices"] = np.rint(rows["vertices"] * machines).astype(np.int64)
    moved = table["local_message_bytes"] + table["remote_message_bytes"]
    table["average_message_bytes"] = moved / np.maximum(
        table["local_messages"] + table["remote_messages"], 1.0
    )
    table["seconds"] = rows["seconds"].to_numpy()
    table["convergence"] = estimate.curve
    return table


def _runtime(phases: dict[str, float], estimate: IterationEstimate, cost_std: float) -> Interval:
    total = sum(phases.values())
    iteration_std = math.log(max(estimate.high, 1) / max(estimate.low, 1)) / 2.0 / QUANTILE
    spread = math.hypot(
        phases["superstep"] * math.hypot(iteration_std, cost_std),
        _MEASURED_STD * (phases["setup"] + phases["read"]),
    )
    factor = math.exp(QUANTILE * spread / total) if total else 1.0
    return Interval(total, total / factor, total * factor)


def _reach_doubts(runs: list[ClusterRun], target: int) -> list[str]:
    most = max(run.machines for run in runs)
    if target <= 4 * most:
        return []
    return [
        f"the cost model was trained on {most} machines at most, far from {target}; "
        f"--train-machines {most},{target // 2} would make it surer"
    ]
