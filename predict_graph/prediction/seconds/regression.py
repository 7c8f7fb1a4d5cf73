"""Training a cost model that maps counters to seconds, and applying it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from costmodels import COST_MODELS as BUILT_IN_COST_MODELS
from costmodels import FEWEST_ROWS
from predict_graph.engines import Evidence
from predict_graph.errors import JobError
from predict_graph.plugins import Registry, blamed_on
from predict_graph.prediction.seconds.features import BY_ITERATION, CANDIDATES, cost_features
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

COST_MODELS: Registry[type[Any]] = Registry(
    "cost model", "predict_graph.cost_models", BUILT_IN_COST_MODELS
)

DEFAULT_COST_MODEL = "forward-nnls"
REGRESSION = "regression"
"""The name of this source."""

# Prior error, with the weight of one run; bounds the interval (docs/studies/overhead.md)
_EXPECTED_STD = 0.3
_UNKNOWN_STD = 1.0  # without cross-validation: bounds the interval to a factor of e
_MOST_RUNS = 10  # of other graphs in cross-validation: limits the number of fits
# Weight of a run of this graph relative to other graphs: trades off bias for variance; not tuned
OWN_WEIGHT = 4.0


class TrainingSet:
    """Rows of counters and seconds that a cost model is trained on."""

    def __init__(self, *, by_iteration: bool = False) -> None:
        self.by_iteration = by_iteration
        self.candidates = (*CANDIDATES, *(BY_ITERATION if by_iteration else ()))
        self._parts: list[pd.DataFrame] = []
        self._groups = 0
        self._table: pd.DataFrame | None = None  # all parts joined, computed on first use

    def add(
        self, rows: Table | pd.DataFrame, *, own: bool, source: str = "sample", apart: bool = False
    ) -> None:
        """Add the iterations of one run."""
        if not len(rows):
            return
        rows = rows.frame() if isinstance(rows, Table) else rows
        part = cost_features(rows, by_iteration=self.by_iteration)
        part["seconds"] = rows["seconds"].to_numpy(dtype=np.float64)
        part["weight"] = (OWN_WEIGHT if own else 1.0) / (1 if apart else len(rows))
        part["group"] = self._groups + (np.arange(len(rows)) if apart else 0)
        part["own"] = own
        part["source"] = source
        self._groups += len(rows) if apart else 1
        self._parts.append(part[part["seconds"] > 0])
        self._table = None

    def without(self, groups: set[int]) -> TrainingSet:
        """Return the set without some runs."""
        rest = TrainingSet(by_iteration=self.by_iteration)
        rest._parts = [self.table[~self.table["group"].isin(groups)]]
        rest._groups = self._groups
        return rest

    @property
    def table(self) -> pd.DataFrame:
        """All rows: candidate features, seconds, weight, number of the run, and source."""
        if self._table is None:
            import pandas as pd

            columns = [*self.candidates, "seconds", "weight", "group", "own", "source"]
            parts = [part for part in self._parts if len(part)]
            if parts:
                self._table = pd.concat(parts, ignore_index=True)[columns]
            else:
                self._table = pd.DataFrame(columns=columns, dtype=np.float64)
        return self._table

    def folds(self) -> list[set[int]]:
        """Return the runs to leave out in turn: the most similar to the real run, and other graphs.

        These are the rows of all probes, which use the arrays of the whole graph; the largest
        sample; and each of the newest runs of other graphs.
        """
        table = self.table
        found = []
        probes = set(table.loc[table["source"] == "probe", "group"])
        if probes:
            found.append(probes)
        samples = table[table["source"] == "sample"]
        if len(samples):
            work = (samples["local_messages"] + samples["remote_messages"]).groupby(
                samples["group"]
            )
            most = work.max()
            found.append({int(most.index.to_numpy()[most.to_numpy().argmax()])})
        others = table.loc[table["source"] == "history", "group"].unique()[-_MOST_RUNS:]
        return [*found, *({int(group)} for group in others)]


@dataclass(frozen=True)
class FittedCosts:
    """A cost model that maps counters of an iteration to seconds."""

    name: str
    terms: dict[str, float]
    r2: float
    relative_std: float
    rows: int
    runs: int
    model: Any
    by_iteration: bool = False

    def predict(self, rows: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return seconds for rows of counters with their working set."""
        return self.of_features(cost_features(rows, by_iteration=self.by_iteration))

    def of_features(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return seconds for rows of candidate features."""
        seconds: npt.NDArray[np.float64] = self.model.predict(features)
        return seconds


def load_cost_model(name: str | None) -> None:
    """Load a cost model, and scikit-learn with it, which takes a second per process."""
    COST_MODELS.get(name or DEFAULT_COST_MODEL)


def fit_costs(training: TrainingSet, name: str, required: Sequence[str] = ()) -> FittedCosts | None:
    """Fit a cost model; None if the rows are too few or too similar to separate costs."""
    factory = COST_MODELS.get(name)
    table = training.table
    features = table[list(training.candidates)]
    if len(features.drop_duplicates()) < FEWEST_ROWS or table["group"].nunique() < 2:
        return None
    varies = (features.min() < features.max()).to_numpy()
    varying = [c for c, more in zip(training.candidates, varies, strict=True) if more]
    options: dict[str, Any] = {"sample_weight": table["weight"].to_numpy()}
    with blamed_on("cost model", name):
        model = factory()
        wanted = [column for column in required if column in varying]
        if wanted and "required" in getattr(model, "get_params", dict)():
            model.set_params(required=wanted)
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
            by_iteration=training.by_iteration,
        )


def proportional_costs(training: TrainingSet) -> FittedCosts:
    """Return costs proportional to vertices and messages, for few or similar rows."""
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
    """Seconds per vertex or message."""

    rate: float

    def predict(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        return self.rate * _work(features)


@dataclass(frozen=True)
class _OnColumns:
    """A model restricted to the columns it was trained on."""

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


def left_out_std(training: TrainingSet, name: str, required: Sequence[str] = ()) -> float:
    """Return the relative error of a cost model in cross-validation.

    ``sqrt((s^2 + sum of log(predicted / actual)^2) / (1 + folds))`` with the prior s = 0.3, so that
    one or two low errors do not suffice.
    """
    table = training.table
    squares = [_EXPECTED_STD**2]
    for groups in training.folds():
        rest, left_out = training.without(groups), table[table["group"].isin(groups)]
        if not len(rest.table):
            continue
        costs = fit_costs(rest, name, required) or proportional_costs(rest)
        predicted = float(costs.of_features(left_out).sum())
        actual = float(left_out["seconds"].sum())
        squares.append(math.log(max(predicted, 1e-12) / actual) ** 2)
    return float(np.sqrt(np.mean(squares))) if len(squares) > 1 else _UNKNOWN_STD


def regression_evidence(
    training: TrainingSet,
    name: str | None,
    rows: pd.DataFrame,
    history_runs: int,
    required: Sequence[str] = (),
) -> Evidence:
    """Return the time of iterations from a cost model.

    Rows that are too few, or too similar, to separate costs give costs proportional to the work.
    """
    name = name or DEFAULT_COST_MODEL
    costs = fit_costs(training, name, required)
    if costs is None:
        costs = proportional_costs(training)
        std = math.hypot(costs.relative_std, _EXPECTED_STD)
    else:
        std = left_out_std(training, name, required)
    model = {
        "name": costs.name,
        "terms": costs.terms,
        "r2": costs.r2,
        "rows": costs.rows,
        "runs": costs.runs,
        "history_runs": history_runs,
    }
    return Evidence(REGRESSION, costs.predict(rows), std, model=model)
