"""A point estimate with its 90% interval."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real

QUANTILE = 1.645  # by definition: of the normal distribution, for 90% intervals


def _by_estimate(
    compare: Callable[[float, float], bool],
) -> Callable[[Interval, Interval | float], bool]:
    def method(self: Interval, other: Interval | float) -> bool:
        if isinstance(other, Interval | Real):
            return compare(float(self), float(other))
        return NotImplemented  # type: ignore[no-any-return]

    return method


@dataclass(frozen=True)
class Interval:
    """A point estimate with the ends of its 90% interval.

    ``float()`` gives the estimate, unpacking the two ends. ``<``, ``<=``, ``>`` and ``>=`` compare
    the estimate with a number or with that of another interval; for a claim that holds with 95%
    confidence compare ``high`` or ``low``. ``==`` compares all three values.

    Examples
    --------
    >>> import numpy as np
    >>> runtime = Interval(40.0, 34.0, 47.0)
    >>> float(runtime), runtime < 45, runtime.high < 45
    (40.0, True, False)
    >>> low, high = runtime
    >>> high - low
    13.0
    >>> np.array([runtime, runtime], float)
    array([40., 40.])
    >>> runtime.contains(36)
    True
    """

    predicted: float
    low: float
    high: float

    __array_ufunc__ = None  # numpy's scalars leave comparisons to this class

    @classmethod
    def exact(cls, value: float) -> Interval:
        """Return the interval of a value without a spread."""
        return cls(value, value, value)

    @classmethod
    def spread(cls, predicted: float, log_std: float) -> Interval:
        """Return an interval whose logarithm has a standard deviation.

        Examples
        --------
        >>> Interval.spread(10.0, 0.0)
        Interval(predicted=10.0, low=10.0, high=10.0)
        """
        factor = math.exp(min(QUANTILE * log_std, 50.0))
        return cls(predicted, predicted / factor, predicted * factor)

    @property
    def log_std(self) -> float:
        """The standard deviation of the logarithm, from the ends."""
        return math.log(max(self.high / max(self.low, 1e-12), 1.0)) / (2.0 * QUANTILE)

    def __add__(self, other: Interval) -> Interval:
        """Return the interval of a sum whose parts are at their ends together."""
        parts = zip((self.predicted, *self), (other.predicted, *other), strict=True)
        return Interval(*(one + another for one, another in parts))

    def scaled(self, factor: float) -> Interval:
        """Return the interval times a factor."""
        return Interval(self.predicted * factor, self.low * factor, self.high * factor)

    def moved(self, by: float) -> Interval:
        """Return the interval plus a value; none of its three values is below 0.

        Examples
        --------
        >>> Interval(3.0, 1.0, 5.0).moved(-2.0)
        Interval(predicted=1.0, low=0.0, high=3.0)
        """
        return Interval(*(max(each + by, 0.0) for each in (self.predicted, *self)))

    def to_dict(self) -> dict[str, float]:
        """Return the three values."""
        return {"predicted": self.predicted, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether `value` is inside."""
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float(self.predicted)

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    __lt__ = _by_estimate(operator.lt)
    __le__ = _by_estimate(operator.le)
    __gt__ = _by_estimate(operator.gt)
    __ge__ = _by_estimate(operator.ge)
