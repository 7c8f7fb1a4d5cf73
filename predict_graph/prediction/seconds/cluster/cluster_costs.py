"""Seconds of a run on m machines, from sample runs: each phase, and the start of a Java process.

``t(m) = opening(m) + setup + read + sum over iterations of cost(features at m workers) + start``

The seconds of a superstep are those in which tasks run on the critical worker, and the driver's
own: plans, messages to the executors, waiting. Only the former grow with the graph. Fitted apart,
they are not drowned in the latter, which are most of the seconds of a small sample and vary from
step to step.
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
from predict_graph.prediction.seconds.cluster.task_seconds import TaskSeconds, fit_task_seconds
from predict_graph.prediction.seconds.regression import DEFAULT_COST_MODEL
from predict_graph.prediction.seconds.straight_line import Line, fitted_line

__all__ = ["ClusterCosts", "Phase", "fit_cluster_costs"]

FloatArray = npt.NDArray[np.float64]

_OWN_WEIGHT = 4.0  # of runs of this graph against another's; judgement, not measured
_LEAST_STD = 0.08  # of runs of the same job; judgement (intervals: docs/studies/spark.md)
# Fewer runs say nothing of those left out: 0.25; judgement, not measured.
_FEW_RUNS, _FEW_STD = 3, 0.25
_LEAST_DRIVER = 1e-3  # by definition, in seconds: Spark counts milliseconds


@dataclass(frozen=True)
class ClusterCosts:
    """What a run costs on so many machines.

    Parameters
    ----------
    name : str
        Of the cost model of supersteps.
    model : TaskSeconds
    driver : Line
        The rest of a superstep; of the logarithm of machines.
    opening : Line
        Of the logarithm of machines: a session waits until each of them is there.
    setup, read : Phase
    checkpoint : Line
        Seconds of keeping a state in files once; of edges a machine.
    after : Line
        Seconds after the last superstep in which others' code makes its result; of edges a machine.
    start : ndarray of float64
        What the first supersteps take on top, in the order that they come.
    relative_std : float
        Of seconds of supersteps of runs that the model had not seen.
    r2 : float
        Coefficient of determination of the seconds of tasks, on the training rows.
    rows, runs : int
        What it was trained on.
    errors : list of float
        Logarithms of actual / predicted seconds of supersteps of real runs that it had not seen,
        newest first.
    contradicted : int
        How many of the newest real runs are outside the interval of the lessons before them.
    level : float
        By which seconds are multiplied for that.
    """

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
        """Seconds a unit of each feature, a doubling of machines, and a superstep."""
        terms = dict(self.model.terms)
        terms["intercept"] = terms.get("intercept", 0.0) + self.driver.constant
        terms["log2 machines"] = self.driver.slope
        return {name: self.level * value for name, value in terms.items() if value > 0.0}

    def supersteps(
        self, features: pd.DataFrame, machines: int, *, warm: bool = False
    ) -> FloatArray:
        """Return the seconds of each superstep, those of the start on the first ones."""
        seconds: FloatArray = self.model.predict(features) + self.driver.at(math.log2(machines))
        seconds = self.level * seconds
        if warm:
            return seconds
        first = min(len(seconds), len(self.start))
        seconds[:first] += self.start[:first]
        if first:  # a run shorter than the start has all of it to bear
            seconds[first - 1] += self.start[first:].sum()
        return seconds

    def phases(
        self, machines: int, edges: float, checkpoints: int = 0, *, warm: bool = False
    ) -> dict[str, float]:
        """Return the seconds of opening a session, of setting up, of reading and of writing.

        Nothing is written but states, `checkpoints` times, and what others' code makes at the end.
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

    Real runs are training rows too, unless the newest are outside the interval of the sample runs
    before them: then the cluster has changed, and what the sample runs say is multiplied, by as
    much as these took longer if they were many, by the root of it if there was one.

    Parameters
    ----------
    runs : list of ClusterRun
        Sample runs; none if real runs are all there is.
    others : list of ClusterRun
        Real runs, newest first.
    cost_model : str, optional
        Of a registered cost model; forward selection among non-negative costs by default.
    common : CommonPhases, optional
        Of all algorithms on the cluster; what these runs say of opening and reading by default.
        Runs of samples of this very graph say themselves how it is read.
    like : ClusterCosts, optional
        What they are taken to be like where these runs say nothing: in what a session that begins
        takes on top, if they were in sessions that others had begun, and at other machine counts.

    Raises
    ------
    JobError
        If no run is left to learn from.
    """
    cost_model = cost_model or DEFAULT_COST_MODEL
    runs = [run for run in runs if not _disturbed(run)]
    others = [run for run in others if not _disturbed(run)]
    warm = [run for run in runs if not run.cold and run.summary.purpose == "cost"]
    if (runs and not warm) or not (warm or others):
        raise JobError("no sample run on the cluster came to its end, so there is no cost model")
    lessons, real = _rows(warm), _rows(others, after=len(warm), like=warm)
    std, errors, contradicted, level = _LEAST_STD, [], 0, 1.0
    if warm:
        std = max(_unseen_std(lessons, cost_model), _LEAST_STD)
        errors = _errors(lessons, real, cost_model)
        newer = [error for error, run in zip(errors, others, strict=True) if _newer(run, runs)]
        contradicted = contradictions(newer, std)
        if contradicted:
            off, real = float(np.mean(newer[:contradicted])), real.iloc[:0]
            level = math.exp(off * contradicted / (contradicted + 1))
            std = math.hypot(std, off / (contradicted + 1))
    else:
        std = _LEAST_STD if len(others) >= _FEW_RUNS else _FEW_STD
        errors = _left_out_errors(real, cost_model)
    rows = pd.concat([part for part in (lessons, real) if len(part)], ignore_index=True)
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

    A log knows records and bytes. What it does not, messages and vertices, is put in proportion to
    its records as they are in other runs, and left unknown if there are no others.
    """
    tables = []
    for number, run in enumerate(runs, start=after):
        table = typical_rows(run)
        weight = 1.0 if run.real and run.elsewhere else _OWN_WEIGHT
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
    """Whether a real run is newer than all sample runs, as those of this prediction never are."""
    times = [each.time for each in runs]
    return run.time is not None and all(time is not None and time < run.time for time in times)


def _disturbed(run: ClusterRun) -> bool:
    """Whether a run lost an executor: its seconds are not those of its machines."""
    return int(run.profile.engine.get("executors_lost", 0)) > 0


def _fitted(
    rows: pd.DataFrame, cost_model: str, like: Line | None = None
) -> tuple[TaskSeconds, Line]:
    """Fit the seconds of tasks to features, and the rest to machines."""
    driver = (rows["seconds"] - rows["working"]).clip(lower=_LEAST_DRIVER)
    middle = driver.groupby(rows["machines"]).median()
    line = by_machines({int(count): float(middle.loc[count]) for count in middle.index}, like)
    return fit_task_seconds(rows, cost_model), line


def _unseen_std(rows: pd.DataFrame, cost_model: str) -> float:
    """Return the relative error of runs that were left out, root of the mean square."""
    if rows["group"].nunique() < _FEW_RUNS:
        return _FEW_STD
    ratios = np.exp(_left_out_errors(rows, cost_model))
    return float(np.sqrt(np.mean(np.square(1.0 / ratios - 1.0))))


def _left_out_errors(rows: pd.DataFrame, cost_model: str) -> list[float]:
    """Return the error of each run by a model of the others; none of a run that is alone."""
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
    """Return the seconds of keeping a state once: sample runs do so at their end, if not before."""
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
    """Return the seconds after the last superstep: of libraries, and functions of one's own."""
    rows = [
        (run.profile.graph["edges"] / run.machines, run.profile.phases["write"])
        for run in warm
        if run.measures is not None or run.profile.algorithm.partition(":")[0] in SPARK_LIBRARIES
    ]
    if not rows:
        return Line(0.0, 0.0)
    sizes, seconds = np.array(rows).T
    return fitted_line(sizes, seconds)
