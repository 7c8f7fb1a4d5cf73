"""The machine counts that a prediction says something about."""

from __future__ import annotations


def machine_counts(target: int) -> list[int]:
    """Return the machine counts that a prediction for so many machines says something about.

    Examples
    --------
    >>> machine_counts(5)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
    """
    few = range(1, min(2 * target, 8) + 1)
    many = (12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
    return sorted({*few, target, 2 * target, *(n for n in many if n <= max(4 * target, 16))})
