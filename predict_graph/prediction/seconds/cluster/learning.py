"""Fitting the costs on a Spark cluster to new sample runs, or to stored training runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.durations import readable_seconds
from predict_graph.engines import EstimationContext, Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.blocks.packing import check_driver_bytes
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph
from predict_graph.limits import limits
from predict_graph.prediction.seconds.cluster.cluster_costs import informative
from predict_graph.prediction.seconds.cluster.cluster_speed import ClusterSpeed, speed_of_cluster
from predict_graph.prediction.seconds.cluster.quote import Quote
from predict_graph.prediction.seconds.cluster.sample_plan import (
    WantedSample,
    affordable_points,
    training_points,
)
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun, cluster_sample_runs
from predict_graph.prediction.seconds.cluster.superstep_features import sent_messages
from predict_graph.prediction.seconds.cluster.training_runs import (
    new_training_run,
    real_runs,
    recall,
    training_records,
)
from predict_graph.prediction.seconds.sample_runs import DEFAULT_TRAIN_RATIOS

_SAMPLE_EDGE = 64  # bytes: its ends unsorted, sorted, and as a graph; limits the driver's memory
ENOUGH = 3  # bounds the warm sample runs of a fit from below: fewer only show the relative speed

TrainingRuns = list[list[ClusterRun]]
"""The runs of each algorithm of a chain."""


@dataclass(frozen=True)
class Learned:
    """Training runs of a chain of algorithms on a cluster, at any machine count."""

    runs: TrainingRuns
    others: TrainingRuns
    speed: ClusterSpeed = field(default_factory=ClusterSpeed)
    more: str = ""


def learn_on_cluster(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    context: EstimationContext,
    workloads: Sequence[Workload] = (),
) -> Learned:
    """Use the stored runs of the cluster, or else run the samples that the budget allows.

    Stored runs are training runs and real runs, including event logs. Without them, bundled
    reference runs estimate the time of sample runs, and those within the budget are run; if none
    is, runs of other algorithms show the relative speed of the cluster. All samples are run if the
    user sets their ratios or machine counts, or no budget. A user function without a known runtime
    is sampled in one session, unless the budget is unlimited.
    """
    others, runs = _of_history(graph, engine, algorithms, context)
    plan = _plan(graph, engine, algorithms, context, workloads, others, runs)
    quote = plan.quote
    if plan.points:
        runs = _run_samples(graph, engine, algorithms, context, plan.points, quote)
    runs = runs or [[] for _ in algorithms]
    if quote is None or len(informative(runs[-1])) >= ENOUGH:
        return Learned(runs, others, speed_of_cluster(context.history, engine))
    cost = readable_seconds(quote.plan_seconds(plan.whole))
    more = f"about {cost} of sample runs on the cluster would narrow the interval: --budget none"
    return Learned(runs, others, quote.speed, more)


def worth_running(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    context: EstimationContext,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    """Return the ratios that :func:`learn_on_cluster` would run at each machine count, or none."""
    others, runs = _of_history(graph, engine, algorithms, context)
    return _plan(graph, engine, algorithms, context, workloads, others, runs).points


def _of_history(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    context: EstimationContext,
) -> tuple[TrainingRuns, TrainingRuns | None]:
    """Return real runs of each algorithm, and stored training runs; None if new ones are needed."""
    others = [real_runs(context.history, each, engine, graph) for each in algorithms]
    if _new_samples_required(algorithms, context):
        return others, None
    return others, recall(context.history, list(algorithms), engine, graph)


def _new_samples_required(algorithms: Sequence[Algorithm], context: EstimationContext) -> bool:
    """Whether new samples are run regardless of stored runs and of their cost."""
    return _all_requested(context) or isinstance(algorithms[-1], FunctionAlgorithm)


def _all_requested(context: EstimationContext) -> bool:
    """Whether the user requests all samples: by ratios, machine counts, or an unlimited budget."""
    named = context.train_ratios is not None or context.train_machines is not None
    return named or context.fresh_samples


@dataclass(frozen=True)
class _Plan:
    """Samples to run: ratios at each machine count."""

    points: dict[int, list[float]]
    whole: dict[int, list[float]] = field(default_factory=dict)
    quote: Quote | None = None


def _plan(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithms: Sequence[Algorithm],
    context: EstimationContext,
    workloads: Sequence[Workload],
    others: TrainingRuns,
    runs: TrainingRuns | None,
) -> _Plan:
    """Return the samples to run: all, those within the budget, or none."""
    if _new_samples_required(algorithms, context):
        points = _sample_points(graph, engine, algorithms[-1], context, workloads)
        return _Plan(points if _all_requested(context) else _one_session(points, engine.workers))
    if all(others) or (runs is not None and len(informative(runs[-1])) >= ENOUGH):
        return _Plan({})
    quote = Quote(graph, engine, workloads, speed_of_cluster(context.history, engine))
    for run in runs[-1] if runs else ():
        quote.add_run(run)
    context.spending.expects(quote.run_seconds)
    whole = _sample_points(graph, engine, algorithms[-1], context, workloads)
    points = _affordable(whole, quote, engine.workers, context, first=runs is None)
    return _Plan(points, whole, quote)


def _affordable(
    whole: dict[int, list[float]],
    quote: Quote,
    machines: int,
    context: EstimationContext,
    *,
    first: bool,
) -> dict[int, list[float]]:
    """Return the samples within the budget: all, those of one session, or none.

    One session uses the machines of the real run, which avoids extrapolation over machines; it is
    not repeated if there was one before.
    """
    if context.spending.affords(quote.plan_seconds(whole)):
        return whole
    single = _one_session(whole, machines)
    return single if first and context.spending.affords(quote.first_seconds(single)) else {}


def _one_session(points: dict[int, list[float]], machines: int) -> dict[int, list[float]]:
    """Return the smallest and the largest ratio, on the machines of the real run."""
    ratios = sorted({ratio for own in points.values() for ratio in own})
    return {machines: sorted({ratios[0], ratios[-1]})}


def _sample_points(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithm: Algorithm,
    context: EstimationContext,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    """Return the ratios to run at each machine count; unchanged if set by the user.

    Samples of a graph on the cluster are limited by the memory of the driver.
    """
    points = _points(graph, engine, algorithm, context, workloads)
    if not isinstance(graph, ClusterGraph):
        return points
    largest = max(ratio for ratios in points.values() for ratio in ratios)
    needed = _SAMPLE_EDGE * largest * graph.edges
    if context.train_ratios is not None:
        check_driver_bytes(f"a sample of {largest:g} of {graph.name}", needed)
    factor = min(1.0, limits().driver_bytes / max(needed, 1.0))
    return {count: [factor * ratio for ratio in ratios] for count, ratios in points.items()}


def _points(
    graph: AnyGraph,
    engine: SparkEngine,
    algorithm: Algorithm,
    context: EstimationContext,
    workloads: Sequence[Workload],
) -> dict[int, list[float]]:
    counts = context.train_machines or default_train_machines(engine.workers)
    if engine.in_open_session:
        counts = (engine.workers,)
    ratios = context.train_ratios or DEFAULT_TRAIN_RATIOS
    points = training_points(ratios, counts)
    if context.train_ratios is not None:
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
    context: EstimationContext,
    points: dict[int, list[float]],
    quote: Quote | None = None,
) -> list[list[ClusterRun]]:
    """Run samples on the cluster, store each at once, and return them by algorithm.

    With a quote, it stops when the budget does not allow the next one.
    """
    identifier = new_training_run()
    rng = np.random.default_rng(context.seed).spawn(3)[1]
    runs: list[ClusterRun] = []

    def may_continue(machines: int, wanted: WantedSample, cold: bool) -> bool:
        if quote is None or not runs:
            return True
        cost = quote.sample_seconds(machines, wanted.ratio, cold=cold)
        return context.spending.affords(cost)

    for run in cluster_sample_runs(
        graph, algorithms[-1], context, engine, points, rng, may_continue
    ):
        runs.append(run)
        if quote is not None:
            quote.add_run(run)
            context.spending.expects(quote.run_seconds)
        if context.history is not None:
            context.history.keep(training_records(run, identifier, graph, context.seed))
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
