"""Errors on data that was left out of the fit: intervals and the choice of columns by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from costmodels import metrics
from costmodels.arrays import FloatArray, IntArray
from costmodels.rows import TrainingRows, solve_scaled, triangle


def folds_of(count: int, most: int = 20, few: int = 5) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which of so many rows are left out together: one at a time, of many several.

    Several are drawn at random: every fifth row of a grid has one machine count.
    """
    folds = count if count <= most else few
    order = np.arange(count) if folds == count else np.random.default_rng(0).permutation(count)
    for fold in range(folds):
        yield order % folds == fold


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictions of each configuration by the model of the others.

    Attributes
    ----------
    predicted, actual : ndarray of float64, shape (n,)
        Seconds; actual is the median of repeats.
    """

    predicted: FloatArray
    actual: FloatArray

    @property
    def residual_sum_of_squares(self) -> float:
        """Sum of squared errors, in square seconds."""
        return float(((self.predicted - self.actual) ** 2).sum())

    @property
    def percent_errors(self) -> FloatArray:
        """Absolute error of each configuration in percent of its time."""
        return metrics.percentage_errors(self.predicted, self.actual)

    @property
    def median_percent_error(self) -> float:
        """Median of the percentage errors."""
        return float(np.median(self.percent_errors))

    @property
    def max_percent_error(self) -> float:
        """Largest percentage error."""
        return float(self.percent_errors.max())

    def to_dict(self) -> dict[str, float]:
        """Return the errors by name: those of Ernest, and AE, OPD and RD(1) of NIMO."""
        both = self.predicted, self.actual
        return {
            "residual_sum_of_squares": self.residual_sum_of_squares,
            "mean_percent_error": float(self.percent_errors.mean()),
            "median_percent_error": self.median_percent_error,
            "max_percent_error": self.max_percent_error,
            "mean_absolute_error": float(metrics.absolute_errors(*both).mean()),
            "order_preserving_degree": metrics.order_preserving_degree(*both),
            "ranking_distance_1": metrics.ranking_distance(*both),
        }

    @property
    def log_errors(self) -> FloatArray:
        """Logarithm of predicted/actual; a prediction of 0 s counts as a thousandth."""
        return np.log(np.maximum(self.predicted / self.actual, 1e-3))


def interval_ends(level: float) -> tuple[float, float]:
    """Return the probabilities of a value below the low end and below the high end."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, but must be between 0 and 1")
    return (1 - level) / 2, (1 + level) / 2


def interval_about(
    predicted: FloatArray, errors: FloatArray, level: float, noise: float = 0.03
) -> FloatArray:
    """Return low and high of one run, symmetric as factors about each prediction, shape (n, 2).

    The reach is of logarithms, because runtimes are positive, and twice too high is as likely as
    half. It is the root of the sum of squares of the reach of the errors (Student's t) and that of
    the noise (normal), which is within 2% of the exact one at 90% from three errors on.

    Parameters
    ----------
    errors : ndarray
        Logarithms of predicted/actual of runs that were left out.
    level : float
        Probability that the interval contains the run; in (0, 1).
    noise : float
        Relative noise of one run. The default is for runs that were not repeated: 1.9 to 2.7%
        were measured (docs/studies/cluster-models.md), rounded up.
    """
    _, end = interval_ends(level)
    squares = stdtrit(len(errors), end) ** 2 * np.mean(errors**2) + (noise * ndtri(end)) ** 2
    factor = np.exp(np.sqrt(squares))
    return np.column_stack((predicted / factor, predicted * factor))


def select_columns(
    errors: Callable[[IntArray], float],
    order: list[int],
    left: list[int],
    most: int,
    least_gain: float,
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


class GroupErrors:
    """Root-mean-square left-out error of the model of some columns (0 is the intercept).

    One group of rows is left out at a time, and the others are fitted anew.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or not one label for each row.
    """

    def __init__(self, rows: TrainingRows, groups: Any, max_folds: int) -> None:
        labels = np.asarray(groups)
        if labels.shape != rows.y.shape:
            raise ValueError(
                f"groups has the shape {labels.shape}, but there are {len(rows.y)} rows"
            )
        counted = rows.frequency > 0
        names, group = np.unique(labels[counted], return_inverse=True)
        if len(names) < 2:
            raise ValueError("all rows are of one group, but leaving groups out needs at least 2")
        table = (rows.weighted / rows.scale)[counted]
        fold = group % min(len(names), max_folds)
        out = [triangle(table[fold == i]) for i in range(fold.max() + 1)]
        kept = [triangle(np.vstack(out[:i] + out[i + 1 :])) for i in range(len(out))]
        self._folds = list(zip(kept, out, strict=True))
        self._unit = rows.scale[-1] / np.sqrt(rows.frequency.sum())

    def __call__(self, columns: IntArray) -> float:
        """Return the error, relative or in the unit of y."""
        total = 0.0
        for kept, out in self._folds:
            residuals = out[:, -1] - out[:, columns] @ solve_scaled(kept, columns)
            total += float(residuals @ residuals)
        return float(np.sqrt(total) * self._unit)
