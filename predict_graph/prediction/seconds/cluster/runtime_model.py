"""The estimated runtime on a Spark cluster, for any machine count; the memory of executors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd

from predict_graph import engines
from predict_graph.engines.spark import SparkSettings
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction.seconds.cluster import sampling
from predict_graph.prediction.seconds.cluster.costs import (
    ALGORITHM_STD,
    CLUSTER_STD,
    RUN_STD,
    ClusterSpeed,
    reference_costs,
)
from predict_graph.prediction.seconds.cluster.runs import ClusterRun, shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.work import work_by_machines
from predict_graph.prediction.seconds.earlier_runs import PHASE_STD
from predict_graph.prediction.seconds.regression import fitted_line
from predict_graph.prediction.work import counted
from predict_graph.table import Table


class ClusterRuntimeModel(sampling.ClusterSamples):
    """The runtime model of a Spark cluster.

    Iterations and messages depend on the algorithm alone. Their costs are those of bundled
    reference runs, scaled to runs on the cluster at whatever machine counts.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})
    by_work_alone: ClassVar[bool] = True
    """Whether the samples of the iteration estimate are of no use for the runtime estimate."""

    _learned: sampling.Learned | None = None

    def observe(self) -> list[IterationEstimate]:
        """Return the iterations of a user function that only Spark can run, from its sample
        runs.
        """
        self._learned = self.learned()
        return [sampling.observed_estimate(self._learned.runs[0], self.graph)]

    def estimate(self, workloads: Sequence[engines.Workload]) -> list[engines.RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first includes session start."""
        learned = self._learned or self.learned(workloads)
        found: list[engines.RuntimeEstimate] = []
        before = 0  # the supersteps of those that run before it
        for workload, own in zip(workloads, learned.runs, strict=True):
            estimate = self._runtime_on(own, learned.speed, workload, before)
            found.append(replace(estimate, more=learned.more))
            before += round(workload.iterations)
        return found

    def _runtime_on(
        self, own: list[ClusterRun], speed: ClusterSpeed, workload: engines.Workload, before: int
    ) -> engines.RuntimeEstimate:
        """Return the estimate of an algorithm after so many supersteps of those that run before it.

        The first of all includes session start and reading.

        Its costs are those of reference runs, at the speed that its own runs on the cluster show,
        or else those of other algorithms.
        """
        graph, engine, algorithm = self.graph, self.engine, workload.algorithm
        name = shipped_name(algorithm)
        speed = speed.with_runs(name, own) if own else speed
        costs = reference_costs(name, self.parts[algorithm.name].cost_model)
        costs = costs.scaled(self._factors(name, speed), own)
        shown = [run for run in own if run.informative]
        std, common_std = deviations(shown, speed)
        source = _source(shown, speed)
        said = (
            f"the costs are those of {source}, of no run of this graph: learn, or --budget none, "
            "runs samples on the cluster, which narrows the interval"
        )
        warnings = [said] if all(run.elsewhere for run in shown) else []
        if not own and name != algorithm.name:  # the actual superstep is unknown
            std = math.hypot(std, ALGORITHM_STD)
            said = f"no run of {algorithm.name} is known: the estimate uses supersteps of {name}"
            warnings = [*warnings, said]
        runs = [run for run in own if not run.elsewhere] or own or shipped_runs(name)
        work = work_by_machines(graph, engine, workload, runs)
        passed = None if engine.is_warm(algorithm.name) else before
        kept = engine.settings.checkpoints(workload.iterations)
        packing = vars(graph).get("packing_seconds")  # of a graph that Spark reads

        def at(machines: int) -> dict[str, float]:
            sizes, given = (machines, graph.edges, kept), {"opens": not before, "reads": not before}
            found = costs.phases(work(machines), *sizes, **given, before=passed)
            if not before and packing is not None:
                found["read"] = packing * engine.workers / machines
            return found

        rows = work(engine.workers)
        executors = memory_of(runs, graph, rows, engine.settings, shipped_runs(name))
        evidence = engines.Evidence(
            source,
            costs.supersteps(rows, engine.workers, passed),
            math.hypot(std, common_std),
            model={
                "name": costs.fitted.name,
                "terms": costs.terms,
                "r2": costs.fitted.r2,
                "rows": costs.rows,
                "runs": sum(run.informative for run in own) or costs.runs,
                "history_runs": sum(run.real for run in own),
                "machines": sorted({run.machines for run in runs}),
            },
        )
        # Messages before combining, bytes after it.
        every = rows.assign(total_vertices=graph.vertices)
        return engines.RuntimeEstimate(
            evidence=evidence,
            rows=counted(Table(every)).assign(seconds=evidence.seconds),
            relative_std=std,
            phases=at(engine.workers),
            phase_std=PHASE_STD,
            common_std=common_std,
            samples=[run.summary for run in own],
            warnings=[*_reach_doubts(runs, engine.workers), *engine.session_doubts(), *warnings],
            at=at,
            executors=executors,
        )


def _source(own: Sequence[ClusterRun], speed: ClusterSpeed) -> str:
    """Return what the costs of an algorithm are estimated from."""
    if not own:
        known = _tasks_seen(speed)
        return "runs of other algorithms on the cluster" if known else "runs on another cluster"
    if not all(run.again for run in own):
        return "sample runs on the cluster"
    samples = any(not run.real for run in own)
    return "training runs of the cluster" if samples else "real runs on the cluster"


def _tasks_seen(speed: ClusterSpeed) -> bool:
    """Whether runs show what tasks take on the cluster, and not the opening of a session alone."""
    return any("tasks" in logs for logs in speed.observed.values())


def deviations(own: Sequence[ClusterRun], speed: ClusterSpeed) -> tuple[float, float]:
    """Return the standard deviations of supersteps, and common to all phases."""
    if not own:
        return RUN_STD, ALGORITHM_STD if _tasks_seen(speed) else CLUSTER_STD
    if not all(run.elsewhere for run in own):
        return RUN_STD, 0.0
    graphs = {run.record.fingerprint for run in own}
    return RUN_STD * math.sqrt(1.0 + 1.0 / len(graphs)), 0.0


def _reach_doubts(runs: list[ClusterRun], target: int) -> list[str]:
    most = max(run.machines for run in runs)
    said = f"the costs are those of {most} machines at most, far from {target}"
    return [said] if target > 4 * most else []


_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}  # by definition


def heap_bytes(memory: str) -> int:
    """Return the bytes of a size in Spark's notation, as its settings accept it.

    Examples
    --------
    >>> heap_bytes("2g"), heap_bytes("900M")
    (2147483648, 943718400)
    """
    return int(memory[:-1]) * _UNITS[memory[-1].lower()]


def memory_of(
    runs: list[ClusterRun],
    graph: Graph,
    rows: pd.DataFrame,
    settings: SparkSettings,
    usual: Sequence[ClusterRun],
) -> dict[str, int]:
    """Return the peak memory of an executor: a fixed part, and one that grows with its share.

    Spark allocates hash tables in pages of up to 64 MiB on large heaps, which dominate small runs
    and do not grow with the graph: the maximum of each size is used. Earlier runs of a session
    leave data in memory, so of storage it is the minimum.

    Empty without suitable runs: a log contains neither cached data nor the size of the graph.
    """
    telling = [run for run in runs if not run.seen_by_log and run.edges]
    if not telling:
        return {}
    if len({_share_of(run) for run in telling}) == 1:
        telling = [*telling, *usual]
    columns = ["peak_memory_bytes", "storage_bytes"]
    peaks = pd.DataFrame([run.record.table[columns].max() for run in telling]).astype(np.float64)
    by_share = peaks.groupby([_share_of(run) for run in telling])
    execution, storage = (
        fitted_line(each.index.to_numpy(np.float64), each.to_numpy(np.float64)).at(
            (graph.vertices + graph.edges) / settings.machines
        )
        for each in (by_share[columns[0]].max(), by_share[columns[1]].min())
    )
    moved = float(rows[["local_message_bytes", "remote_message_bytes"]].to_numpy().sum())
    heap = heap_bytes(settings.memory) - (300 << 20)  # which Spark reserves, by definition
    together = settings.machines / settings.executors  # in one process all share the heap
    return {
        "execution_bytes": int(execution * settings.cores * together),
        "storage_bytes": int(storage * together),
        "shuffle_bytes": int(moved / settings.executors),
        "available_bytes": int(0.6 * max(heap, 0)),  # spark.memory.fraction, by default
    }


def _share_of(run: ClusterRun) -> float:
    """Return the vertices and edges per machine."""
    return (run.record.vertices + run.edges) / run.machines
