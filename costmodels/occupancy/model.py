"""The model of a task: occupancies and data flow, and from them its completion time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from costmodels.intervals import spread_reach
from costmodels.occupancy.measured import Occupancies, occupancies_of
from costmodels.occupancy.overlap import OverlapModel
from costmodels.occupancy.predictor import OccupancyPredictor

FloatArray = npt.NDArray[np.float64]

SHAPES = ("auto", "linear", "piecewise", "overlap")
_PARTS = ("compute", "network", "disk")
_USUAL_NOISE = 0.03  # few errors are drawn towards it: docs/studies/nimo.md, column "inside"
_SMALLEST = 1e-3  # of the shortest measured time; not tuned: no prediction is 0
_MOST_FOLDS = 20  # bounds the time; the 14 runs and fewer of docs/studies/nimo.md are below
# A later shape must be better than this times the error of an earlier one, as a term
# by `min_gain`. Not tuned: docs/studies/nimo.md has each shape alone beside the choice.
_CLEARLY = 0.95


@dataclass(frozen=True)
class _Fitted:
    """The predictors of one shape."""

    flow: Any
    parts: dict[str, Any]
    least: float

    def seconds(self, X: Any) -> FloatArray:
        occupancies = np.sum([np.maximum(p.predict(X), 0.0) for p in self.parts.values()], axis=0)
        seconds = np.maximum(self.flow.predict(X), 1e-12) * occupancies
        return np.asarray(np.maximum(seconds, self.least))


class OccupancyModel(RegressorMixin, BaseEstimator):
    """Completion time as data flow times occupancies, each predicted from attributes (NIMO).

    ``t = f_D (f_a + f_n + f_d)``, equation 1. Give `fit` what was observed of each run from
    outside, and the parts are learned one by one; without that, the whole time is.

    Parameters
    ----------
    shape : {"auto", "linear", "piecewise", "overlap"}, default "auto"
        Linear predictors as in the paper, linear ones with bends, or one law in which the resources
        hide each other (:class:`OverlapModel`). ``"auto"`` takes the one with the smallest
        error on runs that were left out.
    reference : int, optional
        Row of the reference assignment; see :class:`OccupancyPredictor`.

    Attributes
    ----------
    shape_ : str
    formulas_ : dict of str to str
        Of each part, and of the data flow.
    left_out_ : dict of str to ndarray
        ``"predicted"`` and ``"actual"`` seconds of each run by the model of the others.
    left_out_errors_ : dict of str to float
        Root-mean-square logarithm of predicted/actual, of each shape that was tried.

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, sections IV-B and IV-C.
    """

    def __init__(self, *, shape: str = "auto", reference: int | None = None) -> None:
        self.shape = shape
        self.reference = reference

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        utilization: npt.ArrayLike = 1.0,
        data: npt.ArrayLike = 1.0,
        network_share: npt.ArrayLike = 1.0,
    ) -> Self:
        """Learn the parts.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            Attributes of resources and data; identified by their names.
        y : array_like, shape (n,)
            Seconds; positive.
        utilization, data, network_share : array_like
            See :func:`occupancies_of`.

        Raises
        ------
        ValueError
            If a value is out of range, or there are fewer than 2 runs.
        """
        if self.shape not in SHAPES:
            raise ValueError(f"unknown shape {self.shape!r}; accepted: {', '.join(SHAPES)}")
        table, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        X = self._named(table)
        seconds = np.asarray(y, dtype=np.float64)
        measured = occupancies_of(seconds, utilization, data, network_share)
        rows = np.arange(len(seconds))
        shapes = SHAPES[1:] if self.shape == "auto" else (self.shape,)
        fitted = {shape: self._fit_rows(X, measured, rows, shape) for shape in shapes}
        tried = {
            shape: self._left_out(X, measured, seconds, shape, whole)
            for shape, whole in fitted.items()
        }
        self.left_out_errors_ = {
            shape: float(np.sqrt(np.mean(np.log(found / seconds) ** 2)))
            for shape, found in tried.items()
        }
        self.shape_ = _first_clearly_best(self.left_out_errors_)
        self.left_out_ = {"predicted": tried[self.shape_], "actual": seconds}
        self._fitted = fitted[self.shape_]
        self.references_ = {
            name: part.reference_values_
            for name, part in {**self._fitted.parts, "data": self._fitted.flow}.items()
        }
        self.formulas_ = {
            **{name: part.formula_ for name, part in self._fitted.parts.items()},
            "data": self._fitted.flow.formula_,
        }
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the seconds of each assignment.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        return self._fitted.seconds(self._named(table))

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run, from the errors on runs that were left out.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Low and high, symmetric as factors about the prediction.
        """
        seconds = self.predict(X)
        errors = np.log(self.left_out_["predicted"] / self.left_out_["actual"])
        reach = spread_reach(float(np.mean(errors**2)), len(errors), _USUAL_NOISE**2, level)
        return np.column_stack((seconds * np.exp(-reach), seconds * np.exp(reach)))

    def _named(self, table: FloatArray) -> Any:
        """Return a checked table with the names that it came with, which identify the columns."""
        names = getattr(self, "feature_names_in_", None)
        return table if names is None else pd.DataFrame(table, columns=names)

    def _left_out(
        self, X: Any, measured: Occupancies, seconds: FloatArray, shape: str, whole: _Fitted
    ) -> FloatArray:
        """Predict each run by the model of the others; many are left out several at a time."""
        count = len(seconds)
        folds = count if count <= _MOST_FOLDS else 10
        predicted = np.empty(count)
        for fold in range(folds):
            out = np.arange(count) % folds == fold
            rest = np.flatnonzero(~out)
            if len(rest) < 2:  # of two runs: the other one
                predicted[out] = seconds[rest].mean()
                continue
            fitted = self._fit_rows(X, measured, rest, shape, whole)
            predicted[out] = fitted.seconds(_safe_indexing(X, np.flatnonzero(out)))
        return predicted

    def _fit_rows(
        self,
        X: Any,
        measured: Occupancies,
        rows: npt.NDArray[Any],
        shape: str,
        like: _Fitted | None = None,
    ) -> _Fitted:
        """Fit every part to some rows, errors counting as parts of the whole time.

        `like` is a fit to more rows, from which a search may start.
        """
        table = _safe_indexing(X, rows)
        a_unit = (measured.seconds / measured.data)[rows]
        reference = None
        if self.reference is not None and self.reference in rows:
            reference = int(np.flatnonzero(rows == self.reference)[0])
        data = measured.data[rows]
        flow = OccupancyPredictor(reference=reference, max_terms=0 if np.ptp(data) == 0 else None)
        flow.fit(table, data, importance=1.0 / data**2)
        least = _SMALLEST * float(measured.seconds[rows].min())
        if shape == "overlap":
            compute = measured.compute[rows]
            known = compute if (compute < a_unit * (1 - 1e-9)).any() else None
            start: dict[str, Any] = {}
            if like is not None:
                found: OverlapModel = like.parts["overlap"]
                start = {"apart": found.apart_, "overlap": found.overlap_}
            overlap = OverlapModel(reference=reference, **start).fit(table, a_unit, compute=known)
            return _Fitted(flow, {"overlap": overlap}, least)
        parts = {}
        for name in _PARTS:
            occupancy = getattr(measured, name)[rows]
            if occupancy.any():
                parts[name] = OccupancyPredictor(shape=shape, reference=reference).fit(
                    table, occupancy, importance=1.0 / a_unit**2
                )
        return _Fitted(flow, parts, least)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True
        return tags


def _first_clearly_best(errors: dict[str, float]) -> str:
    """Return the shape of least error; a simpler one unless a later one is clearly better."""
    best, *rest = errors
    for shape in rest:
        if errors[shape] < _CLEARLY * errors[best]:
            best = shape
    return best
