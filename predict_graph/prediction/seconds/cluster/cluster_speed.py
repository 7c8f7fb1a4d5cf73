"""Cluster speed relative to the reference cluster of the bundled runs.

Session start, JVM warm-up, setup, reading, the driver's part of a superstep, and tasks have one
factor each: workers with a quarter of a core take four times as long for tasks, but the driver does
not. All runs on the cluster, of any algorithm, are evidence: sample runs, real runs, event logs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from predict_graph.builtin.libraries import LIBRARIES, library_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import RequestError
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.prediction.seconds.cluster.cluster_costs import (
    ClusterCosts,
    costs_of,
    factor_of,
    informative,
    line_through,
    log_ratio,
    observations,
    phases_of,
    typical_rows,
)
from predict_graph.prediction.seconds.cluster.reference_runs import (
    KEPT,
    NAMES,
    shipped_name,
    shipped_runs,
)
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.training_runs import cluster_run, cluster_settings
from predict_graph.prediction.seconds.straight_line import Line

FACTORS = ("opening", "start", "setup", "read", "driver", "tasks")
"""What a cluster scales."""
_COMMON = ("opening", "read")  # by definition: the same whatever algorithm comes next
# Of the logarithm of measured / reference seconds: of an unknown cluster, of another algorithm on
# the same cluster, and of one of the factors from another algorithm (docs/studies/cold-start.md).
_CLUSTER_STD, _ALGORITHM_STD, _FACTOR_STD = 0.8, 0.25, 0.4
_OWN_STD = 0.15  # of runs of the algorithm itself, due to variation between sessions; as above
# Prior of the time relative to the reference cluster, which was a dedicated machine. Clusters of
# the study took two to nine times as long (measured); most clusters are not capped.
_USUAL = 1.6
_SAME = ("name", "master", "cores", "session")  # by definition: settings that identify a cluster
_NEWEST_RUNS = 12  # of an algorithm: limits old data


@lru_cache(maxsize=64)
def reference_costs(name: str, cost_model: str | None = None) -> ClusterCosts:
    """Return the costs of an algorithm on the reference cluster, by a registered cost model.

    Session start, reading and checkpoints do not depend on the algorithm.
    """
    costs = costs_of(shipped_runs(name, first=True), cost_model)
    return replace(costs, lines={**costs.lines, **_common_lines()})


@lru_cache(maxsize=1)
def _common_lines() -> dict[str, Line]:
    every = [run for name in NAMES for run in shipped_runs(name, first=True)]
    measured = phases_of(every)
    measured["checkpoint"] = phases_of(shipped_runs(KEPT, first=True))["checkpoint"]
    parts = ("opening", "read", "read start", "checkpoint")
    return {part: line_through(measured[part]) for part in parts}


@dataclass(frozen=True)
class ClusterSpeed:
    """The logarithms of measured / reference seconds of each factor, by algorithm."""

    observed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def with_runs(self, name: str, runs: Sequence[ClusterRun]) -> ClusterSpeed:
        """Return the speed with runs of an algorithm, in place of its earlier ones."""
        return ClusterSpeed({**self.observed, name: log_factors(runs, reference_costs(name))})

    def factors(self, name: str) -> dict[str, float]:
        """Return the factors for an algorithm, shrunk to those of a usual cluster.

        They are posterior means of a normal distribution, with the variation between clusters as
        prior. One that no run shows is the mean of the others.
        """
        usual = math.log(_USUAL)
        found: dict[str, float] = {}
        for factor in FACTORS:
            total, weight = usual / _CLUSTER_STD**2, 1.0 / _CLUSTER_STD**2
            for other, logs in self.observed.items():
                if factor in logs:
                    own = other == name or factor in _COMMON
                    precision = (_OWN_STD if own else _FACTOR_STD) ** -2
                    total, weight = total + precision * logs[factor], weight + precision
                    found[factor] = total / weight
        mean = float(np.mean([*found.values()])) if found else usual
        return {factor: math.exp(found.get(factor, mean)) for factor in FACTORS}

    def std(self, name: str) -> float:
        """Return the standard deviation of the logarithm of the time of an algorithm."""
        known = [other for other, logs in self.observed.items() if logs]
        if name in known:
            return _OWN_STD
        if not known:
            return _CLUSTER_STD
        return math.hypot(_ALGORITHM_STD, _ALGORITHM_STD / math.sqrt(len(known)))


def log_factors(runs: Sequence[ClusterRun], costs: ClusterCosts) -> dict[str, float]:
    """Return the logarithms of measured / reference seconds of each factor that runs show.

    A real run includes session start in its setup: their factors are equal then.
    """
    measured, expected = dict.fromkeys(FACTORS, 0.0), dict.fromkeys(FACTORS, 0.0)
    for part, points in observations(runs).items():
        measured[factor_of(part)] += sum(seconds for _, seconds in points)
        expected[factor_of(part)] += sum(costs.lines[part].at(size) for size, _ in points)
    for run in runs:
        for phase, parts in (
            ("setup", ("opening", "setup start", "setup")),
            ("read", ("read start", "read")),
        ):
            if not run.real:
                break
            warm = 1 if run.profile.engine.get("warm") else 0  # then without start-up
            edges = float(run.profile.graph["edges"])
            own = {part: costs.at(part, run.machines, edges) for part in parts[-warm:]}
            ratio = run.profile.phases[phase] / max(sum(own.values()), 1e-9)
            for part, seconds in own.items():
                measured[factor_of(part)] += ratio * seconds
                expected[factor_of(part)] += seconds
    tables = []
    for run in informative(runs):
        rows = typical_rows(run)
        # A log has records only: a message each, at least.
        tables.append(rows.fillna({"messages": rows["records"], "vertices": 0.0}))
    found = {
        factor: math.log(measured[factor] / expected[factor])
        for factor in FACTORS
        if measured[factor] > 0.0 and expected[factor] > 0.0
    }
    return {**found, "tasks": -log_ratio(tables, costs.tasks)} if tables else found


def speed_of_cluster(history: History | None, engine: SparkEngine) -> ClusterSpeed:
    """Return the relative speed estimated from the runs of all algorithms on a cluster."""
    speed = ClusterSpeed()
    for name, runs in _runs_of_cluster(history, engine).items():
        speed = speed.with_runs(name, runs)
    return speed


def _runs_of_cluster(history: History | None, engine: SparkEngine) -> dict[str, list[ClusterRun]]:
    """Return the newest runs on a cluster, grouped by the reference runs that apply to them."""
    if history is None or len(history) == 0:
        return {}
    here = machine_identity() if engine.settings.local else None
    settings = {name: value for name, value in cluster_settings(engine).items() if name in _SAME}
    known: dict[str, list[ClusterRun]] = {}
    libraries = [f"{library}:{name}" for library, own in LIBRARIES.items() for name in own.names()]
    for name in dict.fromkeys((*NAMES, *libraries)):
        found = history.training_runs(
            name, settings, here, kinds=("run", "sample"), limit=_NEWEST_RUNS
        )
        for record in reversed(found):
            reference = _reference_of(record) if name in libraries else name
            if reference is not None:
                run = cluster_run(record, first=True, elsewhere=True)
                known.setdefault(reference, []).append(run)
    return known


def _reference_of(record: RunRecord) -> str | None:
    """Return the name of the reference runs for a run of a library; None if that has other
    parameters now.
    """
    given = {name: value for name, value in record.parameters.items() if value is not None}
    try:
        return shipped_name(library_algorithm(record.algorithm, given))
    except RequestError:
        return None
