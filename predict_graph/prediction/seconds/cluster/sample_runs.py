"""Running the planned samples on the cluster, one session for each machine count."""

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
from predict_graph.engines import EstimationContext, RunProfile
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

WARM_UP = "warm-up"
"""Purpose of runs that warm up the JVM, and measure the warm-up."""
REAL = "run"
"""Purpose of real runs on whole graphs."""
# Bounds the speed-up that needs another warm-up; runs of docs/studies/spark.md took 12, 5.4, 3.4 s
_STILL_FASTER = 0.2
_MOST_WARM_UPS = 2  # limits the cost of warm-ups


@dataclass(frozen=True)
class ClusterRun:
    """A sample run on the cluster."""

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
        """The edges processed over all iterations; 0 if it was not run for this prediction.

        For a job without known messages, these are the exchanged records.
        """
        if self.again:
            return 0.0
        if self.measures is not None:
            return float(self.exchanged()["messages"].sum())
        return float(self.summary.edges * self.summary.iterations)

    @property
    def real(self) -> bool:
        """Whether it is a real run rather than a sample run."""
        return self.summary.purpose == REAL

    @property
    def disturbed(self) -> bool:
        """Whether the run lost an executor, so that its times are not representative."""
        return int(self.profile.engine.get("executors_lost", 0)) > 0

    def exchanged(self) -> pd.DataFrame:
        """Return the exchanged counters of each iteration, summed over workers; one row per
        iteration.
        """
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
    """Group runs by session, in order: each starts with a cold run.

    The cold run may be of another algorithm; all runs of a session use the same machines.
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
    context: EstimationContext,
    engine: SparkEngine,
    points: dict[int, list[float]],
    rng: np.random.Generator,
    may_continue: Callable[[int, WantedSample, bool], bool] = lambda machines, wanted, cold: True,
) -> Iterator[ClusterRun]:
    """Run samples on the cluster; yield each as soon as it is done, so that none is lost."""
    samples: dict[WantedSample, Graph] = {}
    plan = sample_plan(points, algorithm, context.ratio)
    done, total = 0, sum(len(wanted) for wanted in plan.values())
    for machines, wanted in plan.items():
        there = engine.on(machines)
        if not may_continue(machines, wanted[0], True):
            return
        with there.session() as session:
            run_sample = partial(ran_sample, there, session.seconds, algorithm, graph)
            ran: list[ClusterRun] = []
            for number, one in enumerate(wanted):
                if number > 1 and not may_continue(machines, one, False):
                    return
                context.progress(f"sample runs on {machines} machines", done / total)
                if one not in samples:
                    samples[one] = _sample(graph, context, one, rng)
                sampler = _sampler(graph, context, one)
                ran.append(run_sample(samples[one], sampler, one.purpose, cold=number == 0))
                while number == 1 and not settled(ran) and may_continue(machines, one, False):
                    last = ran[-1]
                    yield replace(last, summary=replace(last.summary, purpose=WARM_UP))
                    ran.append(run_sample(samples[one], sampler, one.purpose))
                yield ran[-1]
                done += 1


def _sampler(graph: AnyGraph, context: EstimationContext, wanted: WantedSample) -> str:
    """Return the name of the sampler of a sample."""
    if not wanted.walk:
        return "folded"
    return "degrees" if isinstance(graph, ClusterGraph) else context.sampler


def settled(ran: list[ClusterRun]) -> bool:
    """Whether the last run was hardly faster than the previous one on the same sample."""
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

    It has at most `limit` supersteps, or as many as sample runs of a prediction have.
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


def _sample(
    graph: AnyGraph, context: EstimationContext, wanted: WantedSample, rng: np.random.Generator
) -> Graph:
    """Draw a sample."""
    if not wanted.walk:
        return folded(graph, wanted.ratio, rng)
    if isinstance(graph, ClusterGraph):
        assert graph.core is not None  # fetched from the cluster before
        return graph.core
    most = max(int(wanted.ratio * graph.edges), 1) if wanted.purpose == "cost" else None
    return draw_sample(graph, context.sampler, wanted.ratio, rng, max_edges=most).graph
