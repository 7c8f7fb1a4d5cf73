"""Seconds that tasks run on the busiest worker, from what a superstep has to do there.

They are predicted in two ways, and the mean is taken:

- by the processor: its seconds go with vertices, messages and records, and are nearly free of
  noise; what they take by the clock is a line, fitted apart. Of Python beside an executor, and of
  waiting for the network, it knows only what goes with them.
- by the clock: seconds go with vertices, messages, records and remote bytes. Everything is in them,
  noise too where supersteps are short.

Both are of tables that the caches of a processor hold. Where Spark looks messages up in hash tables
of the vertices of a partition, in no order, it takes longer the more these are: so much a doubling,
whatever the algorithm. Sample runs are too small to show that, and large runs are predicted by it.

All features are kept: few small sample runs cannot tell which of them matter in a large run. On
measured runs (docs/studies/spark.md), choosing among features, or between the two ways, by the
runs left out did worse than either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES
from predict_graph.prediction.seconds.regression import COST_MODELS
from predict_graph.prediction.seconds.straight_line import Line, fitted_line

__all__ = ["TaskSeconds", "fit_task_seconds", "outgrown"]

FloatArray = npt.NDArray[np.float64]

_LEAST = 1e-3  # by definition, in seconds: Spark counts milliseconds
_BY_CLOCK = Line(0.0, 1.0)  # by definition: as it is
# Measured on PageRank of R-MAT 16 to 21 (docs/studies/spark.md): vertices of a partition whose
# tables are still near, and what a doubling of them adds.
_NEAR, _A_DOUBLING = 100_000, 0.25


def outgrown(rows: pd.DataFrame) -> FloatArray:
    """Return by how much the tables of partitions slow their tasks down, 1 where they are small.

    Parameters
    ----------
    rows : DataFrame
        ``vertices`` and ``partitions`` of the busiest machine; 1 where one of them is not known.

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
class _Way:
    """A cost model of features, and the seconds by the clock of what it says.

    Parameters
    ----------
    model : estimator
    columns : list of str
        Features that it was fitted to.
    clock : Line
    """

    model: Any
    columns: list[str]
    clock: Line

    @property
    def terms(self) -> dict[str, float]:
        found = getattr(self.model, "terms_", {})
        terms = {str(name): self.clock.slope * float(value) for name, value in found.items()}
        return {**terms, "intercept": terms.get("intercept", 0.0) + self.clock.constant}

    def predict(self, features: pd.DataFrame) -> FloatArray:
        predicted: FloatArray = self.model.predict(features[self.columns])
        return self.clock.constant + self.clock.slope * predicted


@dataclass(frozen=True)
class TaskSeconds:
    """Seconds that tasks run, as several ways say in the mean.

    Parameters
    ----------
    ways : list
    factor : float
        By which all that they say is multiplied: of a cluster that is slower, or faster, than the
        one that they are of.
    """

    ways: list[_Way]
    factor: float = 1.0

    @property
    def terms(self) -> dict[str, float]:
        """Seconds a unit of each feature, and the constant, of small partitions."""
        found: dict[str, float] = {}
        for way in self.ways:
            for name, value in way.terms.items():
                found[name] = found.get(name, 0.0) + self.factor * value / len(self.ways)
        return found

    def predict(self, features: pd.DataFrame) -> FloatArray:
        """Return the seconds of each superstep."""
        predicted: FloatArray = np.mean([way.predict(features) for way in self.ways], axis=0)
        return self.factor * outgrown(features) * predicted

    def r2(self, rows: pd.DataFrame) -> float:
        """Return the coefficient of determination on rows; NaN if all took as long."""
        working = _working(rows)
        left = float(np.sum((self.predict(rows) - working) ** 2))
        total = float(np.sum((working - working.mean()) ** 2))
        return 1.0 - left / total if total > 0 else float("nan")


def fit_task_seconds(rows: pd.DataFrame, cost_model: str) -> TaskSeconds:
    """Fit the seconds of tasks.

    Parameters
    ----------
    rows : DataFrame
        ``FEATURES``, ``partitions``, ``working`` and ``processor`` seconds, ``weight``, and
        ``group``, the run.
    cost_model : str
        Of a registered cost model.
    """
    slowed = outgrown(rows)
    working = _working(rows) / slowed
    weight = rows["weight"].to_numpy(np.float64)
    ways = [_Way(*_model(cost_model, rows, list(FEATURES), working), _BY_CLOCK)]
    if (rows["processor"] > 0).all():
        processor = rows["processor"].to_numpy(np.float64) / slowed
        busy = [name for name in FEATURES if name != "remote_bytes"]
        model, columns = _model(cost_model, rows, busy, processor)
        ways.append(_Way(model, columns, fitted_line(processor, working, weight)))
    return TaskSeconds(ways)


def _working(rows: pd.DataFrame) -> FloatArray:
    working: FloatArray = np.maximum(rows["working"].to_numpy(np.float64), _LEAST)
    return working


def _model(
    cost_model: str, rows: pd.DataFrame, names: list[str], seconds: FloatArray
) -> tuple[Any, list[str]]:
    """Fit a cost model to those features that differ; return these too."""
    # A log does not know all.
    known = [name for name in names if name in rows and rows[name].notna().all()]
    told = [name for name in known if rows[name].nunique() > 1]
    if "merged" in told and (rows["merged"] == rows["messages"]).all():
        told.remove("merged")  # messages are numbers: combining two is one step
    columns = told or known[:1]
    weight = rows["weight"].to_numpy(np.float64)
    model = COST_MODELS.get(cost_model)()
    options = {"groups": rows["group"].to_numpy()} if hasattr(model, "max_folds") else {}
    if "required" in getattr(model, "get_params", dict)():
        model.set_params(required=columns)
    try:
        return model.fit(rows[columns], seconds, sample_weight=weight, **options), columns
    except ValueError:  # too few rows to choose from: one feature, in proportion
        from costmodels import NonNegativeLinear  # with scikit-learn: only who fits waits for it

        model = NonNegativeLinear(fit_intercept=len(rows) > 1)
        return model.fit(rows[columns[:1]], seconds, sample_weight=weight), columns[:1]
