"""The costs of an algorithm on a cluster: task seconds of supersteps, and lines for all else.

``t(m) = opening(m) + setup + read + sum of (tasks(features at m workers) + driver(m)) + start(m)``

All shapes are those of the bundled reference runs: session start, JVM warm-up and the driver's part
of a superstep are lines over the logarithm of the machines (a term of Ernest's equation 1), setup,
reading and writing are lines over edges per machine. A cluster scales each by its relative speed.
Only the task seconds are fitted to its own runs instead, where that has the lower error in
cross-validation. On the bundled runs, with a graph size or a machine count left out, this is less
than half as far off as lines fitted to own runs (docs/studies/cold-start.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import SPARK_LIBRARIES
from predict_graph.prediction.seconds.cluster.sample_runs import WARM_UP, ClusterRun, by_session
from predict_graph.prediction.seconds.cluster.superstep_features import (
    FEATURES,
    rows_of_run,
    without_spilling,
)
from predict_graph.prediction.seconds.regression import COST_MODELS, DEFAULT_COST_MODEL
from predict_graph.prediction.seconds.straight_line import Line, fitted_line

FloatArray = npt.NDArray[np.float64]

STARTS = ("setup start", "read start", "superstep start")
"""Additional seconds of phases on first execution in a JVM."""
BY_MACHINES = ("opening", "driver")
"""The parts of a run that grow with the logarithm of the machines."""
# Machines of the reference runs: on these, JVM warm-up took twice as long as on one, as they shared
# a processor (measured); on more, it is taken to be the same
_FEW_MACHINES = 2
_CLOCK = 1e-3  # seconds, the resolution of Spark's clock, by definition
_ENOUGH = 6  # supersteps of a cold run from which its second half is used: limits JVM warm-up in it
# Measured on PageRank of R-MAT 16 to 21 (docs/studies/spark.md): vertices of a partition whose
# tables still fit in a cache, and the additional time per doubling.
_NEAR, _A_DOUBLING = 100_000, 0.25
_LEAST_STD = 0.08  # of runs of the same job: bounds the interval from below (docs/studies/spark.md)


def outgrown(rows: pd.DataFrame) -> FloatArray:
    """Return by how much large hash tables of partitions slow tasks down, 1 for small ones.

    Examples
    --------
    >>> import pandas as pd
    >>> outgrown(pd.DataFrame({"vertices": [50_000, 800_000], "partitions": [1.0, 2.0]}))
    array([1. , 1.5])
    """
    if "partitions" not in rows:
        return np.ones(len(rows))
    held = rows["vertices"].to_numpy(np.float64) / rows["partitions"].to_numpy(np.float64)
    held = np.where(np.isfinite(held), held, 0.0)
    factors: FloatArray = 1.0 + _A_DOUBLING * np.log2(np.maximum(held / _NEAR, 1.0))
    return factors


@dataclass(frozen=True)
class TaskSeconds:
    """The task seconds of a superstep on the busiest worker, by a regression on its features."""

    model: Any
    columns: list[str]
    factor: float = 1.0

    @property
    def terms(self) -> dict[str, float]:
        """The seconds per unit of each feature, and the constant, for small partitions."""
        found = getattr(self.model, "terms_", {})
        return {str(name): self.factor * float(value) for name, value in found.items()}

    def predict(self, features: pd.DataFrame) -> FloatArray:
        """Return the seconds of each superstep."""
        predicted: FloatArray = self.model.predict(features[self.columns])
        return self.factor * outgrown(features) * predicted

    def r2(self, rows: pd.DataFrame) -> float:
        """Return the coefficient of determination on rows; NaN if all times are equal."""
        working = rows["working"].to_numpy(np.float64)
        left = float(np.sum((self.predict(rows) - working) ** 2))
        total = float(np.sum((working - working.mean()) ** 2))
        return 1.0 - left / total if total > 0 else float("nan")


@dataclass(frozen=True)
class ClusterCosts:
    """The time of a run on a number of machines."""

    name: str
    tasks: TaskSeconds
    lines: Mapping[str, Line]
    relative_std: float
    r2: float
    rows: int
    runs: int
    errors: list[float] = field(default_factory=list)

    @property
    def terms(self) -> dict[str, float]:
        """The seconds per unit of each feature, per doubling of machines, and per superstep."""
        terms, driver = self.tasks.terms, self.lines["driver"]
        terms["intercept"] = terms.get("intercept", 0.0) + driver.constant
        terms["log2 machines"] = driver.slope
        return {name: value for name, value in terms.items() if value > 0.0}

    def at(self, part: str, machines: int, edges: float = 0.0) -> float:
        """Return the seconds of a part of a run."""
        return self.lines[part].at(_size(part, machines, edges))

    def supersteps(
        self, features: pd.DataFrame, machines: int, *, warm: bool = False
    ) -> FloatArray:
        """Return the seconds of each superstep, with JVM warm-up in the first one."""
        seconds: FloatArray = self.tasks.predict(features) + self.at("driver", machines)
        if not warm:
            seconds[:1] += self.at("superstep start", machines)
        return seconds

    def phases(
        self, machines: int, edges: float, checkpoints: int = 0, *, warm: bool = False
    ) -> dict[str, float]:
        """Return the seconds of session start, setup, reading and writing.

        Only checkpoints are written, `checkpoints` times, and the final results of library code.
        """

        def at(part: str) -> float:
            return self.at(part, machines, edges)

        return {
            "opening": at("opening"),
            "setup": at("setup") + (0.0 if warm else at("setup start")),
            "read": at("read") + (0.0 if warm else at("read start")),
            "write": checkpoints * at("checkpoint") + at("write"),
        }

    def scaled(self, factors: Mapping[str, float]) -> ClusterCosts:
        """Return the costs on a cluster with these relative speeds."""
        lines = {part: line.scaled(factors[factor_of(part)]) for part, line in self.lines.items()}
        tasks = replace(self.tasks, factor=self.tasks.factor * factors["tasks"])
        return replace(self, tasks=tasks, lines=lines)


def factor_of(part: str) -> str:
    """Return which relative speed of a cluster scales a part of a run."""
    if part in STARTS:
        return "start"
    return "tasks" if part in ("write", "checkpoint") else part


def costs_of(runs: Sequence[ClusterRun], cost_model: str | None = None) -> ClusterCosts:
    """Fit all costs to sample runs in complete sessions."""
    measured = observations(runs)
    parts = (*STARTS, *BY_MACHINES, "setup", "read", "write", "checkpoint")
    lines = {part: line_through(measured.get(part, [])) for part in parts}
    tables = [typical_rows(run) for run in informative(runs)]
    rows = pd.concat(tables, ignore_index=True)
    name = cost_model or DEFAULT_COST_MODEL
    tasks = fit_tasks(tables, name)
    std = max(rms(left_out_errors(tables, name)), _LEAST_STD)
    return ClusterCosts(name, tasks, lines, std, tasks.r2(rows), len(rows), len(tables))


def costs_on_cluster(
    reference: ClusterCosts, factors: Mapping[str, float], runs: Sequence[ClusterRun]
) -> ClusterCosts:
    """Return the costs on a cluster with these relative speeds, and these runs of the algorithm.

    A regression on the runs replaces that of the reference runs if its error in cross-validation,
    leaving out a run at a time, is lower. Event logs contain no messages, which the latter needs.
    """
    tables = [typical_rows(run) for run in informative(runs)]
    scaled = reference.scaled(factors)
    written = {
        part: line_through(points)
        for part, points in phases_of(runs).items()
        if part in ("write", "checkpoint")  # those of a user function have no reference
    }
    scaled = replace(scaled, lines={**scaled.lines, **written})
    if len(tables) < 2:
        return replace(scaled, runs=len(tables) or reference.runs)
    errors = left_out_errors(tables, reference.name)
    by_reference = None
    if not any(run.seen_by_log for run in runs):
        by_reference = left_out_errors(tables, reference.name, reference.tasks)
    if by_reference is not None and rms(by_reference) < rms(errors):
        tasks, errors = scaled.tasks, by_reference
    else:
        tasks = fit_tasks(tables, reference.name)
    rows = pd.concat(tables, ignore_index=True)
    # The mean of the squares, with that of an unknown graph as one more run
    std = max(rms([*errors, reference.relative_std]), _LEAST_STD)
    return ClusterCosts(
        reference.name, tasks, scaled.lines, std, tasks.r2(rows), len(rows), len(tables), errors
    )


def observations(runs: Sequence[ClusterRun]) -> dict[str, list[tuple[float, float]]]:
    """Return the measured seconds of each part of runs, by the size it depends on."""
    found = phases_of(runs)
    for run in informative(runs):
        rows = typical_rows(run)
        idle = float((rows["seconds"] - rows["working"]).clip(lower=_CLOCK).median())
        found.setdefault("driver", []).append((_size("driver", run.machines, 0.0), idle))
    return found


def phases_of(runs: Sequence[ClusterRun]) -> dict[str, list[tuple[float, float]]]:
    """Return the measured seconds of each part outside supersteps of sample runs, by size.

    Only the first runs of a session show its start: their additional time over the same sample
    after JVM warm-up. Where a first run has no such successor, they show nothing.
    """
    found: dict[str, list[tuple[float, float]]] = {}

    def add(part: str, run: ClusterRun, seconds: float) -> None:
        size = _size(part, run.machines, float(run.profile.graph["edges"]))
        found.setdefault(part, []).append((size, seconds))

    for session in by_session([run for run in runs if not run.real]):
        first = session[0]
        if first.cold and first.session_seconds > 0.0:
            add("opening", first, first.session_seconds)
        for starting, warm in _start(session):
            usual = warm.profile.phases
            for phase in ("setup", "read"):
                extra = first.profile.phases[phase] - usual[phase]
                add(f"{phase} start", first, max(extra, 0.0))
            extra = sum(run.profile.phases["superstep"] - usual["superstep"] for run in starting)
            add("superstep start", first, max(extra, 0.0))
    for run in informative(runs):
        if run.real:
            continue
        phases, interval = run.profile.phases, run.profile.engine.get("checkpoint_interval")
        add("setup", run, phases["setup"])
        if phases["read"] > 0.0:  # only the first algorithm of a chain reads
            add("read", run, phases["read"])
        if interval:
            times = -(-run.profile.iterations // int(interval))
            add("checkpoint", run, phases["write"] / times)
        elif run.measures is not None or _of_library(run):
            add("write", run, phases["write"])
    return found


def _start(session: list[ClusterRun]) -> Iterator[tuple[list[ClusterRun], ClusterRun]]:
    """Give the first runs of a session, and the same run after JVM warm-up, if there are both."""
    first, *rest = session
    same = [run for run in rest if run.summary.edges == first.summary.edges]
    warm = [run for run in same if run.summary.purpose != WARM_UP]
    # Another run may have preceded the first one in a session of the user.
    if first.cold and not first.profile.engine.get("warm") and warm:
        yield [first, *(run for run in same if run.summary.purpose == WARM_UP)], warm[0]


def _of_library(run: ClusterRun) -> bool:
    return run.profile.algorithm.partition(":")[0] in SPARK_LIBRARIES


def _size(part: str, machines: int, edges: float) -> float:
    """Return what the seconds of a part depend on: edges per machine, or log2 of the machines."""
    if part in STARTS:
        return math.log2(min(machines, _FEW_MACHINES))
    return math.log2(machines) if part in BY_MACHINES else edges / machines


def line_through(points: Sequence[tuple[float, float]]) -> Line:
    """Return the line through measured seconds by size; their mean if they have one size."""
    sizes, seconds = np.array(points, dtype=np.float64).reshape(-1, 2).T
    return fitted_line(sizes, seconds)


def informative(runs: Sequence[ClusterRun]) -> list[ClusterRun]:
    """Return the runs whose supersteps show usual costs: warm sample runs, and real runs."""
    return [run for run in runs if run.real or (not run.cold and run.summary.purpose == "cost")]


def typical_rows(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run after JVM warm-up; one of medians where supersteps have equal work.

    Messages may get shorter during a run, so that bytes do not show equal work. A log contains no
    messages, and vertices only if the user gave them.
    """
    rows = rows_of_run(run.profile, run.machines)
    if run.cold and len(rows) >= _ENOUGH:
        rows = rows.iloc[len(rows) // 2 :]
    work = [name for name in ("vertices", "messages", "merged") if name in rows]
    rows = without_spilling(rows).groupby(work, sort=False, as_index=False).median()
    if run.seen_by_log:
        rows["messages"] = np.nan
        rows["vertices"] = rows["vertices"].where(rows["vertices"] > 0.0)
    return rows


def fit_tasks(tables: Sequence[pd.DataFrame], cost_model: str) -> TaskSeconds:
    """Fit the task seconds to the rows of runs, each with the same weight.

    All features that vary are used: few small runs cannot show which of them matter in a large run.
    """
    parts = [
        table.assign(group=number, weight=1.0 / len(table)) for number, table in enumerate(tables)
    ]
    rows = pd.concat(parts, ignore_index=True)
    seconds = np.maximum(rows["working"].to_numpy(np.float64), _CLOCK) / outgrown(rows)
    known = [name for name in FEATURES if name in rows and rows[name].notna().all()]
    varying = [name for name in known if rows[name].nunique() > 1]
    if "merged" in varying and (rows["merged"] == rows["messages"]).all():
        varying.remove("merged")  # messages are numbers: combining two is one step
    columns = varying or known[:1]
    weight = rows["weight"].to_numpy(np.float64)
    model = COST_MODELS.get(cost_model)()
    options = {"groups": rows["group"].to_numpy()} if hasattr(model, "max_folds") else {}
    if "required" in getattr(model, "get_params", dict)():
        model.set_params(required=columns)
    try:
        model.fit(rows[columns], seconds, sample_weight=weight, **options)
    except ValueError:  # too few rows to select features: one feature, in proportion
        from costmodels import NonNegativeLinear  # imported here because it loads scikit-learn

        model, columns = NonNegativeLinear(fit_intercept=len(rows) > 1), columns[:1]
        model.fit(rows[columns], seconds, sample_weight=weight)
    return TaskSeconds(model, columns)


def left_out_errors(
    tables: Sequence[pd.DataFrame], cost_model: str, reference: TaskSeconds | None = None
) -> list[float]:
    """Return log(measured / predicted) task seconds of each run, from the others.

    The prediction is a regression on the others, or that of reference runs scaled to the others.
    """
    errors = []
    for number, left_out in enumerate(tables):
        rest = [table for other, table in enumerate(tables) if other != number]
        if not rest:
            break
        tasks = reference or fit_tasks(rest, cost_model)
        if reference is not None:
            tasks = replace(reference, factor=math.exp(-log_ratio(rest, reference)))
        errors.append(-log_ratio([left_out], tasks))
    return errors


def log_ratio(tables: Sequence[pd.DataFrame], tasks: TaskSeconds) -> float:
    """Return log(predicted / measured) task seconds of runs."""
    predicted = sum(float(tasks.predict(rows).sum()) for rows in tables)
    measured = sum(float(rows["working"].clip(lower=_CLOCK).sum()) for rows in tables)
    return math.log(max(predicted, _CLOCK) / measured)


def rms(errors: Sequence[float]) -> float:
    """Return the root mean square."""
    return math.sqrt(float(np.mean(np.square(errors)))) if len(errors) else 0.0
