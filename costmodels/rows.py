"""Training rows: checked, weighted, scaled, and compressed to a small triangle.

A least-squares problem of n rows and k columns has the same solutions as its triangular factor of
k + 1 rows, so a search that fits many subsets of columns pays for the n rows once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["CompressedRows", "TrainingRows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

WEIGHTS = ("relative", "none")


@dataclass(frozen=True)
class TrainingRows:
    """Checked training data.

    Attributes
    ----------
    X : ndarray, shape (n, k)
        Features.
    y : ndarray, shape (n,)
        Costs.
    frequency : ndarray, shape (n,)
        How often each row counts (sample weights).
    importance : ndarray, shape (n,)
        Factor on the residual of each row: 1/y for relative errors, else 1.
    names : list of str
        Column names; ``x0``, ``x1``, … when there were none.
    """

    X: FloatArray
    y: FloatArray
    frequency: FloatArray
    importance: FloatArray
    names: list[str]

    def design(self) -> FloatArray:
        """Return ``[1, X, y]`` with each row times its importance, not its frequency."""
        table = np.column_stack((np.ones(len(self.y)), self.X, self.y))
        table *= self.importance[:, None]
        return table


@dataclass(frozen=True)
class CompressedRows:
    """Triangular factor of weighted rows, its columns scaled to unit length.

    Attributes
    ----------
    factor : ndarray, shape (at most k + 2, k + 2)
        Column 0 is the intercept, then the k features, then y.
    scale : ndarray, shape (k + 2,)
        Length that each column had; 1 for columns of zeros.
    """

    factor: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, rows: TrainingRows) -> Self:
        """Weight, scale and compress `rows`."""
        table = rows.design() * np.sqrt(rows.frequency)[:, None]
        scale = column_lengths(table)
        return cls(triangle(table / scale), scale)

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


def column_lengths(table: FloatArray) -> FloatArray:
    """Return the Euclidean length of each column, 1 where it is 0, without overflow."""
    largest = np.abs(table).max(axis=0)
    largest[largest == 0] = 1.0
    lengths: FloatArray = largest * np.sqrt(((table / largest) ** 2).sum(axis=0))
    lengths[lengths == 0] = 1.0
    return lengths


def triangle(table: FloatArray) -> FloatArray:
    """Return the triangular factor of `table`."""
    return np.asarray(np.linalg.qr(table, mode="r"))


def solve_scaled(factor: FloatArray, columns: IntArray) -> FloatArray:
    """Solve non-negative least squares of the last column of `factor` on `columns`.

    The active-set method of Lawson and Hanson (Solving Least Squares Problems, chapter 23, 1974),
    as scipy.optimize.nnls has it, whose import takes longer than all fits of a prediction.
    """
    matrix, target = factor[:, columns], factor[:, -1]
    gram, slope = matrix.T @ matrix, matrix.T @ target
    solution, active = np.zeros(len(columns)), np.zeros(len(columns), dtype=bool)
    tolerance = (
        10
        * max(factor.shape)
        * np.finfo(np.float64).eps
        * np.abs(gram).sum(axis=0, initial=0.0).max(initial=0.0)
    )
    for _ in range(3 * len(columns)):  # the limit of scipy.optimize.nnls
        gradient = np.where(active, -np.inf, slope - gram @ solution)
        if not (gradient > tolerance).any():
            break
        active[gradient.argmax()] = True
        while True:
            free = np.zeros(len(columns))
            free[active] = np.linalg.lstsq(matrix[:, active], target, rcond=None)[0]
            falling = active & (free <= 0)
            if not falling.any():
                break
            steps = solution[falling] / (solution[falling] - free[falling])
            solution += steps.min() * (free - solution)
            active &= solution > tolerance
            solution[~active] = 0.0
        solution = free
    return solution
