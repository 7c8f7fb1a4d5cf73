"""What scaling models have in common: input, memory cliffs, cross-validation, intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, check_X_y

from costmodels.intervals import spread_reach
from costmodels.rows import WEIGHTS, FloatArray, determination
from costmodels.scaling.cliffs import Cliff, find_cliffs
from costmodels.scaling.laws import Law
from costmodels.scaling.leftout import MISFIT, LeaveOneOut, left_out_configurations
from costmodels.scaling.points import Points, gather_points, read_columns

# Relative noise of one run, assumed where nothing was repeated: 1.9 to 2.7% were measured
# (docs/studies/cluster-models.md), rounded up.
USUAL_NOISE = 0.03


class ScalingModel(RegressorMixin, BaseEstimator):
    """Seconds of a job as a function of its scale, its machines, and what else its terms name.

    A subclass fits a law to distinct configurations in :meth:`fit_law`.

    Parameters
    ----------
    weights : {"relative", "none"}, default "relative"
        ``"relative"`` minimises relative errors, ``"none"`` errors in seconds.

    Attributes
    ----------
    law_ : Law
        The fitted law; ``formula_``, ``terms_`` and ``coef_`` are its formula and coefficients.
    points_ : Points
        The distinct configurations, with the median of repeats.
    cliffs_ : list of Cliff
        Where memory is too small.
    loocv_ : LeaveOneOut
        Errors of configurations that were left out.
    r2_ : float
    warnings_ : list of str
    """

    def __init__(self, *, weights: str = "relative") -> None:
        self.weights = weights

    def fit_law(self, points: Points) -> Law:
        """Fit the law to some points."""
        raise NotImplementedError

    def _check_options(self) -> None:
        if self.weights not in WEIGHTS:
            raise ValueError(f"unknown weights {self.weights!r}; accepted: {', '.join(WEIGHTS)}")

    def _check_points(self, points: Points) -> None:
        """Refuse points that a subclass cannot fit; by default none."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the law.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            A DataFrame with the columns ``machines`` and (unless it never changes) ``scale``, and
            others that terms name; an array with scale first and machines second. Scale and
            machines are positive. Rows that are equal are repeats.
        y : array_like, shape (n,)
            Seconds; positive.

        Raises
        ------
        ValueError
            If a value is out of range, a column is missing, there is one machine count only, or
            there are fewer configurations than the model needs.
        """
        self._check_options()
        X, y = _checked(self, X, y)
        points = gather_points(X, y)
        _check_enough(points, len(y))
        self._check_points(points)
        self.points_ = points
        self.cliffs_: list[Cliff] = find_cliffs(points)
        self.law_, left_out = self._fitted(points)
        self.terms_ = self.law_.coefficients
        self.coef_ = np.array(list(self.terms_.values()))
        self.formula_ = self.law_.formula
        fitted = self.law_.seconds(points.columns)
        self.r2_ = determination(points.seconds, fitted, points.repeats)
        self.loocv_: LeaveOneOut = left_out
        self.warnings_ = self._warnings()
        return self

    def _fitted(self, points: Points) -> tuple[Law, LeaveOneOut]:
        """Return the law, and each configuration predicted by a law that was fitted without it."""
        return self.fit_law(points), left_out_configurations(self.fit_law, points)

    def _warnings(self) -> list[str]:
        found = [str(cliff) for cliff in self.cliffs_]
        if self.loocv_.median_percent_error > MISFIT:
            found.append(
                "this model does not fit: the median error of configurations that were left out is "
                f"{self.loocv_.median_percent_error:.1f}%, above {MISFIT:g}%"
            )
        return found

    def predict(self, X: Any) -> FloatArray:
        """Predict the seconds of each configuration.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            The same columns as in `fit`, in the same order.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        return self.law_.seconds(read_columns(self, X, reset=False))

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run of each configuration.

        It combines the left-out errors, as factors, with the spread of repeats (3% where nothing
        was repeated, about what runs on rented machines show).

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            The same columns as in `fit`, in the same order.
        level : float, default 0.9
            Probability that the interval contains the time; in (0, 1).

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Low and high, symmetric as factors about the prediction.
        """
        check_is_fitted(self)
        columns = read_columns(self, X, reset=False)
        seconds = self.law_.seconds(columns)
        errors = self.loocv_.log_errors
        noise = self.points_.noise if (self.points_.repeats > 1).any() else USUAL_NOISE
        reach = spread_reach(float(np.mean(errors**2)), len(errors), noise**2, level)
        return np.column_stack((seconds * np.exp(-reach), seconds * np.exp(reach)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # scikit-learn's data has no scale and machines
        return tags


def _checked(model: ScalingModel, X: Any, y: Any) -> tuple[dict[str, FloatArray], FloatArray]:
    columns = read_columns(model, X, reset=True)
    table = np.column_stack(list(columns.values()))
    _, seconds = check_X_y(table, y, y_numeric=True, dtype=np.float64)
    return columns, np.asarray(seconds, dtype=np.float64)


def _check_enough(points: Points, rows: int) -> None:
    if len(points) < 2:
        what = f"found {rows} sample{'s' if rows != 1 else ''} of 1 configuration"
        raise ValueError(f"{what}, but a scaling model needs at least 2")
    machines = np.unique(points.columns["machines"])
    if len(machines) < 2:
        raise ValueError(
            f"all rows have {machines[0]:g} machines, but a scaling model needs at least two "
            "machine counts"
        )
