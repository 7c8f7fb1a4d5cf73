"""Linear regression whose coefficients are costs: never negative."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from costmodels import rows as table_rows
from costmodels.arrays import FloatArray


class LinearCosts(table_rows.CostRegressor):
    """What linear cost models have in common: prediction and fitted attributes.

    A subclass chooses the columns; :meth:`_keep` stores what was fitted to them.
    """

    fit_intercept: bool
    weights: str

    def predict(self, X: Any) -> FloatArray:
        """Predict the cost of each row.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of float64, shape (n,)
            In the unit of `y`.
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        predicted: FloatArray = table @ self.coef_ + self.intercept_
        return predicted

    def _keep(self, rows: table_rows.TrainingRows, solution: FloatArray) -> None:
        """Store the coefficients (intercept first) and how well they fit the training rows."""
        self.intercept_ = float(solution[0])
        self.coef_ = solution[1:].copy()
        predicted = rows.X @ self.coef_ + self.intercept_
        frequency, known = rows.frequency, rows.y > 0
        relative = predicted[known] / rows.y[known] - 1
        freedom = max(float(frequency.sum()) - np.count_nonzero(solution), 1.0)
        variance = frequency[known] @ relative**2 / freedom if known.any() else np.nan
        self.relative_std_ = float(np.sqrt(variance))
        self.r2_ = table_rows.determination(rows.y, predicted, frequency)


class NonNegativeLinear(LinearCosts):
    """Linear regression with non-negative coefficients and intercept.

    Minimises the (weighted) sum of squared residuals subject to ``coef_ >= 0`` and
    ``intercept_ >= 0``. Columns are scaled to unit length inside, so counters of very different
    size (vertices, bytes) do not disturb each other.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether a constant cost is part of the model.
    weights : {"relative", "none"}, default "relative"
        ``"relative"`` weights each row by 1/y², which minimises relative errors, so that a short
        run counts as much as a long one; ``"none"`` minimises errors in the unit of y.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (k,)
        Cost of one unit of each column.
    intercept_ : float
        Constant cost.
    terms_ : dict of str to float
        ``"intercept"`` (if fitted) and each column with its coefficient.
    r2_ : float
        Coefficient of determination on the training rows, in the unit of y and unweighted.
    relative_std_ : float
        Standard deviation of the relative residuals, corrected for the fitted terms; NaN if all
        costs are 0.

    References
    ----------
    Lawson, Hanson: Solving Least Squares Problems, chapter 23 (1974).
    Venkataraman et al.: Ernest, NSDI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 5.0], [2.0, 3.0], [3.0, 9.0], [4.0, 1.0]])
    >>> model = NonNegativeLinear().fit(X, 2 + 3 * X[:, 0])
    >>> {name: round(cost, 6) for name, cost in model.terms_.items()}
    {'intercept': 2.0, 'x0': 3.0, 'x1': 0.0}
    """

    def __init__(self, *, fit_intercept: bool = True, weights: str = "relative") -> None:
        self.fit_intercept = fit_intercept
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the costs.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, k)
            Counters of work; finite.
        y : array_like, shape (n,)
            Measured cost: positive with ``weights="relative"``, else non-negative.
        sample_weight : array_like, shape (n,), optional
            How often each row counts; a row of weight 2 is a row that comes twice.

        Raises
        ------
        ValueError
            If a value is out of range, or if there are fewer rows than unknowns and the bounds at
            0 do not make up for it, so that many fits would be perfect.
        """
        rows = table_rows.check_training_rows(self, X, y, sample_weight, self.weights)
        columns = np.flatnonzero(rows.X.any(axis=0)) + 1
        if self.fit_intercept:
            columns = np.r_[0, columns]
        solution = table_rows.CompressedRows.of(rows).solve(columns)
        count = np.count_nonzero(rows.frequency)
        if count < len(columns) and np.count_nonzero(solution) >= count:
            raise ValueError(
                f"found {count} sample{'s' if count != 1 else ''}, too few to tell "
                f"{len(columns)} unknowns apart"
            )
        self._keep(rows, solution)
        names = rows.names
        self.terms_ = {"intercept": self.intercept_} if self.fit_intercept else {}
        self.terms_ |= {name: float(cost) for name, cost in zip(names, self.coef_, strict=True)}
        return self
