"""Seconds in words."""

from __future__ import annotations

__all__ = ["readable_seconds"]


def readable_seconds(value: float) -> str:
    """Return a duration with its unit.

    Examples
    --------
    >>> readable_seconds(0.0123), readable_seconds(90), readable_seconds(600)
    ('12.3 ms', '90 s', '10 min')
    """
    if value < 1.0:
        return f"{value * 1000:.3g} ms"
    if value < 120.0:
        return f"{value:.3g} s"
    return f"{value / 60.0:.3g} min"
