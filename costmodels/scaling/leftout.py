"""Leave-one-out validation over configurations (Ernest, section 3.4 and Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costmodels.leftout import folds_of
from costmodels.metrics import (
    absolute_errors,
    order_preserving_degree,
    percentage_errors,
    ranking_distance,
)
from costmodels.rows import FloatArray
from costmodels.scaling.laws import Law
from costmodels.scaling.points import Points

MISFIT = 10.0  # percent: twice the error of `auto` (docs/studies/cluster-models.md)
SMALLEST_FACTOR = 1e-3  # error of a left-out prediction of 0 s, as a factor; not tuned


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
        return percentage_errors(self.predicted, self.actual)

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
            "median_percent_error": self.median_percent_error,
            "max_percent_error": self.max_percent_error,
            "mean_absolute_error": float(absolute_errors(*both).mean()),
            "order_preserving_degree": order_preserving_degree(*both),
            "ranking_distance_1": ranking_distance(*both),
        }

    @property
    def log_errors(self) -> FloatArray:
        """Logarithm of predicted/actual."""
        factors: FloatArray = np.log(np.maximum(self.predicted / self.actual, SMALLEST_FACTOR))
        return factors


def left_out_configurations(fit: Callable[[Points], Law], points: Points) -> LeaveOneOut:
    """Leave each configuration out with all its repeats, and predict it by a fit of the others."""
    predicted = np.empty(len(points))
    for out in folds_of(len(points)):
        predicted[out] = fit(points.take(~out)).seconds(points.take(out).columns)
    return LeaveOneOut(predicted, points.seconds)
