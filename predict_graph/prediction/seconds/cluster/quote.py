"""The expected time of a run on a cluster and of its samples, to stay within a budget.

It uses bundled reference runs, scaled to the known speed of the cluster; each new sample run
updates the scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd

from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts
from predict_graph.prediction.seconds.cluster.cluster_speed import (
    ClusterSpeed,
    reference_costs,
)
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.sample_plan import sample_plan, supersteps_run
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES
from predict_graph.prediction.seconds.cluster.work_by_machines import work_by_machines


class Quote:
    """The expected seconds of a chain of algorithms on a cluster, and of its sample runs."""

    def __init__(
        self,
        graph: AnyGraph,
        engine: SparkEngine,
        workloads: Sequence[Workload],
        speed: ClusterSpeed,
    ) -> None:
        self._graph, self._engine = graph, engine
        self._algorithms = [each.algorithm for each in workloads]
        self._names = [shipped_name(each) for each in self._algorithms]
        runs = [shipped_runs(name, first=number == 0) for number, name in enumerate(self._names)]
        self._work = [
            lru_cache(work_by_machines(graph, engine, each, own))
            for each, own in zip(workloads, runs, strict=True)
        ]
        self._runs: list[ClusterRun] = []
        self._cluster = speed

    def add_run(self, run: ClusterRun) -> None:
        """Update the estimate with a sample run of the last algorithm."""
        self._runs.append(run)

    def set_speed(self, speed: ClusterSpeed) -> None:
        """Set the known relative speed of the cluster."""
        self._cluster = speed

    @property
    def speed(self) -> ClusterSpeed:
        """The relative speed of the cluster, from runs of the last algorithm if there are any."""
        return self._cluster.with_runs(self._names[-1], self._runs) if self._runs else self._cluster

    @property
    def run_seconds(self) -> float:
        """The seconds of the real run."""
        machines = self._engine.workers
        opening = self._costs[0].phases(machines, 0)["opening"]
        return opening + self._seconds(machines, 1.0, None, warm=False)

    def sample_seconds(
        self, machines: int, ratio: float, *, cold: bool, limit: int | None = None
    ) -> float:
        """Return the seconds of a sample run, including session start for the first one.

        It has at most `limit` supersteps, or as many as sample runs of a prediction have.
        """
        limit = limit or supersteps_run(self._algorithms[-1])
        opening = self._costs[0].phases(machines, 0)["opening"] if cold else 0.0
        return opening + self._seconds(machines, ratio, limit, warm=not cold)

    def plan_seconds(self, points: dict[int, list[float]]) -> float:
        """Return the seconds of all sample runs of a plan."""
        return self._plan_seconds(points, None)

    def first_seconds(self, points: dict[int, list[float]]) -> float:
        """Return the seconds of the first cold and warm run of a plan of one session."""
        return self._plan_seconds(points, 2)

    def _plan_seconds(self, points: dict[int, list[float]], each: int | None) -> float:
        """Return the seconds of the sample runs of a plan; of the first `each` of a session, if
        given.
        """
        plan = sample_plan(points, self._algorithms[-1], 1.0)
        return sum(
            self.sample_seconds(machines, one.ratio, cold=number == 0)
            for machines, wanted in plan.items()
            for number, one in enumerate(wanted[:each])
        )

    @property
    def _costs(self) -> list[ClusterCosts]:
        speed, found = self.speed, []
        for name in self._names:
            factors = speed.factors(name)
            if self._engine.in_open_session:
                factors["opening"] = 0.0
            found.append(reference_costs(name).scaled(factors))
        return found

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
