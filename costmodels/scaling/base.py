"""What scaling models have in common: input, memory cliffs, cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costmodels.rows import CostRegressor, FloatArray, determination
from costmodels.scaling.cliffs import Cliff, find_cliffs
from costmodels.scaling.laws import Law
from costmodels.scaling.leftout import MISFIT, LeaveOneOut
from costmodels.scaling.points import Points, gather_points, read_columns, read_runs


class ScalingModel(CostRegressor):
    """Seconds of a job as a function of its scale, its machines, and what else its terms name.

    A subclass fits a law to distinct configurations in :meth:`_fitted`.

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
        return self._fit(gather_points(*read_runs(self, X, y)))

    def _fit(self, points: Points) -> Self:
        _check_enough(points)
        self.points_ = points
        self.cliffs_: list[Cliff] = find_cliffs(points)
        self.law_, self.loocv_ = self._fitted(points)
        self.terms_ = self.law_.coefficients
        self.coef_ = np.array(list(self.terms_.values()))
        self.formula_ = self.law_.formula
        fitted = self.law_.seconds(points.columns)
        self.r2_ = determination(points.seconds, fitted, points.repeats)
        self.warnings_ = self._warnings()
        return self

    def _fitted(self, points: Points) -> tuple[Law, LeaveOneOut]:
        """Return the law, and each configuration predicted by a law that was fitted without it."""
        raise NotImplementedError

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _check_enough(points: Points) -> None:
    if len(points) < 2:
        rows = int(points.repeats.sum())
        what = f"found {rows} sample{'s' if rows != 1 else ''} of 1 configuration"
        raise ValueError(f"{what}, but a scaling model needs at least 2")
    machines = np.unique(points.columns["machines"])
    if len(machines) < 2:
        raise ValueError(
            f"all rows have {machines[0]:g} machines, but a scaling model needs at least two "
            "machine counts"
        )
