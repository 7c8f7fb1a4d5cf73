"""Learning what a Spark cluster charges: sample runs made there, or lessons of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.durations import readable_seconds
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
from predict_graph.prediction.seconds.cluster.level import UNKNOWN, Level, level_of_cluster
from predict_graph.prediction.seconds.cluster.quote import Quote
from predict_graph.prediction.seconds.cluster.real_runs import real_runs
from predict_graph.prediction.seconds.cluster.sample_plan import (
    WantedSample,
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
    "worth_running",
]

_SAMPLE_EDGE = 64  # bytes: its ends as they come, sorted, and as a graph; judgement
_ENOUGH = 3  # warm sample runs that costs are fitted to: fewer tell a level only; a choice

Lesson = list[list[ClusterRun]]
"""Runs of each algorithm of a chain."""


@dataclass(frozen=True)
class Learned:
    """What is known of the costs of a chain of algorithms on a cluster, whatever its machine count.

    Parameters
    ----------
    runs : list of list of ClusterRun
        Of each algorithm, on the cluster.
    others : list of list of ClusterRun
        Of each algorithm: real runs on this cluster, newest first.
    level : Level, optional
        Where these are too few to fit costs to: how slow the cluster is beside the one that the
        shipped lessons are of.
    more : str
        What a larger budget would buy.
    cluster : Level
        What runs of all algorithms on the cluster say of it.
    """

    runs: Lesson
    others: Lesson
    level: Level | None = None
    more: str = ""
    cluster: Level = UNKNOWN


def learn_on_cluster(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    workloads: Sequence[Workload] = (),
) -> Learned:
    """Take what the history has of the cluster, or else run as many samples there as are worth it.

    That is lessons, and real runs; or these alone, those of event logs included. Where there are
    none, the lessons that come with the package say what sample runs would take: those that the
    budget affords are run, and where it affords none, what other algorithms took on the cluster
    says how slow it is. All samples are run where a person names their ratios or machine counts,
    or sets no limit to the cost; a function of the person's own is observed while those of one
    session run, unless it is without a limit: nothing says before what it takes.

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
        Of the algorithms, if they are known: how large samples may be, and what they cost, goes by
        them.

    Raises
    ------
    JobError
        If Spark fails.
    """
    others, runs = _of_history(graph, engine, algorithms, means)
    plan = _plan(graph, engine, algorithms, means, workloads, others, runs)
    quote = plan.quote
    if plan.points:
        runs = _run_samples(graph, engine, algorithms, means, plan.points, quote)
    runs = runs or [[] for _ in algorithms]
    if quote is None or _warm_runs(runs) >= _ENOUGH:
        return Learned(runs, others, cluster=level_of_cluster(means.history, engine))
    cost = readable_seconds(quote.plan_seconds(plan.whole))
    more = f"about {cost} of sample runs on the cluster would narrow this (--budget none)"
    return Learned(runs, others, quote.level, more)


def worth_running(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    """Return the ratios that :func:`learn_on_cluster` would run at each machine count; or none."""
    others, runs = _of_history(graph, engine, algorithms, means)
    return _plan(graph, engine, algorithms, means, workloads, others, runs).points


def _of_history(
    graph: AnyGraph, engine: SparkEngine, algorithms: Sequence[Algorithm], means: Means
) -> tuple[Lesson, Lesson | None]:
    """Return real runs of each algorithm, and the sample runs of lessons; None for new ones."""
    others = [real_runs(means.history, each, engine, graph) for each in algorithms]
    if _whatever_it_costs(algorithms, means):
        return others, None
    return others, recall(means.history, list(algorithms), engine, graph)


def _whatever_it_costs(algorithms: Sequence[Algorithm], means: Means) -> bool:
    """Whether new samples are run whatever is known, and whatever they cost."""
    return _all_asked(means) or isinstance(algorithms[-1], FunctionAlgorithm)


def _all_asked(means: Means) -> bool:
    """Whether a person wants all samples: by their ratios or machine counts, or without a limit."""
    named = means.train_ratios is not None or means.train_machines is not None
    return named or means.fresh_samples


@dataclass(frozen=True)
class _Plan:
    """Samples to run: ratios at each machine count.

    Parameters
    ----------
    points : dict of int to list of float
        Those that are worth it; empty if none is.
    whole : dict of int to list of float
        Those that would be run without a limit.
    quote : Quote, optional
        What they will take, where that was asked.
    """

    points: dict[int, list[float]]
    whole: dict[int, list[float]] = field(default_factory=dict)
    quote: Quote | None = None


def _plan(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    means: Means,
    workloads: Sequence[Workload],
    others: Lesson,
    runs: Lesson | None,
) -> _Plan:
    """Return the samples to run: all whatever they cost, those that the budget affords, or none."""
    if _whatever_it_costs(algorithms, means):
        points = _sample_points(graph, engine, algorithms[-1], means, workloads)
        return _Plan(points if _all_asked(means) else _one_session(points, engine.workers))
    if all(others) or (runs is not None and _warm_runs(runs) >= _ENOUGH):
        return _Plan({})
    quote = Quote(graph, engine, workloads, level_of_cluster(means.history, engine))
    for run in runs[-1] if runs else ():
        quote.hears(run)
    means.purse.expects(quote.run_seconds)
    whole = _sample_points(graph, engine, algorithms[-1], means, workloads)
    points = _affordable(whole, quote, engine.workers, means, first=runs is None)
    return _Plan(points, whole, quote)


def _warm_runs(runs: Sequence[Sequence[ClusterRun]]) -> int:
    """Return how many runs of a lesson costs can be fitted to."""
    return sum(not run.cold and run.summary.purpose == "cost" for run in runs[-1])


def _affordable(
    whole: dict[int, list[float]], quote: Quote, machines: int, means: Means, *, first: bool
) -> dict[int, list[float]]:
    """Return the samples that the budget affords: all, those of one session, or none.

    One session is on the machines of the real run, so that nothing need be carried over from other
    counts; it is not held where there was one before.
    """
    if means.purse.affords(quote.plan_seconds(whole)):
        return whole
    single = _one_session(whole, machines)
    return single if first and means.purse.affords(quote.first_seconds(single)) else {}


def _one_session(points: dict[int, list[float]], machines: int) -> dict[int, list[float]]:
    """Return the smallest and the largest ratio, on the machines of the real run."""
    ratios = sorted({ratio for own in points.values() for ratio in own})
    return {machines: sorted({ratios[0], ratios[-1]})}


def _sample_points(
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
    quote: Quote | None = None,
) -> list[list[ClusterRun]]:
    """Run samples on the cluster, keep each at once, and return them algorithm by algorithm.

    With a quote, as long as the budget affords the next one.
    """
    lesson = new_lesson()
    rng = np.random.default_rng(means.seed).spawn(3)[1]
    runs: list[ClusterRun] = []

    def goes_on(machines: int, wanted: WantedSample, cold: bool) -> bool:
        if quote is None or not runs:
            return True
        cost = quote.sample_seconds(machines, wanted.ratio, cold=cold)
        return means.purse.affords(cost)

    for run in cluster_sample_runs(graph, algorithms[-1], means, engine, points, rng, goes_on):
        runs.append(run)
        if quote is not None:
            quote.hears(run)
            means.purse.expects(quote.run_seconds)
        if means.history is not None:
            means.history.keep(lesson_records(run, lesson, graph, means.seed))
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
