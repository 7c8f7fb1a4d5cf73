"""Seconds of a run on m machines, from sample runs: each phase, and the start of a Java process.

``t(m) = opening(m) + setup + read + sum over iterations of cost(features at m workers) + start``
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels import NonNegativeLinear, relative_error
from predict_graph.errors import JobError
from predict_graph.prediction.cluster.sample_runs import ClusterRun
from predict_graph.prediction.cluster.work import FEATURES, busiest_rows
from predict_graph.prediction.costs import COST_MODELS

__all__ = ["ClusterCosts", "Line", "fit_cluster_costs"]

FloatArray = npt.NDArray[np.float64]

_OWN_WEIGHT = 4.0  # of a row of this graph, against one of the history
_LEAST_STD = 0.08  # runs of the same job differ so much


@dataclass(frozen=True)
class Line:
    """Seconds = constant + slope x what there is to do; neither is negative.

    Parameters
    ----------
    constant, slope : float
    start : float
        What the first time in a Java process takes on top.
    """

    constant: float
    slope: float
    start: float = 0.0

    def at(self, size: float) -> float:
        """Return the seconds for so much to do, the first time."""
        return self.constant + self.slope * size + self.start


@dataclass(frozen=True)
class ClusterCosts:
    """What a run costs on so many machines.

    Parameters
    ----------
    name : str
        Of the cost model of supersteps.
    model : estimator
        From ``FEATURES`` to seconds.
    columns : list of str
        The features that it was given.
    opening, setup, read : Line
        Of machines, and of edges a machine twice.
    start : ndarray of float64
        What the first supersteps take on top, in the order that they come.
    relative_std : float
        Of seconds of supersteps of runs that the model had not seen.
    rows, runs : int
        What it was trained on.
    """

    name: str
    model: object
    columns: list[str]
    opening: Line
    setup: Line
    read: Line
    start: FloatArray
    relative_std: float
    rows: int
    runs: int

    @property
    def terms(self) -> dict[str, float]:
        """Seconds a unit of each feature."""
        terms = getattr(self.model, "terms_", {})
        return {str(name): float(value) for name, value in terms.items() if value > 0.0}

    @property
    def r2(self) -> float:
        """Coefficient of determination on the training rows."""
        return float(getattr(self.model, "r2_", float("nan")))

    def supersteps(self, features: pd.DataFrame) -> FloatArray:
        """Return the seconds of each superstep, those of the start on the first ones."""
        seconds: FloatArray = self.model.predict(features[self.columns])  # type: ignore[attr-defined]
        seconds = seconds.copy()
        first = min(len(seconds), len(self.start))
        seconds[:first] += self.start[:first]
        if first:  # a run shorter than the start has all of it to bear
            seconds[first - 1] += self.start[first:].sum()
        return seconds

    def phases(self, machines: int, edges: int) -> dict[str, float]:
        """Return the seconds of opening a session, of setting up and of reading."""
        share = edges / machines
        return {
            "opening": self.opening.at(machines),
            "setup": self.setup.at(share),
            "read": self.read.at(share),
        }


def fit_cluster_costs(
    runs: list[ClusterRun], others: list[pd.DataFrame], cost_model: str
) -> ClusterCosts:
    """Fit the costs to sample runs, and to real runs of other graphs on the same cluster.

    Parameters
    ----------
    runs : list of ClusterRun
    others : list of DataFrame
        See :func:`~predict_graph.prediction.cluster.work.busiest_rows`.
    cost_model : str
        Of a registered cost model.

    Raises
    ------
    JobError
        If no sample run is left to learn from.
    """
    runs = [run for run in runs if run.summary.purpose == "cost" and not _disturbed(run)]
    warm = [run for run in runs if not run.cold]
    if not warm:
        raise JobError("no sample run on the cluster came to its end, so there is no cost model")
    tables = [_typical(run) for run in warm]
    parts = [
        table.assign(group=number, weight=(_OWN_WEIGHT if number < len(tables) else 1.0))
        for number, table in enumerate([*tables, *others])
    ]
    for part in parts:
        part["weight"] /= len(part)
    rows = pd.concat(parts, ignore_index=True)
    columns = [name for name in FEATURES if rows[name].nunique() > 1]
    model = _fitted(cost_model, rows, columns)
    first = {run.machines: run for run in runs if run.cold}
    again = {run.machines: next(r for r in warm if r.machines == run.machines) for run in runs}
    return ClusterCosts(
        name=cost_model,
        model=model,
        columns=columns,
        opening=_line(
            np.array([float(count) for count in first]),
            np.array([run.session_seconds for run in first.values()]),
        ),
        setup=_phase("setup", warm, first, again),
        read=_phase("read", warm, first, again),
        start=_start(first, again),
        relative_std=max(_unseen_std(cost_model, rows, columns), _LEAST_STD),
        rows=len(rows),
        runs=len(parts),
    )


def _disturbed(run: ClusterRun) -> bool:
    """Whether a run lost an executor: its seconds are not those of its machines."""
    return int(run.profile.engine.get("executors_lost", 0)) > 0


def _typical(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run; one, of median seconds, for supersteps that are all alike."""
    rows = busiest_rows(run.profile.table, run.machines)
    alike = rows[["messages", "vertices"]].drop_duplicates()
    if len(alike) > 1:
        return rows
    typical = rows.iloc[[-1]].copy()
    typical["seconds"] = float(rows["seconds"].median())
    return typical


def _fitted(cost_model: str, rows: pd.DataFrame, columns: list[str]) -> object:
    seconds, weight = rows["seconds"].to_numpy(), rows["weight"].to_numpy()
    try:
        model = COST_MODELS.get(cost_model)()
        options = {"groups": rows["group"].to_numpy()} if hasattr(model, "max_folds") else {}
        return model.fit(rows[columns], seconds, sample_weight=weight, **options)
    except ValueError:  # too few rows to choose from: one feature, in proportion
        return NonNegativeLinear(fit_intercept=len(rows) > 1).fit(
            rows[columns[:1]], seconds, sample_weight=weight
        )


def _unseen_std(cost_model: str, rows: pd.DataFrame, columns: list[str]) -> float:
    """Return the relative error of runs that were left out, root of the mean square."""
    groups = rows["group"].unique()
    if len(groups) < 3:
        return 0.25
    errors = []
    for group in groups:
        rest, part = rows[rows["group"] != group], rows[rows["group"] == group]
        model = _fitted(cost_model, rest, columns)
        predicted = model.predict(part[list(model.feature_names_in_)])  # type: ignore[attr-defined]
        errors.append(float(relative_error(part["seconds"].sum(), predicted.sum())))
    return float(np.sqrt(np.mean(np.square(errors))))


def _line(sizes: FloatArray, seconds: FloatArray, start: float = 0.0) -> Line:
    """Fit a line of non-negative coefficients, a constant if there is one size only."""
    if len(np.unique(sizes)) < 2:
        return Line(float(np.median(seconds)), 0.0, start)
    model = NonNegativeLinear().fit(sizes[:, None], np.maximum(seconds, 1e-9))
    return Line(model.intercept_, float(model.coef_[0]), start)


def _phase(
    name: str, warm: list[ClusterRun], first: dict[int, ClusterRun], again: dict[int, ClusterRun]
) -> Line:
    def seconds(run: ClusterRun) -> float:
        return run.profile.phases[name]

    starts = [max(seconds(run) - seconds(again[count]), 0.0) for count, run in first.items()]
    sizes = np.array([run.profile.graph["edges"] / run.machines for run in warm])
    return _line(sizes, np.array([seconds(run) for run in warm]), float(np.mean(starts)))


def _start(first: dict[int, ClusterRun], again: dict[int, ClusterRun]) -> FloatArray:
    """Return what the first supersteps of a session take on top; the mean over sessions."""
    extra = []
    for count, run in first.items():
        cold = run.profile.iteration_seconds
        warm = again[count].profile.iteration_seconds
        length = min(len(cold), len(warm))
        extra.append(np.maximum(cold[:length] - warm[:length], 0.0))
    most = max((len(part) for part in extra), default=0)
    padded = [np.pad(part, (0, most - len(part))) for part in extra]
    return np.mean(padded, axis=0) if padded else np.zeros(0)
