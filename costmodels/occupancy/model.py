"""The model of a task: occupancies and data flow, and from them its completion time.

Occupancies of a run follow from what can be observed from outside (NIMO, Algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.arrays import FloatArray
from costmodels.leftout import LeaveOneOut, folds_of, interval_about
from costmodels.occupancy.overlap import OverlapModel
from costmodels.occupancy.predictor import OccupancyPredictor
from costmodels.occupancy.terms import reference_values
from costmodels.rows import CostRegressor, check_positive, checked_data, column_names

SHAPES = ("auto", "linear", "piecewise", "overlap")


def occupancies_of(
    seconds: npt.ArrayLike,
    utilization: npt.ArrayLike = 1.0,
    data: npt.ArrayLike = 1.0,
    network_share: npt.ArrayLike = 1.0,
) -> pd.DataFrame:
    """Split the time of runs into occupancies (Algorithm 1).

    From ``U = o_a / (o_a + o_s)`` and ``D / t = 1 / (o_a + o_s)``; the stall ``o_s`` is split
    in proportion to the time that an average I/O spends in the network and in the storage.

    Parameters
    ----------
    seconds : array_like, shape (n,)
        Completion times, t.
    utilization : array_like
        Of the compute resource, in [0, 1].
    data : array_like
        Units of data that were read and written, D; positive.
    network_share : array_like
        Part of the time of an average I/O that is spent in the network, in [0, 1].

    Returns
    -------
    DataFrame
        One row a run: ``data``, and seconds a unit of it that the run computed (``compute``, o_a),
        and waited for the network (``network``, o_n) and for storage (``disk``, o_d).

    Raises
    ------
    ValueError
        If a value is out of range; the first one is named.

    Examples
    --------
    >>> occupancies_of(100.0, utilization=0.6, data=50.0, network_share=0.75).round(3)
       data  compute  network  disk
    0  50.0      1.2      0.6   0.2
    """
    time = np.atleast_1d(np.asarray(seconds, dtype=np.float64))
    busy, share, flow = (
        np.broadcast_to(np.asarray(given, dtype=np.float64), time.shape)
        for given in (utilization, network_share, data)
    )
    for name, values in {"utilization": busy, "network_share": share}.items():
        wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
        if len(wrong):
            value = values[wrong[0]]
            raise ValueError(f"{name} of row {wrong[0]} is {value:g}, but must be from 0 to 1")
    check_positive("seconds", time)
    check_positive("data", flow)
    a_unit = time / flow
    stalled = a_unit * (1.0 - busy)
    network = stalled * share
    parts = {"compute": a_unit * busy, "network": network, "disk": stalled - network}
    return pd.DataFrame({"data": flow, **parts})


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


class OccupancyModel(CostRegressor):
    """Completion time as data flow times occupancies, each predicted from attributes (NIMO).

    ``t = f_D (f_a + f_n + f_d)``, equation 1. Give `fit` what was observed of each run from
    outside, and the parts are learned one by one; without that, the whole time is.

    Parameters
    ----------
    shape : {"auto", "linear", "piecewise", "overlap"}, default "auto"
        Linear predictors as in the paper, linear ones with bends, or one law in which the resources
        hide each other (:class:`OverlapModel`). ``"auto"`` takes the one with the smallest
        error on runs that were left out.

    Attributes
    ----------
    shape_ : str
    reference_ : dict of str to float
        What each attribute is divided by in the formulas.
    formulas_ : dict of str to str
        Of each part, and of the data flow.
    loocv_ : LeaveOneOut
        Errors of runs that were left out.
    left_out_errors_ : dict of str to float
        Root-mean-square logarithm of predicted/actual, of each shape that was tried.

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, sections IV-B and IV-C.
    """

    def __init__(self, *, shape: str = "auto") -> None:
        self.shape = shape

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
        table, seconds = checked_data(self, X, y, fewest=2)
        X = self._named(table)
        measured = occupancies_of(seconds, utilization, data, network_share)
        shapes = SHAPES[1:] if self.shape == "auto" else (self.shape,)
        tried = {
            shape: LeaveOneOut(_left_out(X, measured, seconds, shape), seconds) for shape in shapes
        }
        self.left_out_errors_ = {
            shape: float(np.sqrt(np.mean(found.log_errors**2))) for shape, found in tried.items()
        }
        self.shape_ = _first_clearly_best(self.left_out_errors_)
        self.loocv_ = tried[self.shape_]
        self._fitted = _fit_parts(X, measured, self.shape_)
        self.reference_ = dict(zip(X, reference_values(table).tolist(), strict=True))
        self.formulas_ = {
            **{name: part.formula_ for name, part in self._fitted.parts.items()},
            "data": self._fitted.flow.formula_,
        }
        return self

    def _predicted(self, table: FloatArray) -> FloatArray:
        return self._fitted.seconds(self._named(table))

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run, from the errors on runs that were left out.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Low and high, symmetric as factors about the prediction.
        """
        return interval_about(self.predict(X), self.loocv_.log_errors, level)

    def _named(self, table: FloatArray) -> pd.DataFrame:
        """Return a checked table with the names that it came with, which identify the columns."""
        return pd.DataFrame(table, columns=column_names(self, table.shape[1]))


def _left_out(
    X: pd.DataFrame, measured: pd.DataFrame, seconds: FloatArray, shape: str
) -> FloatArray:
    """Predict each run by the model of the others."""
    predicted = np.empty(len(X))
    for out in folds_of(len(X)):
        if len(X) == 2:  # the other one
            predicted[out] = seconds[~out]
        else:
            predicted[out] = _fit_parts(X[~out], measured[~out], shape).seconds(X[out])
    return predicted


def _fit_parts(X: pd.DataFrame, measured: pd.DataFrame, shape: str) -> _Fitted:
    """Fit every part, errors counting as parts of the whole time.

    No prediction is below a thousandth of the shortest measured time.
    """
    data, occupancies = measured["data"].to_numpy(), measured.drop(columns="data")
    a_unit = occupancies.sum(axis=1).to_numpy()
    flow = OccupancyPredictor().fit(X, data, importance=1.0 / data**2)
    least = float((data * a_unit).min()) / 1000
    if shape == "overlap":
        compute = occupancies["compute"].to_numpy()
        known = compute if (compute < a_unit * (1 - 1e-9)).any() else None
        return _Fitted(flow, {"overlap": OverlapModel().fit(X, a_unit, compute=known)}, least)
    parts = {
        str(name): OccupancyPredictor(shape=shape).fit(X, part, importance=1.0 / a_unit**2)
        for name, part in occupancies.items()
        if part.any()
    }
    return _Fitted(flow, parts, least)


def _first_clearly_best(errors: dict[str, float], min_gain: float = 0.05) -> str:
    """Return the shape of least error; a later one must be better by `min_gain`, as a term must."""
    best, *rest = errors
    for shape in rest:
        if errors[shape] < (1 - min_gain) * errors[best]:
            best = shape
    return best
