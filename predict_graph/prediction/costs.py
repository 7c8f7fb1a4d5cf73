"""From counters to seconds: training a cost model and applying it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels import COST_MODELS as BUILT_IN_COST_MODELS
from predict_graph.errors import JobError
from predict_graph.plugins import Registry, blamed_on
from predict_graph.prediction.features import CANDIDATES, cost_features

__all__ = ["COST_MODELS", "FittedCosts", "TrainingSet", "fit_costs", "proportional_costs"]

COST_MODELS: Registry[type[Any]] = Registry(
    "cost model", "predict_graph.cost_models", BUILT_IN_COST_MODELS
)

_FEWEST_ROWS = 3
_OWN_WEIGHT = 4.0  # of a row of this graph, against one of another


class TrainingSet:
    """Rows of counters and seconds that a cost model is trained on."""

    def __init__(self) -> None:
        self._parts: list[pd.DataFrame] = []
        self._groups = 0

    def add(self, rows: pd.DataFrame, *, own: bool) -> None:
        """Add the iterations of one run.

        Parameters
        ----------
        rows : DataFrame
            Counters, working set and seconds, a row an iteration.
        own : bool
            Whether the run was on this graph, or a sample of it.
        """
        if not len(rows):
            return
        part = cost_features(rows)
        part["seconds"] = rows["seconds"].to_numpy(dtype=np.float64)
        part["weight"] = (_OWN_WEIGHT if own else 1.0) / len(rows)
        part["group"] = self._groups
        part["own"] = own
        self._groups += 1
        self._parts.append(part[part["seconds"] > 0])

    def without(self, group: int) -> TrainingSet:
        """Return the set without one run."""
        rest = TrainingSet()
        rest._parts = [part for part in self._parts if not (part["group"] == group).any()]
        rest._groups = self._groups
        return rest

    @property
    def table(self) -> pd.DataFrame:
        """All rows: candidate features, seconds, weight, number of the run, and whether own."""
        columns = [*CANDIDATES, "seconds", "weight", "group", "own"]
        if not self._parts:
            return pd.DataFrame(columns=columns, dtype=np.float64)
        return pd.concat(self._parts, ignore_index=True)[columns]


@dataclass(frozen=True)
class FittedCosts:
    """A cost model that turns counters of an iteration into seconds.

    Parameters
    ----------
    name : str
        In the registry.
    terms : dict of str to float
        Seconds a unit of each selected feature; ``intercept`` is seconds an iteration.
    r2 : float
        Coefficient of determination on the training rows.
    relative_std : float
        Standard deviation of actual / fitted - 1 on the training rows.
    rows, runs : int
        Size of the training set.
    model : estimator
    factor : float
        By which a probe of this graph says that all costs must be multiplied.
    """

    name: str
    terms: dict[str, float]
    r2: float
    relative_std: float
    rows: int
    runs: int
    model: Any
    factor: float = 1.0

    def predict(self, rows: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return seconds for rows of counters with their working set."""
        return self.of_features(cost_features(rows))

    def of_features(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return seconds for rows of candidate features."""
        seconds: npt.NDArray[np.float64] = self.model.predict(features)
        return seconds * self.factor

    def scaled_to(self, rows: pd.DataFrame, seconds: float) -> FittedCosts:
        """Return the model with all costs multiplied so that `rows` take `seconds` together."""
        total = float(self.predict(rows).sum())
        factor = seconds / total if total > 0 else 1.0
        terms = {name: value * factor for name, value in self.terms.items()}
        return replace(self, factor=self.factor * factor, terms=terms)


def fit_costs(training: TrainingSet, name: str) -> FittedCosts | None:
    """Fit a cost model; None if the rows are too few or too alike to tell costs apart.

    Parameters
    ----------
    training : TrainingSet
    name : str
        Of a registered cost model.

    Raises
    ------
    RequestError
        If no cost model has this name.
    JobError
        If it fails, or lacks what a fitted cost model has.
    """
    factory = COST_MODELS.get(name)
    table = training.table
    features = table[list(CANDIDATES)]
    if len(features.drop_duplicates()) < _FEWEST_ROWS or table["group"].nunique() < 2:
        return None
    varying = [column for column in CANDIDATES if features[column].nunique() > 1]
    options: dict[str, Any] = {"sample_weight": table["weight"].to_numpy()}
    with blamed_on("cost model", name):
        model = factory()
        if hasattr(model, "max_folds"):
            options["groups"] = table["group"].to_numpy()
        model.fit(features[varying], table["seconds"].to_numpy(), **options)
        terms = {str(key): float(value) for key, value in model.terms_.items() if value > 0.0}
        return FittedCosts(
            name=name,
            terms=terms,
            r2=float(model.r2_),
            relative_std=float(model.relative_std_),
            rows=len(table),
            runs=int(table["group"].nunique()),
            model=_OnColumns(name, model, varying),
        )


def proportional_costs(training: TrainingSet) -> FittedCosts:
    """Return costs in proportion to vertices and messages: what two rows that are alike allow."""
    table = training.table
    work = _work(table)
    rates = table["seconds"].to_numpy() / np.maximum(work, 1.0)
    rate = float(np.median(rates)) if len(rates) else 0.0
    spread = float(np.std(rates) / rate) if rate else 1.0
    terms = dict.fromkeys(("active_vertices", "local_messages", "remote_messages"), rate)
    return FittedCosts(
        name="proportional",
        terms=terms,
        r2=0.0,
        relative_std=spread,
        rows=len(table),
        runs=int(table["group"].nunique()),
        model=_Proportional(rate),
    )


def _work(features: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return vertices + messages of each row."""
    columns = ["active_vertices", "local_messages", "remote_messages"]
    return features[columns].sum(axis=1).to_numpy(dtype=np.float64)


@dataclass(frozen=True)
class _Proportional:
    """Seconds a vertex or message."""

    rate: float

    def predict(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        return self.rate * _work(features)


@dataclass(frozen=True)
class _OnColumns:
    """A model that is given the columns it was trained on."""

    name: str
    model: Any
    columns: list[str]

    def predict(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        with blamed_on("cost model", self.name):
            seconds = np.asarray(self.model.predict(features[self.columns]), dtype=np.float64)
        if seconds.shape != (len(features),):
            found = f"seconds of shape {seconds.shape}; accepted: shape ({len(features)},)"
        elif not np.isfinite(seconds).all() or (seconds < 0).any():
            found = f"{float(seconds.min())} seconds; accepted: finite numbers of at least 0"
        else:
            return seconds
        raise JobError(f"the cost model {self.name!r} predicted {found}")
