"""Seconds in words, and words as seconds."""

from __future__ import annotations

import math
import re

from predict_graph.errors import RequestError

__all__ = ["parse_duration", "readable_number", "readable_seconds", "remaining"]

_LEAST_DONE = 0.03  # of the work, before which what remains is anybody's guess; a choice
# By definition: seconds.
_UNITS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_YEAR = 365.25 * 86400.0
_LONG = ((_YEAR, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min"))
_OFTEN = 2.0  # of a unit, from which it is used: 90 s, but 2.5 min
_PART = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*")


def readable_seconds(value: float) -> str:
    """Return a duration with its unit.

    Examples
    --------
    >>> readable_seconds(0.0123), readable_seconds(90), readable_seconds(600)
    ('12.3 ms', '90 s', '10 min')
    >>> readable_seconds(3e4), readable_seconds(1e6), readable_seconds(1e9)
    ('8.33 h', '11.6 days', '31.7 years')
    """
    if value < 1.0:
        return f"{value * 1000:.3g} ms"
    for least, unit in _LONG:
        if value >= least * _OFTEN:
            return f"{value / least:.3g} {unit}"
    return f"{value:.3g} s"


def readable_number(value: float) -> str:
    """Return a number in four digits, larger ones in full.

    Examples
    --------
    >>> readable_number(0.123456), readable_number(200.0), readable_number(19257.4)
    ('0.1235', '200', '19257')
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def parse_duration(text: str, what: str = "duration") -> float:
    """Return a duration in seconds: ``90``, ``90s``, ``10m``, ``1h30m``, ``2d``.

    Raises
    ------
    RequestError
        If it is no duration, or is 0.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration("0.5")
    (600.0, 5400.0, 0.5)
    """
    accepted = "accepted: a time above 0, such as 90s, 10m or 1h30m"
    rest, total, parts = text.strip().lower(), 0.0, 0
    while rest:
        found = _PART.match(rest)
        unit = found[2] if found else ""
        if found is None or (unit not in _UNITS and (unit or parts or found.end() < len(rest))):
            raise RequestError(f"the {what} is {text!r}; {accepted}")
        total += float(found[1]) * _UNITS.get(unit, 1.0)
        rest, parts = rest[found.end() :], parts + 1
    if not (total > 0 and math.isfinite(total)):
        raise RequestError(f"the {what} is {text!r}; {accepted}")
    return total


def remaining(passed: float, fraction: float) -> float | None:
    """Return the seconds that remain, if the rest goes as what is done did; None if unknown.

    Examples
    --------
    >>> remaining(10.0, 0.25), remaining(10.0, 0.0)
    (30.0, None)
    """
    return passed * (1.0 - fraction) / fraction if fraction >= _LEAST_DONE else None
