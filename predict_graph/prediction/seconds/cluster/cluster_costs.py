"""The runtime on m machines, fitted to sample runs: each phase, and JVM warm-up.

``t(m) = opening(m) + setup + read + sum over iterations of cost(features at m workers) + start``

The time of a superstep consists of the task time on the critical worker, and the driver's time:
planning, messages to the executors, waiting. Only the task time grows with the graph. Separate fits
keep it from being masked by the driver's time, which dominates small samples and varies between
supersteps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import SPARK_LIBRARIES
from predict_graph.errors import JobError
from predict_graph.prediction.seconds.cluster.real_runs import contradictions
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.session_phases import (
    CommonPhases,
    Phase,
    by_machines,
    opening_of,
    phase_of,
    sessions_of,
    start_of,
    typical_rows,
)
from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES
from predict_graph.prediction.seconds.cluster.task_seconds import (
    CLOCK,
    TaskSeconds,
    fit_task_seconds,
)
from predict_graph.prediction.seconds.regression import DEFAULT_COST_MODEL, OWN_WEIGHT
from predict_graph.prediction.seconds.straight_line import Line, fitted_line

FloatArray = npt.NDArray[np.float64]

_LEAST_STD = 0.08  # of runs of the same job: bounds the interval from below (docs/studies/spark.md)
# Limits the confidence in cross-validation of few runs: 0.25; not tuned.
_FEW_RUNS, _FEW_STD = 3, 0.25


@dataclass(frozen=True)
class ClusterCosts:
    """The time of a run on a number of machines."""

    name: str
    model: TaskSeconds
    driver: Line
    opening: Line
    setup: Phase
    read: Phase
    checkpoint: Line
    after: Line
    start: FloatArray
    relative_std: float
    r2: float
    rows: int
    runs: int
    errors: list[float] = field(default_factory=list)
    contradicted: int = 0
    level: float = 1.0

    @property
    def terms(self) -> dict[str, float]:
        """The seconds per unit of each feature, per doubling of machines, and per superstep."""
        terms = dict(self.model.terms)
        terms["intercept"] = terms.get("intercept", 0.0) + self.driver.constant
        terms["log2 machines"] = self.driver.slope
        return {name: self.level * value for name, value in terms.items() if value > 0.0}

    def supersteps(
        self, features: pd.DataFrame, machines: int, *, warm: bool = False
    ) -> FloatArray:
        """Return the seconds of each superstep, with JVM warm-up in the first ones."""
        seconds: FloatArray = self.model.predict(features) + self.driver.at(math.log2(machines))
        seconds = self.level * seconds
        if warm:
            return seconds
        first = min(len(seconds), len(self.start))
        seconds[:first] += self.start[:first]
        if first:  # a run shorter than the warm-up includes all of it
            seconds[first - 1] += self.start[first:].sum()
        return seconds

    def phases(
        self, machines: int, edges: float, checkpoints: int = 0, *, warm: bool = False
    ) -> dict[str, float]:
        """Return the seconds of session start, setup, reading and writing.

        Only checkpoints are written, `checkpoints` times, and the final results of library code.
        """
        return {
            "opening": self.opening.at(math.log2(machines)),
            "setup": self.setup.at(machines, edges, warm=warm),
            "read": self.read.at(machines, edges, warm=warm),
            "write": checkpoints * self.checkpoint.at(edges / machines)
            + self.after.at(edges / machines),
        }


def fit_cluster_costs(
    runs: list[ClusterRun],
    others: list[ClusterRun],
    cost_model: str | None = None,
    common: CommonPhases | None = None,
    like: ClusterCosts | None = None,
) -> ClusterCosts:
    """Fit the costs to sample runs, and to real runs on the same cluster.

    Real runs are training rows too, unless the newest are outside the interval of the earlier
    sample runs. Then the cluster has changed, and the estimate is multiplied by their mean ratio,
    shrunk to its square root for a single run.
    """
    cost_model = cost_model or DEFAULT_COST_MODEL
    runs = [run for run in runs if not _disturbed(run)]
    others = [run for run in others if not _disturbed(run)]
    warm = [run for run in runs if not run.cold and run.summary.purpose == "cost"]
    if (runs and not warm) or not (warm or others):
        raise JobError("no sample run on the cluster finished, so there is no cost model")
    sampled, real = _rows(warm), _rows(others, after=len(warm), like=warm)
    std, errors, contradicted, level = _LEAST_STD, [], 0, 1.0
    if warm:
        std = max(_unseen_std(sampled, cost_model), _LEAST_STD)
        errors = _errors(sampled, real, cost_model)
        newer = [error for error, run in zip(errors, others, strict=True) if _newer(run, runs)]
        contradicted = contradictions(newer, std)
        if contradicted:
            off, real = float(np.mean(newer[:contradicted])), real.iloc[:0]
            level = math.exp(off * contradicted / (contradicted + 1))
            std = math.hypot(std, off / (contradicted + 1))
    else:
        std = _LEAST_STD if len(others) >= _FEW_RUNS else _FEW_STD
        errors = _left_out_errors(real, cost_model)
    rows = pd.concat([part for part in (sampled, real) if len(part)], ignore_index=True)
    model, driver = _fitted(rows, cost_model, None if like is None else like.driver)
    phased = warm or others
    sessions = sessions_of(runs or others)
    opening = common.opening if common else opening_of(runs)
    return ClusterCosts(
        name=cost_model,
        model=model,
        driver=driver,
        opening=opening or Line(0.0, 0.0),
        setup=phase_of("setup", phased, sessions, None if like is None else like.setup.start),
        read=common.read
        if common is not None and all(run.elsewhere for run in phased)
        else phase_of("read", phased, sessions),
        checkpoint=_checkpoint(phased),
        after=_after(phased),
        start=like.start if like is not None and not sessions else start_of(sessions),
        relative_std=std,
        r2=model.r2(rows),
        rows=len(rows),
        runs=len(warm) + len(others),
        errors=errors,
        contradicted=contradicted,
        level=level,
    )


def _rows(
    runs: list[ClusterRun], after: int = 0, like: list[ClusterRun] | None = None
) -> pd.DataFrame:
    """Return the rows of runs, each run with a group and a weight.

    A log contains records and bytes. Messages and vertices are scaled from its records as in other
    runs, and are unknown if there are none.
    """
    tables = []
    for number, run in enumerate(runs, start=after):
        table = typical_rows(run)
        weight = 1.0 if run.real and run.elsewhere else OWN_WEIGHT
        if run.seen_by_log:
            table["messages"] = np.nan
            if not (table["vertices"] > 0).any():
                table["vertices"] = np.nan
        tables.append(table.assign(group=number, weight=weight / len(table)))
    if not tables:
        return pd.DataFrame(columns=[*FEATURES, "group", "weight"])
    rows = pd.concat(tables, ignore_index=True)
    if not rows[["messages", "vertices"]].isna().any(axis=None):
        return rows
    known = pd.concat([rows, *map(typical_rows, like or [])]).dropna(
        subset=["vertices", "messages", "records"]
    )
    for name in ("messages", "vertices"):
        if rows[name].isna().any() and len(known):
            share = float(known[name].sum() / max(known["records"].sum(), 1.0))
            rows[name] = rows[name].fillna(share * rows["records"])
    return rows


def _newer(run: ClusterRun, runs: list[ClusterRun]) -> bool:
    """Whether a real run is newer than all stored sample runs."""
    times = [each.time for each in runs]
    return run.time is not None and all(time is not None and time < run.time for time in times)


def _disturbed(run: ClusterRun) -> bool:
    """Whether a run lost an executor, so that its times are not representative."""
    return int(run.profile.engine.get("executors_lost", 0)) > 0


def _fitted(
    rows: pd.DataFrame, cost_model: str, like: Line | None = None
) -> tuple[TaskSeconds, Line]:
    """Fit task time to features, and driver time to machines."""
    driver = (rows["seconds"] - rows["working"]).clip(lower=CLOCK)
    middle = driver.groupby(rows["machines"]).median()
    line = by_machines({int(count): float(middle.loc[count]) for count in middle.index}, like)
    return fit_task_seconds(rows, cost_model), line


def _unseen_std(rows: pd.DataFrame, cost_model: str) -> float:
    """Return the root mean square of the relative error in leave-one-run-out validation."""
    if rows["group"].nunique() < _FEW_RUNS:
        return _FEW_STD
    ratios = np.exp(_left_out_errors(rows, cost_model))
    return float(np.sqrt(np.mean(np.square(1.0 / ratios - 1.0))))


def _left_out_errors(rows: pd.DataFrame, cost_model: str) -> list[float]:
    """Return the error of each run for a model of the others; none for a single run."""
    groups = rows["group"].unique()
    if len(groups) < 2:
        return []
    parts = [(rows[rows["group"] != group], rows[rows["group"] == group]) for group in groups]
    return [error for rest, part in parts for error in _errors(rest, part, cost_model)]


def _errors(known: pd.DataFrame, rows: pd.DataFrame, cost_model: str) -> list[float]:
    """Return the logarithm of actual / predicted seconds of each run among `rows`."""
    if not len(rows):
        return []
    model, driver = _fitted(known, cost_model)
    errors = []
    for _, part in rows.groupby("group"):
        predicted = float(model.predict(part).sum())
        predicted += sum(driver.at(math.log2(machines)) for machines in part["machines"])
        errors.append(math.log(float(part["seconds"].sum()) / predicted))
    return errors


def _checkpoint(warm: list[ClusterRun]) -> Line:
    """Return the seconds per checkpoint; sample runs write one at their end, if not before."""
    rows = []
    for run in warm:
        interval = run.profile.engine.get("checkpoint_interval")
        if interval:
            times = -(-run.profile.iterations // int(interval))
            rows.append(
                (run.profile.graph["edges"] / run.machines, run.profile.phases["write"] / times)
            )
    if not rows:
        return Line(0.0, 0.0)
    sizes, seconds = np.array(rows).T
    return fitted_line(sizes, seconds)


def _after(warm: list[ClusterRun]) -> Line:
    """Return the seconds after the last superstep, for library algorithms and user functions."""
    rows = [
        (run.profile.graph["edges"] / run.machines, run.profile.phases["write"])
        for run in warm
        if run.measures is not None or run.profile.algorithm.partition(":")[0] in SPARK_LIBRARIES
    ]
    if not rows:
        return Line(0.0, 0.0)
    sizes, seconds = np.array(rows).T
    return fitted_line(sizes, seconds)
