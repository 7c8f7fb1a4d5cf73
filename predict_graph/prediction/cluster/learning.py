"""Learning about a job on a Spark cluster: estimates made here, and sample runs made there."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.own.algorithm import OwnAlgorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.history import History, machine_identity
from predict_graph.iterations import EdgeBudget, IterationEstimate, estimate_iterations
from predict_graph.prediction.cluster.lessons import (
    cluster_settings,
    lesson_records,
    new_lesson,
    recall,
)
from predict_graph.prediction.cluster.observed import observed_estimate
from predict_graph.prediction.cluster.sample_plan import affordable_points, training_points
from predict_graph.prediction.cluster.sample_runs import ClusterRun, cluster_sample_runs
from predict_graph.prediction.cluster.work import busiest_rows, sent_messages
from predict_graph.prediction.request import DEFAULT_TRAIN_RATIOS, Request

__all__ = [
    "Learned",
    "chain_of",
    "default_train_machines",
    "estimates_of",
    "learn_on_cluster",
]

_NEWEST_RUNS = 20


@dataclass(frozen=True)
class Learned:
    """What samples say about a job on a cluster, whatever its machine count.

    Parameters
    ----------
    requests : list of Request
        The algorithms of the chain, in the order in which they run.
    estimates : list of IterationEstimate
        Of each.
    runs : list of list of ClusterRun
        Of each algorithm, on the cluster.
    others : list of list of DataFrame
        Of each algorithm: rows of real runs of other graphs.
    seconds : float
        What it took.
    """

    requests: list[Request]
    estimates: list[IterationEstimate]
    runs: list[list[ClusterRun]]
    others: list[list[pd.DataFrame]]
    seconds: float


def learn_on_cluster(
    graph: Graph, request: Request, engine: SparkEngine, history: History | None
) -> Learned:
    """Estimate the iterations, and run samples on the cluster; see :func:`predict_on_cluster`.

    With `reuse_samples`, the sample runs of an earlier prediction take the place of new ones.
    """
    started = time.perf_counter()
    streams = np.random.default_rng(request.seed).spawn(2)
    parts = chain_of(request)
    own = isinstance(request.algorithm, OwnAlgorithm)
    if request.reuse_samples and own:
        raise RequestError(
            f"{request.algorithm.name} is observed while its samples run, so that earlier ones "
            "cannot be reused; leave --reuse-samples out"
        )
    if request.reuse_samples:
        runs = recall(history, [part.algorithm for part in parts], engine, graph)
    estimates = [] if own else estimates_of(graph, parts, streams[0])
    if not request.reuse_samples:
        points = _points(graph, request, engine, estimates)
        runs = _run_samples(graph, request, parts, engine, history, points, streams[1])
    if own:
        estimates = [observed_estimate(runs[0], graph)]
    others = [_others(history, graph, part, engine) for part in parts]
    return Learned(parts, estimates, runs, others, time.perf_counter() - started)


def _points(
    graph: Graph, request: Request, engine: SparkEngine, estimates: list[IterationEstimate]
) -> dict[int, list[float]]:
    """Return the ratios to run at each machine count; those that the user asked for as they are."""
    counts = request.train_machines or default_train_machines(engine.workers)
    points = training_points(_ends(request.train_ratios), counts, engine.workers)
    if request.train_ratios != DEFAULT_TRAIN_RATIOS:
        return points
    work = None
    if estimates:
        sent = sent_messages(graph, estimates[-1])["messages"].to_numpy(np.float64)
        work = sent + graph.vertices
    return affordable_points(points, engine.workers, graph.edges, request.algorithm, work)


def _run_samples(
    graph: Graph,
    request: Request,
    parts: list[Request],
    engine: SparkEngine,
    history: History | None,
    points: dict[int, list[float]],
    rng: np.random.Generator,
) -> list[list[ClusterRun]]:
    """Run samples on the cluster, keep each at once, and return them algorithm by algorithm."""
    lesson = new_lesson()
    runs: list[ClusterRun] = []
    for run in cluster_sample_runs(graph, parts[-1].algorithm, request, engine, points, rng):
        runs.append(run)
        if history is not None:
            history.add_all(lesson_records(run, lesson, graph, request.seed))
    return [[_of_part(run, number, len(parts)) for run in runs] for number in range(len(parts))]


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


def chain_of(request: Request) -> list[Request]:
    """Return the requests of a chain of algorithms, in the order in which they run."""
    prior = request.algorithm.prior
    return [request] if prior is None else [*chain_of(request.for_prior(prior)), request]


def _ends(ratios: tuple[float, ...]) -> tuple[float, ...]:
    """Return few of many ratios: the smallest, one between, and the largest."""
    return tuple(sorted({ratios[0], ratios[len(ratios) // 2], ratios[-1]}))


def estimates_of(
    graph: Graph, parts: list[Request], rng: np.random.Generator
) -> list[IterationEstimate]:
    """Estimate the iterations of each algorithm of a chain, on this machine."""
    return [
        estimate_iterations(
            graph,
            part.algorithm,
            LocalEngine(workers=part.engine.workers),
            part.transform,
            method=part.method,
            sampler=part.sampler,
            ratio=part.ratio,
            budget=EdgeBudget(graph.edges, part.max_overhead),
            rng=rng,
            progress=part.progress,
        )
        for part in parts
    ]


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
    history: History | None, graph: Graph, request: Request, engine: SparkEngine
) -> list[pd.DataFrame]:
    """Return the rows of real runs of other graphs on this cluster, whatever their machines."""
    if history is None:
        return []
    found = history.training_runs(
        request.algorithm.name,
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
