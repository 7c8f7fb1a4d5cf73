"""Training a cost model that maps counters to seconds, and applying it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from costmodels import COST_MODELS as BUILT_IN_COST_MODELS
from costmodels import FEWEST_ROWS
from predict_graph.arrays import FloatArray
from predict_graph.calibration import log_std
from predict_graph.engines import COUNTERS, Evidence, critical_worker, per_iteration
from predict_graph.engines.profile import message_bytes
from predict_graph.errors import JobError
from predict_graph.plugins import Registry, blamed_on
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Line:
    """Seconds = constant + slope x size; both are non-negative."""

    constant: float
    slope: float

    def at(self, size: float) -> float:
        """Return the seconds for a size."""
        return self.constant + self.slope * size

    def scaled(self, factor: float) -> Line:
        """Return the line multiplied by `factor`."""
        return Line(self.constant * factor, self.slope * factor)


def fitted_line(sizes: FloatArray, seconds: FloatArray) -> Line:
    """Fit a line to positive values by relative errors; a constant for a single size, 0 for none.

    Examples
    --------
    >>> line = fitted_line(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]))
    >>> round(line.constant, 6), round(line.slope, 6)
    (1.0, 2.0)
    """
    sizes, seconds = sizes[seconds > 0.0], seconds[seconds > 0.0]
    if len(sizes) == 0:
        return Line(0.0, 0.0)
    if len(np.unique(sizes)) < 2:
        return Line(float(np.median(seconds)), 0.0)
    from scipy.optimize import nnls  # imported here because it takes long

    largest = sizes.max()
    parts = np.column_stack((np.ones_like(sizes), sizes / largest)) / seconds[:, None]
    constant, slope = nnls(parts, np.ones_like(sizes))[0]
    return Line(float(constant), float(slope / largest))


COST_MODELS: Registry[type[Any]] = Registry(
    "cost model", "predict_graph.cost_models", BUILT_IN_COST_MODELS
)

# Candidate features of the cost model: table 1, and counters that grow during a run.
CANDIDATES = (
    *COUNTERS,
    "average_message_bytes",
    "total_vertices",
    "iteration",
    "iteration_messages",
)

DEFAULT_COST_MODEL = "forward-nnls"

_WORK = ("active_vertices", "local_messages", "remote_messages")


def cost_rows(table: pd.DataFrame, *, virtual_workers: bool) -> pd.DataFrame:
    """Return one row per iteration: the counters that determine its time."""
    if virtual_workers:
        return per_iteration(table).frame()
    return table[table["worker"] == critical_worker(Table(table))].reset_index(drop=True)


def cost_features(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the candidate features of rows of counters."""
    found = rows[[*COUNTERS, "total_vertices", "iteration"]].astype(np.float64)
    found["average_message_bytes"] = message_bytes(Table(found))
    messages = found["local_messages"] + found["remote_messages"]
    found["iteration_messages"] = messages * found["iteration"]
    return found[[*CANDIDATES]]


def training_table(runs: Iterable[tuple[Table | pd.DataFrame, str]]) -> pd.DataFrame:
    """Return the rows that a cost model is trained on, from the iterations of runs.

    Each run has a source, ``"sample"`` or ``"probe"`` on this graph or ``"history"`` of others, and
    counts once; each superstep of a probe counts as a run. Columns are the candidate features,
    seconds, weight, number of the run, and source.
    """
    import pandas as pd

    parts, groups = [], 0
    for table, source in runs:
        rows = table.frame() if isinstance(table, Table) else table
        count = len(rows) if source == "probe" else 1
        part = cost_features(rows)
        part["seconds"] = rows["seconds"].to_numpy(dtype=np.float64)
        part["weight"] = count / max(len(rows), 1)
        part["group"] = groups + np.arange(len(rows)) % max(count, 1)
        part["source"] = source
        groups += count
        parts.append(part[part["seconds"] > 0])
    if parts := [part for part in parts if len(part)]:
        return pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns=[*CANDIDATES, "seconds", "weight", "group", "source"])


@dataclass(frozen=True)
class FittedCosts:
    """A cost model that maps counters of an iteration to seconds."""

    name: str
    terms: dict[str, float]
    r2: float
    apply: Callable[[pd.DataFrame], Any]
    columns: list[str]

    def predict(self, features: pd.DataFrame) -> FloatArray:
        """Return seconds for rows of candidate features.

        Raises
        ------
        JobError
            If a registered model fails, or predicts no finite seconds of at least 0.
        """
        with blamed_on("cost model", self.name):
            seconds = np.asarray(self.apply(features[self.columns]), dtype=np.float64)
        if seconds.shape != (len(features),):
            found = f"seconds of shape {seconds.shape}; accepted: shape ({len(features)},)"
        elif not np.isfinite(seconds).all() or (seconds < 0).any():
            found = f"{float(seconds.min())} seconds; accepted: finite numbers of at least 0"
        else:
            return seconds
        raise JobError(f"the cost model {self.name!r} predicted {found}")


def fit_costs(table: pd.DataFrame, name: str) -> FittedCosts:
    """Fit a cost model; in proportion to the work if rows are too few or similar to separate costs.

    Raises
    ------
    RequestError
        If there is no cost model of this name.
    """
    features = table[[*CANDIDATES]]
    if len(features.drop_duplicates()) < FEWEST_ROWS or table["group"].nunique() < 2:
        per_unit = table["seconds"] / _work(table).clip(lower=1.0)
        rate = float(per_unit.median()) if len(table) else 0.0
        terms = dict.fromkeys(_WORK, rate)
        return FittedCosts("proportional", terms, 0.0, lambda rows: rate * _work(rows), [*_WORK])
    return fitted(table, CANDIDATES, name)


def fitted(table: pd.DataFrame, features: Sequence[str], name: str) -> FittedCosts:
    """Fit a cost model to the features that vary in rows with seconds, a weight and a group."""
    varying = [each for each in features if table[each].min() < table[each].max()]
    options: dict[str, Any] = {"sample_weight": table["weight"].to_numpy()}
    factory = COST_MODELS.get(name)
    with blamed_on("cost model", name):
        model = factory()
        if hasattr(model, "max_folds"):
            options["groups"] = table["group"].to_numpy()
        model.fit(table[varying], table["seconds"].to_numpy(), **options)
        terms = {str(key): float(value) for key, value in model.terms_.items() if value > 0.0}
        return FittedCosts(name, terms, float(model.r2_), model.predict, varying)


def _work(features: pd.DataFrame) -> pd.Series[float]:
    """Return vertices + messages of each row."""
    return features[[*_WORK]].sum(axis=1)


def left_out_std(table: pd.DataFrame, name: str, prior: float = 0.3, most_runs: int = 10) -> float:
    """Return the relative error of a cost model in cross-validation over the last runs.

    ``sqrt((prior^2 + sum of log(predicted / actual)^2) / (1 + folds))``, so that one or two low
    errors do not suffice (docs/studies/overhead.md).
    """
    squares = [prior**2]
    # Probes use the arrays of the whole graph, as the real run does: they are left out together.
    parts = table["group"].where(table["source"] != "probe", -1)
    for part in parts.unique()[-most_runs:]:
        left_out = parts == part
        if left_out.all():
            continue
        predicted = float(fit_costs(table[~left_out], name).predict(table[left_out]).sum())
        actual = float(table.loc[left_out, "seconds"].sum())
        squares.append(math.log(max(predicted, 1e-12) / actual) ** 2)
    return float(np.sqrt(np.mean(squares))) if len(squares) > 1 else log_std("usual seconds")


def regression_evidence(
    table: pd.DataFrame, name: str | None, rows: pd.DataFrame, history_runs: int
) -> Evidence:
    """Return the time of iterations from a cost model."""
    name = name or DEFAULT_COST_MODEL
    costs = fit_costs(table, name)
    model = {
        "name": costs.name,
        "terms": costs.terms,
        "r2": costs.r2,
        "rows": len(table),
        "runs": int(table["group"].nunique()),
        "history_runs": history_runs,
    }
    seconds = costs.predict(cost_features(rows))
    return Evidence("regression", seconds, left_out_std(table, name), model=model)
