"""Seconds of a run on m machines, from sample runs: each phase, and the start of a Java process.

``t(m) = opening(m) + setup + read + sum over iterations of cost(features at m workers) + start``

The seconds of a superstep are those in which tasks run on the critical worker, and the driver's
own: plans, messages to the executors, waiting. Only the former grow with the graph. Fitted apart,
they are not drowned in the latter, which are most of the seconds of a small sample and vary from
step to step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import check_algorithm
from predict_graph.errors import JobError, RequestError
from predict_graph.prediction.seconds.cluster.real_runs import contradictions
from predict_graph.prediction.seconds.cluster.sample_runs import WARM_UP, ClusterRun, by_session
from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES, busiest_rows
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
class Phase:
    """Seconds of a phase: its work, and what the first time in a Java process takes on top.

    Parameters
    ----------
    work : Line
        Of edges a machine.
    start : Line
        Of the logarithm of machines.
    """

    work: Line
    start: Line

    def scaled(self, factor: float) -> Phase:
        """Return the phase where all of it takes `factor` times as long."""
        return Phase(self.work.scaled(factor), self.start.scaled(factor))

    def at(self, machines: int, edges: float, *, warm: bool = False) -> float:
        """Return the seconds, the first time or where the same ran before."""
        start = 0.0 if warm else self.start.at(math.log2(machines))
        return self.work.at(edges / machines) + start


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
        Of machines: a session waits until each of them is there.
    setup, read : Phase
    checkpoint : Line
        Seconds of keeping a state in files once; of edges a machine.
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

        Nothing is written but states, `checkpoints` times.
        """
        return {
            "opening": self.opening.at(machines),
            "setup": self.setup.at(machines, edges, warm=warm),
            "read": self.read.at(machines, edges, warm=warm),
            "write": checkpoints * self.checkpoint.at(edges / machines),
        }


def fit_cluster_costs(
    runs: list[ClusterRun], others: list[ClusterRun], cost_model: str | None = None
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
    model, driver = _fitted(rows, cost_model)
    phased = warm or others
    sessions = _sessions(runs or others)
    return ClusterCosts(
        name=cost_model,
        model=model,
        driver=driver,
        opening=fitted_line(
            np.array([float(run.machines) for run in runs]),
            np.array([run.session_seconds for run in runs]),
        ),
        setup=_phase("setup", phased, sessions),
        read=_phase("read", phased, sessions),
        checkpoint=_checkpoint(phased),
        start=_start(sessions),
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
        table = _typical(run)
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
    known = pd.concat([rows, *map(_typical, like or [])]).dropna(
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


@dataclass(frozen=True)
class _Session:
    """The first run of a session, those that warmed Java up, and the same once it was warm."""

    starting: list[ClusterRun]
    warm: ClusterRun

    @property
    def machines(self) -> int:
        return self.warm.machines

    def extra(self, phase: str) -> float:
        """Return what a phase took longer the first time."""
        first, warm = (run.profile.phases[phase] for run in (self.starting[0], self.warm))
        return max(first - warm, 0.0)

    @property
    def extra_supersteps(self) -> FloatArray:
        """Seconds that supersteps took on top of those of the warm run, one after the other.

        On top of a usual superstep where all are alike, so that what the first one of every run
        takes is in it; else on top of the same one.
        """
        usual = _typical(self.warm)
        extra = []
        for run in self.starting:
            cold, warm = run.profile.iteration_seconds, self.warm.profile.iteration_seconds
            if len(usual) == 1:
                warm = np.full(len(cold), usual["seconds"].iloc[0])
            length = min(len(cold), len(warm))
            longer = cold[:length] - warm[:length]
            slower = np.maximum(longer, 0.0)
            net = max(float(longer.sum()), 0.0)
            extra.append(slower * (net / slower.sum()) if net > 0.0 else np.zeros(length))
        return np.concatenate(extra)


def _sessions(runs: list[ClusterRun]) -> list[_Session]:
    """Return the sessions whose first run, and one that Java was warm for, are among the runs."""
    found = []
    for first, *rest in by_session(runs):
        if first.real:  # starts cold, as the real run will; what is usual in it says by how much
            found.append(_Session([first], first))
            continue
        alike = [run for run in rest if _same_sample(run, first)]
        warm = next((run for run in alike if run.summary.purpose != WARM_UP), None)
        ran_before = bool(first.profile.engine.get("warm"))  # in the session of a person
        if first.cold and warm is not None and not ran_before:
            warm_ups = [run for run in alike if run.summary.purpose == WARM_UP]
            found.append(_Session([first, *warm_ups], warm))
    return found


def _same_sample(run: ClusterRun, other: ClusterRun) -> bool:
    sizes = [(each.machines, each.summary.vertices, each.summary.edges) for each in (run, other)]
    return sizes[0] == sizes[1]


def _disturbed(run: ClusterRun) -> bool:
    """Whether a run lost an executor: its seconds are not those of its machines."""
    return int(run.profile.engine.get("executors_lost", 0)) > 0


def _typical(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run; one, of median seconds, for supersteps that are all alike."""
    rows = busiest_rows(run.profile.table, run.machines, int(run.profile.engine.get("cores", 1)))
    if not (_alike(rows) and _steady(run.profile.algorithm)):
        return rows
    typical = rows.iloc[[-1]].copy()
    later = rows.iloc[len(rows) // 2 :] if run.real else rows  # a real run starts cold
    for name in ("seconds", "working", "processor"):
        typical[name] = float(later[name].median())
    return typical


def _steady(name: str) -> bool:
    """Whether supersteps with the same messages cost the same: unless messages get shorter."""
    try:
        return check_algorithm(name).steady
    except RequestError:  # a function of one's own
        return True


def _alike(rows: pd.DataFrame) -> bool:
    return len(rows[["messages", "vertices"]].drop_duplicates()) == 1


def _fitted(rows: pd.DataFrame, cost_model: str) -> tuple[TaskSeconds, Line]:
    """Fit the seconds of tasks to features, and the rest to machines."""
    driver = (rows["seconds"] - rows["working"]).clip(lower=_LEAST_DRIVER)
    middle = driver.groupby(rows["machines"]).median()
    line = _by_machines({int(count): float(middle.loc[count]) for count in middle.index})
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


def _by_machines(seconds: Mapping[int, float]) -> Line:
    """Fit what grows with the machines, not with the graph: in their logarithm.

    Two or three counts cannot tell a logarithm from a proportion (terms three and four of Ernest's
    equation 1); of the two it is the one that goes less wrong far from them.
    """
    counts = np.array([math.log2(count) for count in seconds])
    return fitted_line(counts, np.array(list(seconds.values())))


def _phase(name: str, warm: list[ClusterRun], sessions: list[_Session]) -> Phase:
    extra: dict[int, list[float]] = {}
    for session in sessions:
        extra.setdefault(session.machines, []).append(session.extra(name))
    sizes = np.array([run.profile.graph["edges"] / run.machines for run in warm])
    work = fitted_line(sizes, np.array([run.profile.phases[name] for run in warm]))
    return Phase(work, _by_machines({count: float(np.mean(own)) for count, own in extra.items()}))


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


def _start(sessions: list[_Session]) -> FloatArray:
    """Return what the first supersteps of a session take on top; the mean over sessions."""
    extra = [session.extra_supersteps for session in sessions]
    most = max((len(part) for part in extra), default=0)
    padded = [np.pad(part, (0, most - len(part))) for part in extra]
    return np.mean(padded, axis=0) if padded else np.zeros(0)
