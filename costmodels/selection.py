"""Forward selection and quality of fit, without scikit-learn, which takes half a second to import.

:class:`~costmodels.ForwardSelectedLinear` is the estimator; who has checked rows needs no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from costmodels import FEWEST_ROWS
from costmodels.leftout import GroupErrors, LeftOutErrors, RowErrors
from costmodels.rows import CompressedRows, TrainingRows

__all__ = ["LinearFit", "select_forward"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LinearFit:
    """Coefficients of a linear model, and how well they fit the training rows.

    Attributes
    ----------
    names : list of str
        Of the columns.
    intercept : float
    coefficients : ndarray, shape (k,)
    relative_residuals : ndarray, shape (n,)
        predicted/actual - 1 of each training row; NaN where y is 0.
    residual_std, relative_std : float
        Corrected for the fitted terms.
    r2 : float
        Coefficient of determination on the training rows.
    order : list of int
        Columns in the order of selection; 0 is the intercept.
    path : list of tuple of (str, float)
        Each column that was added, with the left-out error after it.
    """

    names: list[str]
    intercept: float
    coefficients: FloatArray
    relative_residuals: FloatArray
    residual_std: float
    relative_std: float
    r2: float
    order: Sequence[int] = ()
    path: Sequence[tuple[str, float]] = ()

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        solution: FloatArray,
        order: Sequence[int] = (),
        path: Sequence[tuple[str, float]] = (),
    ) -> Self:
        """Hold coefficients (intercept first) against the training rows."""
        intercept, coefficients = float(solution[0]), solution[1:].copy()
        predicted = rows.X @ coefficients + intercept
        residuals, frequency = rows.y - predicted, rows.frequency
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(rows.y > 0, predicted / rows.y - 1, np.nan)
        freedom = max(float(frequency.sum()) - np.count_nonzero(solution), 1.0)
        known = np.isfinite(relative)
        return cls(
            rows.names,
            intercept,
            coefficients,
            relative,
            float(np.sqrt(frequency @ residuals**2 / freedom)),
            float(
                np.sqrt(frequency[known] @ relative[known] ** 2 / freedom)
                if known.any()
                else np.nan
            ),
            _determination(rows, residuals),
            order,
            path,
        )

    @property
    def terms(self) -> dict[str, float]:
        """The intercept and the columns with a positive coefficient, in the order of selection."""
        chosen = [column - 1 for column in self.order if column > 0]
        positive = [column for column in chosen if self.coefficients[column] > 0]
        terms = {"intercept": self.intercept} if 0 in self.order else {}
        return terms | {self.names[i]: float(self.coefficients[i]) for i in positive}

    def predict(self, X: Any) -> FloatArray:
        """Return the cost of each row."""
        costs: FloatArray = np.asarray(X, dtype=np.float64) @ self.coefficients + self.intercept
        return costs


def select_forward(
    rows: TrainingRows,
    groups: Any = None,
    *,
    fit_intercept: bool = True,
    required: Sequence[int] = (),
    max_terms: int | None = None,
    min_gain: float = 0.05,
    max_folds: int = 10,
) -> LinearFit:
    """Select columns and fit their costs; see :class:`~costmodels.ForwardSelectedLinear`.

    Parameters
    ----------
    rows : TrainingRows
    groups : array_like, shape (n,), optional
        What each row belongs to, such as its run; left out together.
    required : sequence of int
        Columns that are in the model from the start; 1 is the first one.
    fit_intercept, max_terms, min_gain, max_folds
        Of the estimator.

    Raises
    ------
    ValueError
        If there are fewer than 3 distinct rows, or fewer than 2 groups.
    """
    distinct = _distinct_rows(rows)
    room = distinct - 1
    if max_terms is not None:
        room = min(room, max_terms + bool(fit_intercept))
    bound = max(min_gain, 1 / distinct)
    compressed = CompressedRows.of(rows)
    errors: LeftOutErrors
    if groups is None:
        errors = RowErrors(rows, compressed)
    else:
        errors = GroupErrors(rows, compressed, groups, max_folds)
    start = [0] if fit_intercept else []
    order, path = _selected(rows, errors, [*start, *required], room, bound)
    return LinearFit.of(rows, compressed.solve(np.array(order, dtype=np.intp)), order, path)


def _selected(
    rows: TrainingRows, errors: LeftOutErrors, order: list[int], room: int, bound: float
) -> tuple[list[int], list[tuple[str, float]]]:
    """Add columns greedily; `order` and the result count the intercept as column 0."""
    error = errors(np.array(order, dtype=np.intp))
    path = [("start", error)]
    left = [column for column in np.flatnonzero(rows.X.any(axis=0)) + 1 if column not in order]
    while left and len(order) < room:
        found = [errors(np.array([*order, column], dtype=np.intp)) for column in left]
        smallest = min(found)
        if not smallest < error * (1 - bound):
            break
        # The first of those that rounding alone tells apart.
        best = next(i for i, value in enumerate(found) if value <= smallest * (1 + 1e-6) + 1e-12)
        error = found[best]
        order = [*order, int(left.pop(best))]
        path.append((rows.names[order[-1] - 1], error))
    return order, path


def _distinct_rows(rows: TrainingRows) -> int:
    distinct = len(np.unique(rows.X[rows.frequency > 0], axis=0))
    if distinct < FEWEST_ROWS:
        count = len(rows.y)
        raise ValueError(
            f"found {count} sample{'s' if count != 1 else ''} with {distinct} distinct "
            f"row{'s' if distinct != 1 else ''} of features, but selecting features needs "
            f"{FEWEST_ROWS} distinct rows"
        )
    return distinct


def _determination(rows: TrainingRows, residuals: FloatArray) -> float:
    """Return R²; of constant costs 1 when the fit is perfect and else 0, as scikit-learn has it."""
    mean = np.average(rows.y, weights=rows.frequency)
    total = float(rows.frequency @ (rows.y - mean) ** 2)
    left = float(rows.frequency @ residuals**2)
    if total > 0:
        return 1 - left / total
    return 1.0 if left == 0 else 0.0
