"""Sample runs on the cluster, as planned, one session for each machine count."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Means, RunProfile
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph
from predict_graph.iterations import SampleSummary, draw_sample
from predict_graph.prediction.seconds.cluster.exchanged_records import exchange_measures
from predict_graph.prediction.seconds.cluster.folding import folded
from predict_graph.prediction.seconds.cluster.sample_plan import (
    WantedSample,
    sample_plan,
    supersteps_run,
)

__all__ = [
    "REAL",
    "WARM_UP",
    "ClusterRun",
    "by_session",
    "cluster_sample_runs",
    "ran_sample",
    "settled",
]

WARM_UP = "warm-up"
"""Purpose of runs that are there to make Java compile what is run, and to show how long it does."""
REAL = "run"
"""Purpose of real runs, of whole graphs."""
_STILL_FASTER = 0.2  # a choice: the runs of docs/studies/spark.md took 12, 5.4, 3.4 s
_MOST_WARM_UPS = 2  # a choice, of what they cost


@dataclass(frozen=True)
class ClusterRun:
    """A sample run on the cluster.

    Parameters
    ----------
    machines : int
    ratio : float
    cold : bool
        Whether it was the first of its session.
    session_seconds : float
        What opening the session took.
    profile : RunProfile
    summary : SampleSummary
    again : bool
        Whether it is of an earlier prediction, and was not run for this one.
    elsewhere : bool
        Whether it is of a sample of another graph.
    seen_by_log : bool
        Whether it was observed in an event log: its messages are the records that Spark exchanged.
    time : datetime, optional
        When it ran, if not for this prediction.
    measures : ndarray of float64, optional
        Of what it ran on, for jobs of which nothing else is known; see
        :func:`~predict_graph.prediction.seconds.cluster.exchanged_records.exchange_measures`.
    """

    machines: int
    ratio: float
    cold: bool
    session_seconds: float
    profile: RunProfile
    summary: SampleSummary
    again: bool = False
    elsewhere: bool = False
    seen_by_log: bool = False
    time: datetime | None = None
    measures: npt.NDArray[np.float64] | None = None

    @property
    def edge_visits(self) -> float:
        """Edges that it looked at, iteration by iteration; 0 if it was not run for this prediction.

        A job of which nothing else is known looked at what it exchanged.
        """
        if self.again:
            return 0.0
        if self.measures is not None:
            return float(self.exchanged()["messages"].sum())
        return float(self.summary.edges * self.summary.iterations)

    @property
    def real(self) -> bool:
        """Whether it is a real run, and no sample run."""
        return self.summary.purpose == REAL

    def exchanged(self) -> pd.DataFrame:
        """Return who sent what in each iteration, summed over workers; a row an iteration."""
        names = [
            "active_vertices",
            "local_messages",
            "remote_messages",
            "shuffle_read_records",
            "shuffle_write_records",
            "shuffle_write_bytes",
        ]
        sums = self.profile.table.groupby("iteration")[names].sum().astype(np.float64)
        return sums.assign(messages=sums["local_messages"] + sums["remote_messages"])


def by_session(runs: list[ClusterRun]) -> list[list[ClusterRun]]:
    """Return runs by the session in which they ran, in their order: each starts with a cold one.

    Unless another algorithm began it; a session is on so many machines.
    """
    sessions: list[list[ClusterRun]] = []
    for run in runs:
        if run.cold or not sessions or run.machines != sessions[-1][-1].machines:
            sessions.append([])
        sessions[-1].append(run)
    return sessions


def cluster_sample_runs(
    graph: AnyGraph,
    algorithm: Algorithm,
    means: Means,
    engine: SparkEngine,
    points: dict[int, list[float]],
    rng: np.random.Generator,
    goes_on: Callable[[int, WantedSample, bool], bool] = lambda machines, wanted, cold: True,
) -> Iterator[ClusterRun]:
    """Run samples on the cluster; each is given as soon as it is done, so that none is lost.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    means : Means
        Its sampler draws the samples that are walks.
    engine : SparkEngine
    points : dict of int to list of float
        See :func:`~predict_graph.prediction.seconds.cluster.sample_plan.training_points`.
    rng : Generator
    goes_on : callable (machines, WantedSample, cold) -> bool
        Whether the next run is worth it; asked of all but the run that the first of a session is
        held against. What is not, and all after it, is not run.

    Raises
    ------
    JobError
        If Spark fails.
    """
    samples: dict[WantedSample, Graph] = {}
    plan = sample_plan(points, algorithm, means.ratio)
    done, total = 0, sum(len(wanted) for wanted in plan.values())
    for machines, wanted in plan.items():
        there = engine.on(machines)
        if not goes_on(machines, wanted[0], True):
            return
        with there.session() as session:
            run_sample = partial(ran_sample, there, session.seconds, algorithm, graph)
            ran: list[ClusterRun] = []
            for number, one in enumerate(wanted):
                if number > 1 and not goes_on(machines, one, False):
                    return
                means.progress(f"sample runs on {machines} machines", done / total)
                if one not in samples:
                    samples[one] = _sample(graph, means, one, rng)
                sampler = _sampler(graph, means, one)
                ran.append(run_sample(samples[one], sampler, one.purpose, cold=number == 0))
                while number == 1 and not settled(ran) and goes_on(machines, one, False):
                    last = ran[-1]
                    yield replace(last, summary=replace(last.summary, purpose=WARM_UP))
                    ran.append(run_sample(samples[one], sampler, one.purpose))
                yield ran[-1]
                done += 1


def _sampler(graph: AnyGraph, means: Means, wanted: WantedSample) -> str:
    """Return what a sample is drawn by."""
    if not wanted.walk:
        return "folded"
    return "degrees" if isinstance(graph, ClusterGraph) else means.sampler


def settled(ran: list[ClusterRun]) -> bool:
    """Whether the last run was hardly faster than the one before, of the same sample."""
    before, last = (run.profile.phases["superstep"] for run in ran[-2:])
    return last > (1.0 - _STILL_FASTER) * before or len(ran) > 1 + _MOST_WARM_UPS


def ran_sample(
    engine: SparkEngine,
    opening: float,
    algorithm: Algorithm,
    graph: AnyGraph,
    sample: Graph,
    sampler: str,
    purpose: str,
    *,
    cold: bool = False,
    limit: int | None = None,
) -> ClusterRun:
    """Run a sample in the open session of an engine.

    It has no more supersteps than `limit`, or than sample runs of a prediction have.
    """
    started = time.perf_counter()
    profile = engine.run(
        algorithm,
        sample,
        max_iterations=limit or supersteps_run(algorithm),
        threshold=0.0 if algorithm.steady else None,
    )
    machines, ratio = engine.workers, sample.vertices / graph.vertices
    summary = SampleSummary(
        sampler=sampler,
        ratio=ratio,
        vertices=sample.vertices,
        edges=sample.edges,
        iterations=profile.iterations,
        seconds=time.perf_counter() - started,
        purpose=purpose,
        note=f"{machines} machines" + (", cold" if cold else ""),
    )
    measures = None
    if isinstance(algorithm, FunctionAlgorithm):
        measures = exchange_measures(sample, engine.settings.partitions)
    return ClusterRun(machines, ratio, cold, opening, profile, summary, measures=measures)


def _sample(graph: AnyGraph, means: Means, wanted: WantedSample, rng: np.random.Generator) -> Graph:
    """Draw a sample."""
    if not wanted.walk:
        return folded(graph, wanted.ratio, rng)
    if isinstance(graph, ClusterGraph):
        assert graph.core is not None  # fetched before the cluster was left
        return graph.core
    most = max(int(wanted.ratio * graph.edges), 1) if wanted.purpose == "cost" else None
    return draw_sample(graph, means.sampler, wanted.ratio, rng, max_edges=most).graph
