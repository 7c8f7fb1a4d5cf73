"""Cluster speed relative to the reference cluster of the bundled runs.

Tasks, the driver's part of a superstep, and session start with reading and setup have one factor
each: workers with a quarter of a core take four times as long for tasks, but the driver does not.
All runs on the cluster, of any algorithm, provide estimates: sample runs, real runs, event logs.
Session start and reading are the same for all algorithms, and are taken directly from sample runs
of any.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.libraries import LIBRARIES, library_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import RequestError
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts, fit_cluster_costs
from predict_graph.prediction.seconds.cluster.reference_runs import (
    KEPT,
    NAMES,
    shipped_name,
    shipped_runs,
)
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.session_phases import (
    CommonPhases,
    Phase,
    common_phases,
)
from predict_graph.prediction.seconds.cluster.superstep_features import (
    rows_of_run,
    without_spilling,
)
from predict_graph.prediction.seconds.cluster.training_runs import cluster_run, cluster_settings
from predict_graph.prediction.seconds.straight_line import Line

FloatArray = npt.NDArray[np.float64]

# Of the logarithm of measured / reference seconds: of an unknown cluster, and of another algorithm
# on the same cluster (docs/studies/cold-start.md).
_CLUSTER_STD, _ALGORITHM_STD = 0.8, 0.25
# Of one of the three parts, from another algorithm: small runs determine them less well than their
# sum.
_PART_STD = 0.4  # measured as above
# Prior of the time relative to the reference cluster, which was a dedicated machine. Clusters of
# the study took two to nine times as long (measured); most clusters are not capped.
_USUAL = 1.6
_OWN_STD = 0.15  # of runs of the algorithm itself, due to variation between sessions; as above
_SAME = ("name", "master", "cores", "session")  # by definition: settings that identify a cluster
_LEAST_BEGINNING = 0.05  # of setup: bounds the share of session start from below; not tuned
_ENOUGH = 6  # supersteps of a cold run from which its second half is used: limits JVM warm-up in it
_NEWEST_RUNS = 12  # of an algorithm: limits old data


@dataclass(frozen=True)
class Level:
    """Factors relative to the bundled reference runs."""

    tasks: float = 1.0
    driver: float = 1.0
    phases: float = 1.0
    std: float = _CLUSTER_STD
    algorithms: int = 0
    common: CommonPhases | None = None

    def applied(self, costs: ClusterCosts, *, is_open: bool = False) -> ClusterCosts:
        """Return the costs on this cluster; without session start in an open session."""
        common = self.common or CommonPhases(costs.opening, costs.read).scaled(self.phases)
        return replace(
            costs,
            model=replace(costs.model, factor=self.tasks),
            driver=costs.driver.scaled(self.driver),
            opening=Line(0.0, 0.0) if is_open else common.opening,
            setup=Phase(costs.setup.work.scaled(self.tasks), costs.setup.start.scaled(self.phases)),
            read=common.read,
            checkpoint=costs.checkpoint.scaled(self.tasks),
            after=costs.after.scaled(self.tasks),
            start=costs.start * self.phases,
        )


UNKNOWN = Level(_USUAL, _USUAL, _USUAL)
"""The factors of an unknown cluster."""


@lru_cache(maxsize=64)
def shipped_costs(algorithm: str, cost_model: str | None = None) -> ClusterCosts:
    """Return the costs of an algorithm fitted to its bundled reference runs by a registered
    model.
    """
    runs = shipped_runs(algorithm, first=True)
    costs = fit_cluster_costs(runs, [], cost_model, _shipped_common())
    return replace(costs, checkpoint=_shipped_checkpoint())


@lru_cache(maxsize=1)
def _shipped_checkpoint() -> Line:
    """Return the seconds per checkpoint by edges per machine, for any algorithm."""
    return fit_cluster_costs(shipped_runs(KEPT, first=True), []).checkpoint


@lru_cache(maxsize=1)
def _shipped_common() -> CommonPhases | None:
    """Return session start and reading from the reference runs of all algorithms."""
    return common_phases(run for name in NAMES for run in shipped_runs(name, first=True))


def level_of_runs(
    runs: Sequence[ClusterRun], costs: ClusterCosts, common: CommonPhases | None = None
) -> Level:
    """Return the relative speed estimated from runs of an algorithm; unknown if there are none."""
    if not runs:
        return UNKNOWN
    common = common or common_phases(runs)
    return replace(level_of_observed([logs_of(runs, costs, common)], own=True), common=common)


def level_of_cluster(history: History | None, engine: SparkEngine) -> Level:
    """Return the relative speed estimated from the runs of all algorithms on a cluster."""
    known = _runs_of_cluster(history, engine)
    if not known:
        return UNKNOWN
    common = _common(known)
    observed = [logs_of(runs, shipped_costs(name), common) for name, runs in known.items()]
    return replace(level_of_observed(observed, own=False), common=common)


def _common(known: Mapping[str, Sequence[ClusterRun]]) -> CommonPhases | None:
    return common_phases((run for runs in known.values() for run in runs), _shipped_common())


def _runs_of_cluster(history: History | None, engine: SparkEngine) -> dict[str, list[ClusterRun]]:
    """Return the newest runs on a cluster, grouped by the reference runs that apply to them."""
    if history is None or len(history) == 0:
        return {}
    here = machine_identity() if engine.settings.local else None
    settings = {name: value for name, value in cluster_settings(engine).items() if name in _SAME}
    known: dict[str, list[ClusterRun]] = {}
    for name in dict.fromkeys((*NAMES, *_of_libraries())):
        found = history.training_runs(
            name, settings, here, kinds=("run", "sample"), limit=_NEWEST_RUNS
        )
        for record in reversed(found):
            reference = _training_runs_of(record)
            if reference is not None:
                run = cluster_run(record, first=True, elsewhere=True)
                known.setdefault(reference, []).append(run)
    return known


def _of_libraries() -> list[str]:
    return [f"{library}:{name}" for library, own in LIBRARIES.items() for name in own.names()]


def _training_runs_of(record: RunRecord) -> str | None:
    """Return the name of the reference runs for a run; None if its library has other parameters
    now.
    """
    if record.algorithm not in _of_libraries():
        return record.algorithm
    given = {name: value for name, value in record.parameters.items() if value is not None}
    try:
        return shipped_name(library_algorithm(record.algorithm, given))
    except RequestError:
        return None


def logs_of(
    runs: Sequence[ClusterRun], costs: ClusterCosts, common: CommonPhases | None = None
) -> FloatArray:
    """Return the logarithms of measured / reference seconds of tasks, driver and phases; NaN if
    none.

    Supersteps of warm runs are used where available; cold ones are compared with equally slow
    warm-up. Only cold runs include session start. Where session start and reading are known, the
    phases are setup, for which warm runs are uninformative if others start a session.
    """
    warm = [run for run in runs if not run.cold]
    cold = [run for run in runs if run.cold]
    parts = np.array([_of_supersteps(run, costs, later=True) for run in warm or cold])
    sums = parts.sum(axis=0)
    slower = float(sums[0, 0] / sums[0, 1]) if (sums[0] > 0.0).all() else 1.0
    beginning = cold or ([] if common else warm)
    phases = np.array([_of_phases(run, costs, common, slower) for run in beginning])
    measured, said = np.concatenate((sums, phases.reshape(-1, 2).sum(axis=0)[None, :])).T
    known = (measured > 0.0) & (said > 0.0)
    return np.where(known, np.log(np.maximum(measured, 1e-9) / np.maximum(said, 1e-9)), np.nan)


def _of_supersteps(run: ClusterRun, costs: ClusterCosts, *, later: bool = False) -> FloatArray:
    """Return measured and reference seconds of tasks, and of the driver; one row each.

    For a cold run, use the second half of its supersteps, which ran after JVM warm-up.
    """
    rows = rows_of_run(run.profile, run.machines)
    skipped = len(rows) // 2 if later and run.cold and len(rows) >= _ENOUGH else 0
    rows = without_spilling(rows.iloc[skipped:])
    start = costs.start[rows.index[rows.index < len(costs.start)]]
    working = float(rows["working"].sum())
    # A log contains no messages, so task time cannot be compared.
    tasks = 0.0 if run.seen_by_log else float(costs.model.predict(rows).sum())
    driver = costs.driver.at(math.log2(run.machines)) * len(rows)
    driver += float(start.sum()) if run.cold else 0.0
    return np.array([[working, tasks], [float(rows["seconds"].sum()) - working, driver]])


def _of_phases(
    run: ClusterRun,
    costs: ClusterCosts,
    common: CommonPhases | None = None,
    slower: float = 1.0,
) -> FloatArray:
    """Return measured and reference seconds of session start, setup and reading.

    Where session start and reading are known, this is the setup of a session's first run: a real
    run includes session start in it, and the part that grows with edges is task time, which takes
    `slower` times as long.
    """
    if common is not None:
        opened = common.opening.at(math.log2(run.machines)) if run.real else 0.0
        work = costs.setup.work.at(run.profile.graph["edges"] / run.machines)
        setup = run.profile.phases["setup"]
        began = max(setup - opened - slower * work, _LEAST_BEGINNING * setup)
        return np.array([began, costs.setup.start.at(math.log2(run.machines))])
    own = run.profile.phases["setup"] + run.profile.phases["read"]
    shipped = costs.phases(run.machines, int(run.profile.graph["edges"]), warm=not run.cold)
    said = shipped["setup"] + shipped["read"]
    if run.cold:
        own, said = own + run.session_seconds, said + shipped["opening"]
    return np.array([own, said])


def seconds_of(run: ClusterRun, costs: ClusterCosts) -> tuple[float, float]:
    """Return measured and predicted seconds of a run, including session start but not writing."""
    supersteps, phases = _of_supersteps(run, costs), _of_phases(run, costs)
    measured, said = supersteps.sum(axis=0) + phases
    return float(measured), float(said)


def superstep_seconds_of(run: ClusterRun, costs: ClusterCosts) -> tuple[float, float]:
    """Return measured and predicted seconds of the supersteps of a run."""
    measured, said = _of_supersteps(run, costs).sum(axis=0)
    return float(measured), float(said)


def level_of_observed(observed: Sequence[FloatArray], *, own: bool) -> Level:
    """Return the mean factors of several algorithms, shrunk to those of a usual cluster.

    This is the posterior of a normal mean with the variation between clusters as prior. A part that
    an algorithm does not determine is set from other algorithms, or from its other parts.
    """
    logs = np.array(observed)
    known = ~np.isnan(logs)
    context = np.where(known, logs, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    logs = np.where(known | ~known.any(axis=0), logs, context)
    logs = np.where(np.isnan(logs), np.nanmean(logs, axis=1, keepdims=True), logs)
    part = _OWN_STD if own else _PART_STD
    weight = len(logs) / (len(logs) + (part / _CLUSTER_STD) ** 2)
    std = _OWN_STD if own else math.hypot(_ALGORITHM_STD, _ALGORITHM_STD / math.sqrt(len(logs)))
    usual = math.log(_USUAL)
    tasks, driver, phases = np.exp(usual + weight * (logs.mean(axis=0) - usual))
    return Level(float(tasks), float(driver), float(phases), std, len(logs))
