"""Linear regression whose coefficients are costs: never negative; of all columns, or of some."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from costmodels import FEWEST_ROWS
from costmodels import rows as table_rows
from costmodels.arrays import FloatArray
from costmodels.leftout import GroupErrors, select_columns


class LinearCosts(table_rows.CostRegressor):
    """What linear cost models have in common: prediction and fitted attributes.

    A subclass chooses the columns; :meth:`_keep` stores what was fitted to them.
    """

    fit_intercept: bool
    weights: str

    def _predicted(self, table: FloatArray) -> FloatArray:
        return np.asarray(table @ self.coef_ + self.intercept_)

    def _keep(self, rows: table_rows.TrainingRows, solution: FloatArray, named: list[str]) -> None:
        """Store the coefficients (intercept first), those to name, and how well they fit."""
        self.intercept_ = float(solution[0])
        self.coef_ = solution[1:].copy()
        costs = dict(zip(rows.names, self.coef_.tolist(), strict=True))
        self.terms_ = {"intercept": self.intercept_} if self.fit_intercept else {}
        self.terms_ |= {name: costs[name] for name in named}
        predicted = rows.X @ self.coef_ + self.intercept_
        self.r2_ = table_rows.determination(rows.y, predicted, rows.frequency)


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
        solution = rows.solve(columns)
        count = np.count_nonzero(rows.frequency)
        if count < len(columns) and np.count_nonzero(solution) >= count:
            raise ValueError(
                f"found {count} sample{'s' if count != 1 else ''}, too few to tell "
                f"{len(columns)} unknowns apart"
            )
        self._keep(rows, solution, rows.names)
        return self


class ForwardSelectedLinear(LinearCosts):
    """Non-negative linear regression on features chosen by sequential forward selection.

    Starts with the intercept, and adds, one at a time, the column whose model predicts left-out
    data best; stops when the root-mean-square left-out error falls by less than `min_gain` of
    itself, or by less than 1/n of itself for n distinct rows, which is about what chance gives (as
    Akaike's criterion of the residuals). Left out is one group at a time when `fit` gets `groups`
    (as it should when rows of one run resemble each other), else one distinct row of features. Of
    columns that do equally well, such as exact multiples of each other, the first one is taken.
    There are never more unknowns than distinct rows less one.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether a constant cost is part of the model.
    weights : {"relative", "none"}, default "relative"
        As in :class:`~costmodels.NonNegativeLinear`; also the measure of the left-out error.
    min_gain : float, default 0.05
        Least part of the left-out error that one more column must remove; not tuned.
    max_folds : int, default 10
        When there are more groups than this, they are left out several at a time.

    Attributes
    ----------
    selected_ : list of str
        Columns with a positive coefficient, in the order of selection.
    terms_ : dict of str to float
        ``"intercept"`` (if fitted) and the selected columns with their coefficients.
    path_ : list of tuple of (str, float)
        Each column that was added, with the root-mean-square left-out error after it; the start
        has the name ``"start"``.
    left_out_error_ : float
        The last error of `path_`: relative, or in the unit of y with ``weights="none"``.
    coef_, intercept_, r2_
        As in :class:`~costmodels.NonNegativeLinear`.

    References
    ----------
    Popescu et al.: PREDIcT, VLDB 2013, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(1, 9, size=(40, 5))
    >>> y = (2 + 3 * X[:, 1] + X[:, 4]) * rng.normal(1, 0.01, size=40)
    >>> ForwardSelectedLinear().fit(X, y).selected_
    ['x1', 'x4']
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        weights: str = "relative",
        min_gain: float = 0.05,
        max_folds: int = 10,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.weights = weights
        self.min_gain = min_gain
        self.max_folds = max_folds

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select columns and fit their costs.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, k)
            Candidate counters of work; finite.
        y : array_like, shape (n,)
            Measured cost: positive with ``weights="relative"``, else non-negative.
        sample_weight : array_like, shape (n,), optional
            How often each row counts; a row of weight 2 is a row that comes twice.
        groups : array_like, shape (n,), optional
            What each row belongs to, such as its run; left out together.

        Raises
        ------
        ValueError
            If there are fewer than 3 distinct rows, fewer than 2 groups, or a value or an option
            is out of range.
        """
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain is {self.min_gain!r}, but must be in [0, 1)")
        if self.max_folds < 2:
            raise ValueError(f"max_folds is {self.max_folds!r}, but must be at least 2")
        rows = table_rows.check_training_rows(self, X, y, sample_weight, self.weights)
        distinct = _distinct_rows(rows)
        bound = max(self.min_gain, 1 / distinct)
        if groups is None:
            groups = np.unique(rows.X, axis=0, return_inverse=True)[1].ravel()
        errors = GroupErrors(rows, groups, self.max_folds)
        chosen = [0] if self.fit_intercept else []
        left = (np.flatnonzero(rows.X.any(axis=0)) + 1).tolist()
        order, path = select_columns(errors, chosen, left, distinct - 1, bound)
        added = [rows.names[column - 1] for column in order[len(chosen) :]]
        self.path_ = list(zip(["start", *added], path, strict=True))
        self.left_out_error_ = path[-1]
        solution = rows.solve(np.array(order, dtype=np.intp))
        kept = [column for column in order if column > 0 and solution[column] > 0]
        self.selected_ = [rows.names[column - 1] for column in kept]
        self._keep(rows, solution, self.selected_)
        return self


def _distinct_rows(rows: table_rows.TrainingRows) -> int:
    distinct = len(np.unique(rows.X[rows.frequency > 0], axis=0))
    if distinct < FEWEST_ROWS:
        count = len(rows.y)
        raise ValueError(
            f"found {count} sample{'s' if count != 1 else ''} with {distinct} distinct "
            f"row{'s' if distinct != 1 else ''} of features, but selecting features needs "
            f"{FEWEST_ROWS} distinct rows"
        )
    return distinct
