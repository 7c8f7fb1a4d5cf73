"""The costs of an algorithm on a cluster: those of the bundled reference runs, scaled.

On `m` machines ``t(m) = opening(m) + start(m) + setup(m) + read(m) + write(m) + sum over supersteps
of (tasks(features at m workers) + driver(m) + warming(m, k))``, where opening is that of the
session, start what the first execution in a JVM takes in addition, and warming what the `k`-th
superstep of a session takes longer than much later ones, as Java compiles what runs often.

Task seconds of a superstep are a non-negative least-squares regression on the work of the busiest
worker. Opening, start, warming and the driver's part of a superstep are straight lines over the
logarithm of the machines (a term of Ernest's equation 1: communication in a tree); setup, reading
and writing are lines over edges per machine. All are fitted to the reference runs. For another
cluster each part is multiplied by a factor, estimated from its runs of whatever algorithm: for
example, workers with a quarter of a core take four times as long for tasks, but the driver does
not. Where a graph size or a machine count is left out, this predicts as well as regressions on a
cluster's own few runs (docs/studies/cold-start.md).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain

import numpy as np
import pandas as pd

from predict_graph.arrays import FloatArray
from predict_graph.engines.spark import SparkEngine
from predict_graph.history import History
from predict_graph.prediction.seconds.cluster import runs as cluster
from predict_graph.prediction.seconds.regression import FittedCosts, Line, fitted, fitted_line

Part = tuple[str, cluster.ClusterRun, float]  # one of PARTS, measured in a run, and its seconds

PARTS = {
    "opening": "opening",
    "setup start": "start",
    "read start": "start",
    "driver warming": "warming",
    "working warming": "warming",
    "setup": "setup",
    "read": "read",
    "driver": "driver",
    "write": "tasks",
    "checkpoint": "tasks",
}
"""The parts of a run outside tasks, and which factor of a cluster scales each; `start` is what the
first execution in a JVM takes in addition."""
_WARMING = ("driver", "working")  # what of a superstep warms up
FACTORS = tuple(dict.fromkeys(PARTS.values()))
"""How a cluster differs from the reference: a factor for each of these."""
WRITTEN = ("write", "checkpoint")
"""The parts that write."""
STARTS = ("setup start", "read start")
"""What the first execution in a JVM adds to two phases."""
# Parts that do not depend on the algorithm, by definition.
_COMMON = ("opening", "checkpoint")
# Deviations of log(measured / reference seconds): between clusters, between algorithms on one, and
# between runs of one algorithm (docs/studies/cold-start.md).
CLUSTER_STD, ALGORITHM_STD, RUN_STD = 0.8, 0.3, 0.26


@dataclass(frozen=True)
class ClusterCosts:
    """The time of a run of one algorithm on any number of machines.

    `fitted` are those of tasks, from so many rows of so many runs; `lines` has one of :data:`PARTS`
    each.
    """

    fitted: FittedCosts
    lines: Mapping[str, Line]
    rows: int
    runs: int
    executors_read: bool = False
    factors: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(FACTORS, 1.0))

    @property
    def terms(self) -> dict[str, float]:
        """Seconds per unit of a feature, per doubling (log2 machines) and superstep (intercept)."""
        terms = {name: self.factors["tasks"] * each for name, each in self.fitted.terms.items()}
        driver = self.lines["driver"].scaled(self.factors["driver"])
        terms["intercept"] = terms.get("intercept", 0.0) + driver.constant
        terms["log2 machines"] = driver.slope
        return {name: value for name, value in terms.items() if value > 0.0}

    def at(self, part: str, machines: int, edges: float = 0.0) -> float:
        """Return the seconds of a part of a run outside tasks."""
        size = _size(part, machines, edges, self.executors_read)
        return self.factors[PARTS[part]] * self.lines[part].at(size)

    def tasks(self, features: pd.DataFrame) -> FloatArray:
        """Return the task seconds of each superstep on the busiest worker."""
        return self.factors["tasks"] * self.fitted.predict(features)

    def supersteps(
        self, features: pd.DataFrame, machines: int, before: int | None = 0
    ) -> FloatArray:
        """Return the seconds of supersteps after so many of their session; None: it is warm."""
        seconds: FloatArray = self.tasks(features) + self.at("driver", machines)
        if before is not None:
            more = cluster.warming(len(seconds), before)
            seconds += sum(self.at(f"{part} warming", machines) * more for part in _WARMING)
        return seconds

    def phases(
        self,
        rows: pd.DataFrame,
        machines: int,
        edges: float,
        checkpoints: int = 0,
        *,
        opens: bool = True,
        reads: bool = True,
        before: int | None = 0,
    ) -> dict[str, float]:
        """Return the seconds of each phase; setup includes a session's start if the run `opens` it.

        Nothing is written but checkpoints, `checkpoints` of them, and results of library code.
        """
        found, cold = {part: self.at(part, machines, edges) for part in PARTS}, before == 0
        return {
            "setup": found["setup"] + opens * found["opening"] + cold * found["setup start"],
            "read": reads * (found["read"] + cold * found["read start"]),
            "superstep": float(self.supersteps(rows, machines, before).sum()),
            "write": checkpoints * found["checkpoint"] + found["write"],
        }

    def scaled(self, factors: Mapping[str, float], parts: Iterable[Part] = ()) -> ClusterCosts:
        """Return the costs on a cluster with these factors, but for the parts that were measured.

        These are divided by their factors, by which :meth:`at` multiplies them.
        """
        found = lines_of(parts).items()
        own = {part: line.scaled(1.0 / factors[PARTS[part]]) for part, line in found}
        return replace(self, factors=factors, lines={**self.lines, **own})


def costs_of(runs: Sequence[cluster.ClusterRun], cost_model: str | None = None) -> ClusterCosts:
    """Fit all costs to runs, which include the first ones of their sessions.

    All features that vary are used, and each run has the same weight.
    """
    lines = {**dict.fromkeys(PARTS, Line(0.0, 0.0)), **lines_of(measured_parts(runs))}
    tables, drivers = list[pd.DataFrame](), list[Part]()
    for run in [run for run in runs if run.informative]:
        table = cluster.typical_rows(run).copy()
        for part in _WARMING:
            first = lines[f"{part} warming"].at(_size(f"{part} warming", run.machines))
            table[part] -= first * table["warming"]
        drivers.append(("driver", run, max(float(table["driver"].median()), cluster.CLOCK)))
        warm = table["working"].clip(cluster.CLOCK)
        tables.append(table.assign(group=len(tables), weight=1.0 / len(table), seconds=warm))
    lines |= lines_of(drivers)
    rows = pd.concat(tables, ignore_index=True)
    tasks = fitted(rows, cluster.FEATURES, cost_model or "nnls")
    return ClusterCosts(tasks, lines, len(rows), len(tables), _executors_read(runs[0]))


@lru_cache(maxsize=64)
def reference_costs(name: str, cost_model: str | None = None) -> ClusterCosts:
    """Return the costs of an algorithm on the reference cluster, by a registered cost model."""
    costs = costs_of(cluster.shipped_runs(name), cost_model)
    return replace(costs, lines={**costs.lines, **_common_lines()})


@lru_cache(maxsize=1)
def _common_lines() -> dict[str, Line]:
    runs = [*chain.from_iterable(map(cluster.shipped_runs, cluster.shipped_records()))]
    return lines_of(part for part in measured_parts(runs) if part[0] in _COMMON)


def measured_parts(runs: Sequence[cluster.ClusterRun]) -> Iterator[Part]:
    """Yield the seconds of each part outside tasks, without comparison to the reference.

    JVM warm-up is what the first run of a session takes longer than a later one of the same sample,
    that of supersteps as it would be in the first; without a later run it is not known.
    """
    for first, *rest in cluster.by_session([run for run in runs if not run.real]):
        if first.cold and first.session_seconds > 0.0:
            yield "opening", first, first.session_seconds
        alike = (first.edges, first.record.iterations)
        same = [run for run in rest if (run.edges, run.record.iterations) == alike]
        warm = next((run for run in same if run.informative), None)
        # Another run may have preceded the first one in a session of the user.
        if warm is None or not first.cold or first.record.engine.get("warm"):
            continue
        for phase in ("setup", "read"):
            cold = first.record.phases[phase] - warm.record.phases[phase]
            yield f"{phase} start", first, max(cold, 0.0)
        extra = (cluster.rows_of_run(first) - cluster.rows_of_run(warm)).sum()
        for part in _WARMING:
            yield f"{part} warming", first, max(extra[part] / extra["warming"], 0.0)
    for run in [run for run in runs if run.informative]:
        rows = cluster.typical_rows(run)
        yield "driver", run, max(float(rows["driver"].median()), cluster.CLOCK)
        if run.real:
            continue
        phases, interval = run.record.phases, run.record.engine.get("checkpoint_interval")
        yield "setup", run, phases["setup"]
        if phases["read"] > 0.0:
            yield "read", run, phases["read"]
        if interval:
            saved = max(math.ceil(run.record.iterations / int(interval)), 1)
            yield "checkpoint", run, phases["write"] / saved
        elif phases["write"] > 0.0:
            yield "write", run, phases["write"]


def _executors_read(run: cluster.ClusterRun) -> bool:
    """Whether executors read the graph, as libraries do; the driver writes the blocks of others."""
    return ":" in run.record.algorithm


def _size(part: str, machines: int, edges: float = 0.0, executors_read: bool = False) -> float:
    """Return what the seconds of a part depend on: edges (per machine), or log2 of the machines."""
    if part == "read" and not executors_read:  # half by the graph, half by a block (measured)
        return edges * (1.0 + 1.0 / machines) / 2.0
    if PARTS[part] in ("start", "warming"):
        # Machines of the reference runs at most, which shared a processor: on two of them warm-up
        # took twice as long as on one (measured), and on more it is taken to be that of two.
        return math.log2(min(machines, 2))
    return math.log2(machines) if part in ("opening", "driver") else edges / machines


def lines_of(parts: Iterable[Part]) -> dict[str, Line]:
    """Return the line through the measured seconds of each part, by size."""
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for part, run, seconds in parts:
        size = _size(part, run.machines, run.edges, _executors_read(run))
        points[part].append((size, seconds))
    return {part: fitted_line(*np.array(found).T) for part, found in points.items()}


def log_factors(
    runs: Sequence[cluster.ClusterRun], costs: ClusterCosts, apart: float = 0.01
) -> dict[str, float]:
    """Return the logarithms of measured / reference seconds of each factor that runs show.

    Those of driver and tasks are the ones by which all runs are nearest, in relative errors: where
    it is measured, waiting for the tasks of others counts to the driver. Each measured `apart` has
    a small weight, which decides where runs are of one size.

    In the other factors, long runs weigh more. The setup of a real run, one that is no sample,
    includes the opening of its session, unless that was warm; all its parts get the same ratio.
    """
    measured, expected = defaultdict[str, float](float), defaultdict[str, float](float)
    supersteps = []  # of each run: reference seconds of the driver and of tasks, and both together
    for part, run, seconds in measured_parts(runs):
        if part not in WRITTEN:
            measured[PARTS[part]] += seconds
            expected[PARTS[part]] += costs.at(part, run.machines, run.edges)
    for run in [run for run in runs if run.informative]:
        rows = cluster.typical_rows(run)
        measured["tasks"] += float(rows["working"].sum())
        if run.seen_by_log:  # records after combining; at most as many messages as edges
            names = ["local_messages", "remote_messages"]
            most = run.record.table.groupby("iteration")[names].sum().sum(axis=1).max()
            rows = rows.assign(messages=rows["messages"] * max(run.edges / max(most, 1), 1.0))
        left = rows["warming"].mean()
        warming = {part: left * costs.at(f"{part} warming", run.machines) for part in _WARMING}
        driver = costs.at("driver", run.machines) + warming["driver"]
        tasks = float(costs.tasks(rows).mean()) + warming["working"]
        expected["driver"] += warming["driver"]
        expected["tasks"] += tasks * len(rows)
        for part, usual in zip(_WARMING, (driver, tasks), strict=True) if run.real else ():
            measured["warming"] += warming[part] * float(rows[part].mean()) / usual
            expected["warming"] += warming[part]  # as much longer as all that is measured with it
        supersteps.append((driver, tasks, rows["seconds"].mean(), 1.0))
        if run.real and not run.record.engine.get("warm"):
            # Before, by the user or by the algorithm that it follows.
            opened = run.record.engine.get("session") is not None or "follows" in run.record.engine
            parts = [*(() if opened else ("opening",)), "setup start", "setup"]
            own = {part: costs.at(part, run.machines, run.edges) for part in parts}
            for part, seconds in own.items():
                measured[PARTS[part]] += seconds * run.record.phases["setup"] / sum(own.values())
                expected[PARTS[part]] += seconds
    found = {
        name: measured[name] / each for name, each in expected.items() if each * measured[name]
    }
    if supersteps:
        from costmodels import NonNegativeLinear  # imported here because it loads scikit-learn

        driver_apart = expected["driver"], 0.0, measured["driver"], apart
        tasks_apart = 0.0, expected["tasks"], measured["tasks"], apart
        table = np.array([*supersteps, driver_apart, tasks_apart])
        model = NonNegativeLinear(fit_intercept=False)
        model.fit(table[:, :2], table[:, 2], sample_weight=table[:, 3])
        if min(model.coef_) > 0.0:  # else runs do not tell them apart
            found["driver"], found["tasks"] = model.coef_
    return {name: math.log(factor) for name, factor in found.items()}


@dataclass(frozen=True)
class ClusterSpeed:
    """The logarithms of measured / reference seconds of each factor, by algorithm."""

    observed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def with_runs(self, name: str, runs: Sequence[cluster.ClusterRun]) -> ClusterSpeed:
        """Return the speed with runs of an algorithm, in place of its earlier ones."""
        return ClusterSpeed({**self.observed, name: log_factors(runs, reference_costs(name))})

    def factors(self, name: str, usual_factor: float = 1.6) -> dict[str, float]:
        """Return the factors for an algorithm, shrunk to those of a usual cluster.

        They are posterior means of a normal distribution, with the variation between clusters as
        prior. A factor that no run shows is the geometric mean of the others.

        The reference is a dedicated machine, and a usual cluster slower by `usual_factor`. Those of
        the study, whose processors were capped, took two to nine times as long (measured).

        Examples
        --------
        >>> others = {name: {"tasks": math.log(2.0)} for name in ("k-core", "neighborhood")}
        >>> speed = ClusterSpeed({"pagerank": {"tasks": math.log(10.0)}, **others})
        >>> round(speed.factors("pagerank")["tasks"], 1), round(speed.factors("other")["tasks"], 1)
        (5.8, 3.3)
        """
        usual = math.log(usual_factor)
        found: dict[str, float] = {}
        for factor in FACTORS:
            seen = {other: logs[factor] for other, logs in self.observed.items() if factor in logs}
            own = None if factor in _COMMON else seen.pop(name, None)
            precision = (RUN_STD if factor in _COMMON else ALGORITHM_STD) ** -2
            weight = CLUSTER_STD**-2 + len(seen) * precision
            centre = (usual / CLUSTER_STD**2 + sum(seen.values()) * precision) / weight
            if own is not None:  # others show the cluster, from which an algorithm differs
                weight = 1.0 / (1.0 / weight + ALGORITHM_STD**2)
                share = weight / (weight + RUN_STD**-2)
                centre = share * centre + (1.0 - share) * own
            if seen or own is not None:
                found[factor] = centre
        mean = float(np.mean([*found.values()])) if found else usual
        return {factor: math.exp(found.get(factor, mean)) for factor in FACTORS}


def speed_of_cluster(history: History | None, engine: SparkEngine) -> ClusterSpeed:
    """Return the relative speed that the runs of all algorithms on a cluster show.

    Those of a user's function with the name of one of ours show nothing.
    """

    def ours(parameters: Mapping[str, object]) -> bool:
        return "code digest" not in parameters

    names = [] if history is None or len(history) == 0 else cluster.shipped_names()
    found = {name: cluster.cluster_runs(history, engine, name, accepts=ours) for name in names}
    logs = {name: log_factors(runs, reference_costs(name)) for name, runs in found.items() if runs}
    return ClusterSpeed(logs)
