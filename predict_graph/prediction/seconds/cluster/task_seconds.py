"""The task time on the busiest worker, from the features of a superstep.

It is the mean of two predictions:

- CPU time, from vertices, messages and records: nearly free of noise. A separate line maps it to
wall time. Work of Python processes and network waits are included only in proportion.

- wall time, from vertices, messages, records and remote bytes: complete, but noisy where supersteps
are short.

Both assume tables that fit in the processor caches. Where Spark looks messages up in hash tables of
the vertices of a partition, in random order, the time grows by a constant share per doubling of
their size, for any algorithm. Sample runs are too small to show this growth.

All features are used: few small sample runs cannot show which of them matter in a large run. On
measured runs (docs/studies/spark.md), selection of features, or of one of the two predictions, by
cross-validation had larger errors.
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

FloatArray = npt.NDArray[np.float64]

CLOCK = 1e-3  # seconds, the resolution of Spark's clock, by definition
_BY_CLOCK = Line(0.0, 1.0)  # the identity, by definition
# Measured on PageRank of R-MAT 16 to 21 (docs/studies/spark.md): vertices of a partition whose
# tables still fit in a cache, and the additional time per doubling.
_NEAR, _A_DOUBLING = 100_000, 0.25


def outgrown(rows: pd.DataFrame) -> FloatArray:
    """Return by how much large tables of partitions slow their tasks down, 1 for small ones.

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
class _TimeModel:
    """A cost model of features, and the line from its prediction to wall time."""

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
    """The task time as the mean of several predictions."""

    ways: list[_TimeModel]
    factor: float = 1.0

    @property
    def terms(self) -> dict[str, float]:
        """The seconds per unit of each feature, and the constant, for small partitions."""
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
        """Return the coefficient of determination on rows; NaN if all times are equal."""
        working = _working(rows)
        left = float(np.sum((self.predict(rows) - working) ** 2))
        total = float(np.sum((working - working.mean()) ** 2))
        return 1.0 - left / total if total > 0 else float("nan")


def fit_task_seconds(rows: pd.DataFrame, cost_model: str) -> TaskSeconds:
    """Fit the task time."""
    slowed = outgrown(rows)
    working = _working(rows) / slowed
    weight = rows["weight"].to_numpy(np.float64)
    ways = [_TimeModel(*_model(cost_model, rows, list(FEATURES), working), _BY_CLOCK)]
    if (rows["processor"] > 0).all():
        processor = rows["processor"].to_numpy(np.float64) / slowed
        busy = [name for name in FEATURES if name != "remote_bytes"]
        model, columns = _model(cost_model, rows, busy, processor)
        ways.append(_TimeModel(model, columns, fitted_line(processor, working, weight)))
    return TaskSeconds(ways)


def _working(rows: pd.DataFrame) -> FloatArray:
    working: FloatArray = np.maximum(rows["working"].to_numpy(np.float64), CLOCK)
    return working


def _model(
    cost_model: str, rows: pd.DataFrame, names: list[str], seconds: FloatArray
) -> tuple[Any, list[str]]:
    """Fit a cost model to those features that vary; return these too."""
    # A log lacks some features.
    known = [name for name in names if name in rows and rows[name].notna().all()]
    names_used = [name for name in known if rows[name].nunique() > 1]
    if "merged" in names_used and (rows["merged"] == rows["messages"]).all():
        names_used.remove("merged")  # messages are numbers: combining two is one step
    columns = names_used or known[:1]
    weight = rows["weight"].to_numpy(np.float64)
    model = COST_MODELS.get(cost_model)()
    options = {"groups": rows["group"].to_numpy()} if hasattr(model, "max_folds") else {}
    if "required" in getattr(model, "get_params", dict)():
        model.set_params(required=columns)
    try:
        return model.fit(rows[columns], seconds, sample_weight=weight, **options), columns
    except ValueError:  # too few rows to select features: one feature, in proportion
        from costmodels import NonNegativeLinear  # imported here because it loads scikit-learn

        model = NonNegativeLinear(fit_intercept=len(rows) > 1)
        return model.fit(rows[columns[:1]], seconds, sample_weight=weight), columns[:1]
