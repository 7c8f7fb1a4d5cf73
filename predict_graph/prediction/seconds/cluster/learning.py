"""Learning what a Spark cluster charges: sample runs made there, or lessons of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Means, Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.graph import Graph
from predict_graph.history import History, machine_identity
from predict_graph.prediction.seconds.cluster.lessons import (
    cluster_settings,
    lesson_records,
    new_lesson,
    recall,
)
from predict_graph.prediction.seconds.cluster.sample_plan import (
    affordable_points,
    training_points,
)
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun, cluster_sample_runs
from predict_graph.prediction.seconds.cluster.superstep_features import (
    busiest_rows,
    sent_messages,
)
from predict_graph.prediction.seconds.sample_runs import DEFAULT_TRAIN_RATIOS

__all__ = ["Learned", "default_train_machines", "learn_on_cluster"]

_NEWEST_RUNS = 20


@dataclass(frozen=True)
class Learned:
    """What sample runs say about a chain of algorithms on a cluster, whatever its machine count.

    Parameters
    ----------
    runs : list of list of ClusterRun
        Of each algorithm, on the cluster.
    others : list of list of DataFrame
        Of each algorithm: rows of real runs of other graphs.
    """

    runs: list[list[ClusterRun]]
    others: list[list[pd.DataFrame]]


def learn_on_cluster(
    graph: Graph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    workloads: Sequence[Workload] = (),
) -> Learned:
    """Take the lessons that the history has of the cluster, or else run samples on it.

    New samples are run, too, where a person names their ratios or machine counts, or sets no limit
    to the cost; a function of the person's own is observed while they run.

    Parameters
    ----------
    graph : Graph
    engine : SparkEngine
        Its machines are those of the real run.
    algorithms : sequence of Algorithm
        A chain, in the order in which they run.
    means : Means
        Its history gets the sample runs, also when a later one fails.
    workloads : sequence of Workload
        Of the algorithms, if they are known: how large samples may be goes by them.

    Raises
    ------
    JobError
        If Spark fails.
    """
    asked = means.train_ratios is not None or means.train_machines is not None
    runs = None
    if not (asked or means.fresh_samples or isinstance(algorithms[-1], FunctionAlgorithm)):
        runs = recall(means.history, list(algorithms), engine, graph)
    if runs is None:
        points = _points(graph, engine, algorithms[-1], means, workloads)
        runs = _run_samples(graph, engine, algorithms, means, points)
    others = [_others(means.history, graph, engine, each) for each in algorithms]
    return Learned(runs, others)


def _points(
    graph: Graph,
    engine: SparkEngine,
    algorithm: Algorithm,
    means: Means,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    """Return the ratios to run at each machine count; those that the user asked for as they are."""
    counts = means.train_machines or default_train_machines(engine.workers)
    if engine.in_open_session:
        counts = (engine.workers,)
    ratios = means.train_ratios or DEFAULT_TRAIN_RATIOS
    points = training_points(_ends(ratios), counts, engine.workers)
    if means.train_ratios is not None:
        return points
    work = None
    if workloads:
        sent = sent_messages(graph, workloads[-1])["messages"].to_numpy(np.float64)
        work = sent + graph.vertices
    return affordable_points(points, engine.workers, graph.edges, algorithm, work)


def _run_samples(
    graph: Graph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    points: dict[int, list[float]],
) -> list[list[ClusterRun]]:
    """Run samples on the cluster, keep each at once, and return them algorithm by algorithm."""
    lesson = new_lesson()
    rng = np.random.default_rng(means.seed).spawn(3)[1]
    runs: list[ClusterRun] = []
    for run in cluster_sample_runs(graph, algorithms[-1], means, engine, points, rng):
        runs.append(run)
        if means.history is not None:
            means.history.add_all(lesson_records(run, lesson, graph, means.seed))
    parts = len(algorithms)
    return [[_of_part(run, number, parts) for run in runs] for number in range(parts)]


def default_train_machines(target: int) -> tuple[int, ...]:
    """Return the machine counts of the sample runs: one, two, and half of many.

    Examples
    --------
    >>> default_train_machines(1), default_train_machines(4), default_train_machines(16)
    ((1,), (1, 2), (1, 2, 4))
    """
    counts = {1, min(2, target)}
    if target >= 8:
        counts.add(4)
    return tuple(sorted(counts))


def _ends(ratios: tuple[float, ...]) -> tuple[float, ...]:
    """Return the smallest, a middle and the largest ratio: what costs grow with shows there."""
    return tuple(sorted({ratios[0], ratios[len(ratios) // 2], ratios[-1]}))


def _of_part(run: ClusterRun, number: int, parts: int) -> ClusterRun:
    """Return the run of one algorithm of a chain, with its own phases."""
    profile = run.profile
    for _ in range(parts - 1 - number):
        assert profile.prior is not None
        profile = profile.prior
    if profile.prior is None:
        return replace(run, profile=profile)
    before = profile.prior.phases
    phases = {**profile.phases, "setup": profile.phases["setup"] - before["setup"], "read": 0.0}
    return replace(run, profile=replace(profile, phases=phases), session_seconds=0.0)


def _others(
    history: History | None, graph: Graph, engine: SparkEngine, algorithm: Algorithm
) -> list[pd.DataFrame]:
    """Return the rows of real runs of other graphs on this cluster, whatever their machines."""
    if history is None:
        return []
    found = history.training_runs(
        algorithm.name,
        cluster_settings(engine),
        machine_identity(),
        exclude_fingerprint=graph.fingerprint,
        limit=_NEWEST_RUNS,
    )
    machines = {int(i): dict(e)["machines"] for i, e in _engines(found.runs)}
    return [
        busiest_rows(table, machines[int(table["run"].iloc[0])], engine.settings.cores)
        for _, table in found.table.groupby("run")
    ]


def _engines(runs: pd.DataFrame) -> list[tuple[int, Any]]:
    return list(zip(runs["id"], runs["engine"], strict=True)) if len(runs) else []
