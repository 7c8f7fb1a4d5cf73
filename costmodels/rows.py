"""Training rows: checked, weighted, scaled, and compressed to a small triangle.

A least-squares problem of n rows and k columns has the same solutions as its triangular factor of
k + 1 rows, so a search that fits many subsets of columns pays for the n rows once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from costmodels.arrays import FloatArray, IntArray

WEIGHTS = ("relative", "none")


class CostRegressor(RegressorMixin, BaseEstimator):
    """Base of all estimators: what they predict is positive, and grows with the work."""

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
        return self._predicted(self._known(X))

    def _known(self, X: Any) -> FloatArray:
        """Return a table with the columns of `fit`, as scikit-learn checks it."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))

    def _predicted(self, table: FloatArray) -> FloatArray:
        """Return the cost of each row of a checked table."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # negative relations are out of their reach
        return tags


def checked_data(estimator: Any, X: Any, y: Any, fewest: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the table and the numbers that were passed to `fit`, as scikit-learn checks them."""
    options = {"dtype": np.float64, "y_numeric": True, "ensure_min_samples": fewest}
    table, y = validate_data(estimator, X, y, **options)
    return table, np.asarray(y, dtype=np.float64)


def check_positive(name: str, values: FloatArray) -> None:
    """Refuse values that are not positive and finite; the first one is named."""
    wrong = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if len(wrong):
        at = wrong[0]
        raise ValueError(f"{name} of row {at} is {values[at]:g}, but must be positive and finite")


@dataclass(frozen=True)
class TrainingRows:
    """Checked training data."""

    # shape (n, k): Features.
    X: FloatArray
    # shape (n,): Costs.
    y: FloatArray
    # shape (n,): How often each row counts (sample weights).
    frequency: FloatArray
    # shape (n,): Factor on the residual of each row: 1/y for relative errors, else 1.
    importance: FloatArray
    # Column names; ``x0``, ``x1``, … when there were none.
    names: list[str]

    @cached_property
    def weighted(self) -> FloatArray:
        """``[1, X, y]``, each row times its importance and the root of its frequency."""
        table = np.column_stack((np.ones(len(self.y)), self.X, self.y))
        return np.asarray(table * self.importance[:, None] * np.sqrt(self.frequency)[:, None])

    @cached_property
    def scale(self) -> FloatArray:
        """Length of each column of these, shape (k + 2,); 1 for columns of zeros."""
        lengths = np.linalg.norm(self.weighted, axis=0)
        return np.where(lengths == 0, 1.0, lengths)

    @cached_property
    def factor(self) -> FloatArray:
        """Their triangular factor, its columns scaled to unit length, at most k + 2 rows."""
        return triangle(self.weighted / self.scale)

    def solve(self, columns: IntArray) -> FloatArray:
        """Fit non-negative coefficients of `columns` (0 is the intercept) in original units.

        Returns
        -------
        ndarray, shape (k + 1,)
            Intercept first; 0 for every column that is not in `columns`.
        """
        solution = np.zeros(len(self.scale) - 1)
        scaled = solve_scaled(self.factor, columns)
        solution[columns] = scaled * self.scale[-1] / self.scale[columns]
        return solution


def check_training_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, weights: str
) -> TrainingRows:
    """Check what was passed to `fit`.

    Raises
    ------
    ValueError
        If `weights` is unknown, a value is not finite, a cost is negative (or 0 with relative
        weights), or the sample weights are negative or all 0.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}; accepted: {', '.join(WEIGHTS)}")
    X, y = checked_data(estimator, X, y)
    wrong = np.flatnonzero(y <= 0 if weights == "relative" else y < 0)
    if len(wrong):
        accepted = "positive (weights='relative')" if weights == "relative" else "0 or more"
        raise ValueError(f"y of row {wrong[0]} is {y[wrong[0]]:g}, but a cost must be {accepted}")
    frequency = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not frequency.any():
        raise ValueError("all sample weights are 0, so there is no row to fit")
    importance = 1 / y if weights == "relative" else np.ones_like(y)
    return TrainingRows(X, y, frequency, importance, column_names(estimator, X.shape[1]))


def column_names(estimator: Any, count: int) -> list[str]:
    """Return the names of the columns that were fitted; ``x0``, ``x1``, … when there were none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{column}" for column in range(count)] if names is None else [str(n) for n in names]


def determination(actual: FloatArray, predicted: FloatArray, weight: FloatArray) -> float:
    """Return R²; of constant costs 1 when the fit is perfect and else 0, as in scikit-learn."""
    total = float(weight @ (actual - np.average(actual, weights=weight)) ** 2)
    left = float(weight @ (actual - predicted) ** 2)
    if total > 0:
        return 1 - left / total
    return 1.0 if left == 0 else 0.0


def triangle(table: FloatArray) -> FloatArray:
    """Return the triangular factor of `table`."""
    return np.asarray(np.linalg.qr(table, mode="r"))


def solve_scaled(factor: FloatArray, columns: IntArray) -> FloatArray:
    """Solve non-negative least squares of the last column of `factor` on `columns`."""
    if len(columns) == 0:
        return np.zeros(0)
    found = nnls(factor[:, columns], factor[:, -1], maxiter=100 + 30 * len(columns))[0]
    return np.where(found > 1e-12 * found.max(), found, 0.0)  # less is a rounding error
