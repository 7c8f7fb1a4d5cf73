"""Errors on data that was left out of the fit, for a model of given columns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from costmodels.rows import (
    CompressedRows,
    IntArray,
    TrainingRows,
    solve_scaled,
    triangle,
)


def select_columns(
    errors: LeftOutErrors, order: list[int], left: list[int], most: int, least_gain: float
) -> tuple[list[int], list[float]]:
    """Add columns while the error falls by `least_gain` of itself; return them, and all errors."""
    path = [errors(np.array(order, dtype=np.intp))]
    while left and len(order) < most:
        found = [errors(np.array([*order, column], dtype=np.intp)) for column in left]
        smallest = min(found)
        if not smallest < path[-1] * (1 - least_gain):
            break
        # The first of those that differ by rounding errors alone.
        best = next(i for i, value in enumerate(found) if value <= smallest * (1 + 1e-6) + 1e-12)
        order, path = [*order, left[best]], [*path, found[best]]
        left = [*left[:best], *left[best + 1 :]]
    return order, path


class LeftOutErrors(Protocol):
    """Root-mean-square left-out error of the model of some columns (0 is the intercept)."""

    def __call__(self, columns: IntArray) -> float:
        """Return the error, relative or in the unit of y; infinite if a row cannot be spared."""


class RowErrors:
    """Leave one row out, in closed form.

    With h the leverage of a row, its residual when it is left out is residual / (1 - h). This is
    exact for the columns with positive coefficients, as long as leaving one row out does not turn
    a coefficient negative.

    References
    ----------
    Allen: The relationship between variable selection and data augmentation and a method for
    prediction, Technometrics 16 (1974).
    """

    def __init__(self, rows: TrainingRows, compressed: CompressedRows) -> None:
        self._table = rows.design() / compressed.scale
        self._factor = compressed.factor
        self._frequency = rows.frequency
        self._unit = compressed.scale[-1] / np.sqrt(rows.frequency.sum())

    def __call__(self, columns: IntArray) -> float:
        """Return the error of the model of `columns`."""
        solution = solve_scaled(self._factor, columns)
        active = columns[solution > 0]
        residuals = self._table[:, -1] - self._table[:, columns] @ solution
        left_out = residuals
        if len(active):
            inner = triangle(self._factor[:, active])
            if len(inner) < len(active) or np.abs(np.diag(inner)).min() < 1e-9:
                return np.inf  # as many columns as rows, or collinear: not identifiable
            reach = np.linalg.solve(inner.T, self._table[:, active].T)
            # Out goes one copy of a row, or what there is of it when it counts less than once.
            leverage = (reach**2).sum(axis=0) * np.minimum(self._frequency, 1)
            if leverage.max() > 1 - 1e-9:
                return np.inf
            left_out = residuals / (1 - leverage)
        return float(np.sqrt(self._frequency @ left_out**2) * self._unit)


class GroupErrors:
    """Leave one group of rows out at a time, and fit the others anew.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or not one label for each row.
    """

    def __init__(
        self, rows: TrainingRows, compressed: CompressedRows, groups: Any, max_folds: int
    ) -> None:
        labels = np.asarray(groups)
        if labels.shape != rows.y.shape:
            raise ValueError(
                f"groups has the shape {labels.shape}, but there are {len(rows.y)} rows"
            )
        counted = rows.frequency > 0
        names, group = np.unique(labels[counted], return_inverse=True)
        if len(names) < 2:
            raise ValueError("all rows are of one group, but leaving groups out needs at least 2")
        table = (rows.design() / compressed.scale * np.sqrt(rows.frequency)[:, None])[counted]
        fold = group % min(len(names), max_folds)
        self._out = [triangle(table[fold == i]) for i in range(fold.max() + 1)]
        self._kept = [
            triangle(np.vstack([part for j, part in enumerate(self._out) if j != i]))
            for i in range(len(self._out))
        ]
        self._unit = compressed.scale[-1] / np.sqrt(rows.frequency.sum())

    def __call__(self, columns: IntArray) -> float:
        """Return the error of the model of `columns`."""
        total = 0.0
        for kept, out in zip(self._kept, self._out, strict=True):
            residuals = out[:, -1] - out[:, columns] @ solve_scaled(kept, columns)
            total += float(residuals @ residuals)
        return float(np.sqrt(total) * self._unit)
