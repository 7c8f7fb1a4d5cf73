"""Straight lines through few points, with non-negative coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """Seconds = constant + slope x size; both are non-negative."""

    constant: float
    slope: float

    def at(self, size: float) -> float:
        """Return the seconds for a size."""
        return self.constant + self.slope * size

    def scaled(self, factor: float) -> Line:
        """Return the line multiplied by `factor`."""
        return Line(self.constant * factor, self.slope * factor)


def fitted_line(sizes: FloatArray, seconds: FloatArray) -> Line:
    """Fit a line to positive values by relative errors; a constant for a single size, 0 for none.

    Examples
    --------
    >>> line = fitted_line(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]))
    >>> round(line.constant, 6), round(line.slope, 6)
    (1.0, 2.0)
    """
    sizes, seconds = sizes[seconds > 0.0], seconds[seconds > 0.0]
    if len(sizes) == 0:
        return Line(0.0, 0.0)
    if len(np.unique(sizes)) < 2:
        return Line(float(np.median(seconds)), 0.0)
    from costmodels import NonNegativeLinear  # imported here because it loads scikit-learn

    model = NonNegativeLinear().fit(sizes[:, None], seconds)
    return Line(float(model.intercept_), float(model.coef_[0]))
