"""An occupancy predictor: normalised to a reference, linear, its attributes selected."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from costmodels.arrays import FloatArray, IntArray
from costmodels.leftout import select_columns
from costmodels.occupancy import terms
from costmodels.rows import CostRegressor, checked_data, column_names

_ROUNDING = 1e-9  # relative; not tuned: what is smaller is a rounding error


class OccupancyPredictor(CostRegressor):
    """Regression of one occupancy on attributes of resources and data (NIMO, Algorithm 2).

    Attributes and occupancy are divided by those of a reference assignment, the one nearest to the
    middle. Terms are taken one at a time, at most half as many as rows, each time the one whose
    model predicts rows that were left out best, until that error falls by less than `min_gain` of
    itself.

    Parameters
    ----------
    shape : {"linear", "piecewise"}, default "linear"
        Whether a term may bend (section V-B.4).
    min_gain : float, default 0.05

    Attributes
    ----------
    terms_ : list of Term
    coef_ : ndarray of float64
        Of the terms, in units of the reference.
    intercept_ : float
    left_out_error_ : float
        Root-mean-square error of rows that were left out, in the unit of y.
    formula_ : str

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, section IV-C, Algorithm 2.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"cpu_speed": [1, 1, 4, 1, 2], "network_latency": [1, 1, 1, 5, 9]})
    >>> model = OccupancyPredictor().fit(X, 4.4 / X["cpu_speed"] - 0.2)
    >>> model.formula_
    '4.4/cpu_speed - 0.2'
    """

    def __init__(self, *, shape: str = "linear", min_gain: float = 0.05) -> None:
        self.shape = shape
        self.min_gain = min_gain

    def fit(self, X: Any, y: Any, importance: Any = None) -> Self:
        """Select terms and fit them.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, k)
            Attributes; see :func:`~costmodels.occupancy.terms.attribute_of` for names.
        y : array_like, shape (n,)
            Occupancy.
        importance : array_like, shape (n,), optional
            Factor on the square of each error; not how often a row counts.

        Raises
        ------
        ValueError
            If there are fewer than two rows, or an option is out of range.
        """
        if self.shape not in terms.SHAPES:
            raise ValueError(f"unknown shape {self.shape!r}; accepted: {', '.join(terms.SHAPES)}")
        table, occupancy = checked_data(self, X, y, fewest=2)
        weight = _check_sample_weight(importance, table, dtype=np.float64, ensure_non_negative=True)
        self._divisors = terms.reference_values(table)
        of_reference = float(abs(occupancy[terms.reference_row(table)]))
        self._unit = of_reference or float(np.abs(occupancy).max()) or 1.0
        normalised = table / self._divisors
        names = column_names(self, table.shape[1])
        candidates = terms.candidate_terms(normalised, names, self.shape)
        y, root = occupancy / self._unit, np.sqrt(weight)
        values = [np.ones(len(y)), *(term.values(normalised) for term in candidates)]
        design = np.column_stack(values)
        size = float(np.sqrt(np.mean((root * y) ** 2))) or 1.0

        # Terms are added while left-out rows are predicted better.
        def error(columns: IntArray) -> float:
            return max(_left_out(design[:, columns], y, root)[1] / size, _ROUNDING)

        most, every = max(len(y) // 2, 2), list(range(1, len(values)))
        order, path = select_columns(error, [0], every, most, self.min_gain)
        solution, _ = _left_out(design[:, order], y, root)
        self.terms_ = [candidates[column - 1] for column in order[1:]]
        self.intercept_ = float(solution[0])
        self.coef_ = solution[1:]
        self.left_out_error_ = self._unit * size * path[-1]
        self.formula_ = self._formula()
        return self

    def _predicted(self, table: FloatArray) -> FloatArray:
        normalised = table / self._divisors
        total = np.full(len(table), self.intercept_)
        for term, coefficient in zip(self.terms_, self.coef_, strict=True):
            total += coefficient * term.values(normalised)
        return self._unit * total

    def _formula(self) -> str:
        own = zip(self.terms_, self.coef_ * self._unit, strict=True)
        parts = [(value, term.times(abs(value))) for term, value in own]
        constant = self._unit * self.intercept_
        if abs(constant) > 1e-9 * self._unit or not parts:
            parts.append((constant, f"{abs(constant):.4g}"))
        first, rest = parts[0], parts[1:]
        signed = "".join(f" {'-' if value < 0 else '+'} {text}" for value, text in rest)
        return ("-" if first[0] < 0 else "") + first[1] + signed


def _left_out(design: FloatArray, y: FloatArray, root: FloatArray) -> tuple[FloatArray, float]:
    """Return the least-squares solution and its error on left-out rows, from one factorisation.

    The error of a row that was left out is its residual over one less its leverage.
    """
    weighted, goal = design * root[:, None], y * root
    lengths = np.linalg.norm(weighted, axis=0)
    if np.linalg.matrix_rank(weighted / np.maximum(lengths, 1e-300), _ROUNDING) < len(lengths):
        return np.zeros(len(lengths)), np.inf
    q, r = np.linalg.qr(weighted / lengths)
    solution = np.linalg.solve(r, q.T @ goal)
    residuals = goal - (weighted / lengths) @ solution
    left = 1.0 - np.einsum("ij,ij->i", q, q)
    if (left < _ROUNDING).any():
        return np.asarray(solution / lengths), np.inf if design.shape[1] > 1 else 0.0
    return np.asarray(solution / lengths), float(np.sqrt(np.mean((residuals / left) ** 2)))
