"""A figure, and between what it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """A figure with the ends of its 90% interval."""

    predicted: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the three figures."""
        return {"predicted": self.predicted, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether `value` is inside."""
        return self.low <= value <= self.high
