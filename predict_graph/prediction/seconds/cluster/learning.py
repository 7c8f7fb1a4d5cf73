"""Learning what a Spark cluster charges: sample runs made there, or lessons of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Means, Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.blocks.packing import check_driver_bytes
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph
from predict_graph.limits import limits
from predict_graph.prediction.seconds.cluster.lessons import (
    lesson_records,
    new_lesson,
    recall,
)
from predict_graph.prediction.seconds.cluster.real_runs import real_runs
from predict_graph.prediction.seconds.cluster.sample_plan import (
    affordable_points,
    training_points,
)
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun, cluster_sample_runs
from predict_graph.prediction.seconds.cluster.superstep_features import sent_messages
from predict_graph.prediction.seconds.sample_runs import DEFAULT_TRAIN_RATIOS

__all__ = [
    "Learned",
    "default_train_machines",
    "learn_on_cluster",
    "remembered",
    "sample_points",
]

_SAMPLE_EDGE = 64  # bytes: its ends as they come, sorted, and as a graph; judgement


@dataclass(frozen=True)
class Learned:
    """What sample runs say about a chain of algorithms on a cluster, whatever its machine count.

    Parameters
    ----------
    runs : list of list of ClusterRun
        Of each algorithm, on the cluster.
    others : list of list of ClusterRun
        Of each algorithm: real runs on this cluster, newest first.
    """

    runs: list[list[ClusterRun]]
    others: list[list[ClusterRun]]


def learn_on_cluster(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    workloads: Sequence[Workload] = (),
) -> Learned:
    """Take what the history has of the cluster, or else run samples on it.

    That is lessons, and real runs; or these alone, those of event logs included. New samples are
    run where a person names their ratios or machine counts, or sets no limit to the cost; a
    function of the person's own is observed while they run.

    Parameters
    ----------
    graph : AnyGraph
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
    others = [real_runs(means.history, each, engine, graph) for each in algorithms]
    runs = remembered(graph, engine, algorithms, means, others)
    if runs is None:
        points = sample_points(graph, engine, algorithms[-1], means, workloads)
        runs = _run_samples(graph, engine, algorithms, means, points)
    return Learned(runs, others)


def remembered(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    others: Sequence[Sequence[ClusterRun]],
) -> list[list[ClusterRun]] | None:
    """Return the sample runs of lessons, none where real runs do without; None for new ones.

    Parameters
    ----------
    graph, engine, algorithms, means
        As in :func:`learn_on_cluster`.
    others : sequence of sequence of ClusterRun
        Real runs of each algorithm.
    """
    asked = means.train_ratios is not None or means.train_machines is not None
    if asked or means.fresh_samples or isinstance(algorithms[-1], FunctionAlgorithm):
        return None
    runs = recall(means.history, list(algorithms), engine, graph)
    return [[] for _ in algorithms] if runs is None and all(others) else runs


def sample_points(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithm: Algorithm,
    means: Means,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    """Return the ratios to run at each machine count; those that the user asked for as they are.

    Samples of a graph that stays on the cluster are as large as the driver may hold.
    """
    points = _points(graph, engine, algorithm, means, workloads)
    if not isinstance(graph, ClusterGraph):
        return points
    largest = max(ratio for ratios in points.values() for ratio in ratios)
    needed = _SAMPLE_EDGE * largest * graph.edges
    if means.train_ratios is not None:
        check_driver_bytes(f"a sample of {largest:g} of {graph.name}", needed)
    factor = min(1.0, limits().driver_bytes / max(needed, 1.0))
    return {count: [factor * ratio for ratio in ratios] for count, ratios in points.items()}


def _points(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithm: Algorithm,
    means: Means,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
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
    graph: AnyGraph,
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
