"""What a run on a cluster, and samples of it, will probably take: so that a budget can be kept.

By the shipped lessons, at the level of the cluster as far as it is known; each sample run that is
made tells it better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import pandas as pd

from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts
from predict_graph.prediction.seconds.cluster.level import Level, level_of_runs, shipped_costs
from predict_graph.prediction.seconds.cluster.sample_plan import sample_plan, supersteps_run
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.shipped_lessons import shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES
from predict_graph.prediction.seconds.cluster.work_by_machines import work_by_machines

__all__ = ["Quote"]


class Quote:
    """Expected seconds of a chain of algorithms on a cluster, and of sample runs of it.

    Parameters
    ----------
    graph : AnyGraph
    engine : SparkEngine
        Its machines are those of the real run.
    workloads : sequence of Workload
        Of the algorithms, in the order in which they run.
    level : Level
        Of the cluster; what sample runs tell of the algorithm takes its place.
    """

    def __init__(
        self, graph: AnyGraph, engine: SparkEngine, workloads: Sequence[Workload], level: Level
    ) -> None:
        self._graph, self._engine = graph, engine
        self._algorithms = [each.algorithm for each in workloads]
        names = [shipped_name(each) for each in self._algorithms]
        self._shipped = [shipped_costs(name) for name in names]
        runs = [shipped_runs(name, first=number == 0) for number, name in enumerate(names)]
        self._work = [
            lru_cache(work_by_machines(graph, engine, each, own))
            for each, own in zip(workloads, runs, strict=True)
        ]
        self._heard: list[ClusterRun] = []
        self._cluster = level

    def hears(self, run: ClusterRun) -> None:
        """Learn from a sample run of the last algorithm."""
        self._heard.append(run)

    def knows(self, level: Level) -> None:
        """Take note of what is known of the cluster now."""
        self._cluster = level

    @property
    def level(self) -> Level:
        """The level of the cluster, as runs of the last algorithm tell it, if there are any.

        Opening and reading are those of all algorithms on the cluster, and so is what a session
        takes that begins, where others began those that these runs were in.
        """
        if not self._heard:
            return self._cluster
        own, cluster = level_of_runs(self._heard, self._shipped[-1]), self._cluster
        if not any(run.cold for run in self._heard):
            own = replace(own, phases=cluster.phases)
        return replace(own, common=cluster.common or own.common)

    @property
    def run_seconds(self) -> float:
        """Seconds of the real run."""
        machines = self._engine.workers
        opening = self._costs[0].phases(machines, 0)["opening"]
        return opening + self._seconds(machines, 1.0, None, warm=False)

    def sample_seconds(
        self, machines: int, ratio: float, *, cold: bool, limit: int | None = None
    ) -> float:
        """Seconds of a sample run; of opening its session too if it is the first there.

        It has no more supersteps than `limit`, or than sample runs of a prediction have.
        """
        limit = limit or supersteps_run(self._algorithms[-1])
        opening = self._costs[0].phases(machines, 0)["opening"] if cold else 0.0
        return opening + self._seconds(machines, ratio, limit, warm=not cold)

    def plan_seconds(self, points: dict[int, list[float]]) -> float:
        """Seconds of all sample runs of a plan."""
        return self._plan_seconds(points, None)

    def first_seconds(self, points: dict[int, list[float]]) -> float:
        """Seconds until a plan of one session has told something: of a cold and of a warm run."""
        return self._plan_seconds(points, 2)

    def _plan_seconds(self, points: dict[int, list[float]], each: int | None) -> float:
        """Seconds of the sample runs of a plan; of the first `each` of a session, if given."""
        plan = sample_plan(points, self._algorithms[-1], 1.0)
        return sum(
            self.sample_seconds(machines, one.ratio, cold=number == 0)
            for machines, wanted in plan.items()
            for number, one in enumerate(wanted[:each])
        )

    @property
    def _costs(self) -> list[ClusterCosts]:
        is_open = self._engine.in_open_session
        return [self.level.applied(each, is_open=is_open) for each in self._shipped]

    def _seconds(self, machines: int, ratio: float, limit: int | None, *, warm: bool) -> float:
        edges = ratio * self._graph.edges
        total = 0.0
        for number, (costs, work) in enumerate(zip(self._costs, self._work, strict=True)):
            rows: pd.DataFrame = work(machines).iloc[:limit].copy()
            rows[[name for name in FEATURES if name in rows]] *= ratio
            phases = costs.phases(machines, edges, warm=warm)
            total += phases["setup"] + (phases["read"] if number == 0 else 0.0)
            total += float(costs.supersteps(rows, machines, warm=warm).sum())
        return total
