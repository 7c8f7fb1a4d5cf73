"""Seconds and numbers in words, and words as seconds."""

from __future__ import annotations

import math
import re

from predict_graph.errors import RequestError

# By definition: seconds.
_UNITS = {
    name: seconds
    for seconds, names in (
        (1e-9, "ns nsec nsecs nanos nanosecond nanoseconds"),
        (1e-6, "us µs μs usec usecs micros microsecond microseconds"),
        (1e-3, "ms msec msecs millis millisecond milliseconds"),
        (1.0, "s sec secs second seconds"),
        (60.0, "m min mins minute minutes"),
        (3600.0, "h hr hrs hour hours"),
        (86400.0, "d day days"),
        (604800.0, "w week weeks"),
    )
    for name in names.split()
}
_LONG = ((365.25 * 86400.0, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min"))
_PART = re.compile(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\s*([a-zµμ]*)\s*,?\s*")
# [days-]hours:minutes:seconds, minutes:seconds, and after days hours:minutes, as SLURM writes.
_CLOCK = re.compile(
    r"(?:(?P<days>\d+)(?:-|\s*days?,?\s+\+?))?(?:(?P<a>\d+):)?(?P<b>\d+):(?P<c>\d+(?:\.\d*)?)"
)


def readable_seconds(value: float) -> str:
    """Return a duration with its unit.

    Examples
    --------
    >>> readable_seconds(0.0123), readable_seconds(0.9999), readable_seconds(90)
    ('12.3 ms', '1 s', '90 s')
    >>> readable_seconds(600), readable_seconds(3e4), readable_seconds(1e6), readable_seconds(1e9)
    ('10 min', '8.33 h', '11.6 days', '31.7 years')
    >>> readable_seconds(5e11), readable_seconds(1e17)
    ('15,800 years', '3,170,000,000 years')
    """
    if value < 0.9995:
        return f"{value * 1000:.3g} ms"
    for least, unit in _LONG:
        if value >= 2.0 * least:  # 90 s, but 2.5 min
            return f"{float(f'{value / least:.3g}'):,.10g} {unit}"
    return f"{value:.3g} s"


def readable_number(value: float) -> str:
    """Return a number in four digits, larger ones in full.

    Examples
    --------
    >>> readable_number(0.123456), readable_number(200.0), readable_number(19257.4)
    ('0.1235', '200', '19257')
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def counted(count: float, what: str = "runs") -> str:
    """Return a number of runs, or of others, in words.

    Examples
    --------
    >>> counted(1), counted(2, "machines"), counted(1_234_567)
    ('1 run', '2 machines', '1234567 runs')
    """
    return f"{count:.10g} {singular(what) if count == 1 else what}"


def singular(what: str) -> str:
    """Return the name of one of several.

    Examples
    --------
    >>> singular("machines"), singular("processes")
    ('machine', 'process')
    """
    return what.removesuffix("es" if what.endswith("sses") else "s")


def parse_duration(text: str, what: str = "duration", unit: str = "s") -> float:
    """Return a duration in seconds: ``90``, ``1h30m``, ``01:30:00``, ``1-02:03:04``.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration("0.5")
    (600.0, 5400.0, 0.5)
    >>> parse_duration("1-02:03:04"), parse_duration("05:20"), parse_duration("2", unit="hours")
    (93784.0, 320.0, 7200.0)
    """
    plain = text.strip().lower()
    total = _by_clock(plain)
    if total is None:
        total = _by_units(plain, unit)
    if not (total > 0 and math.isfinite(total)):
        accepted = "accepted: a time above 0, such as 90s, 10m, 1h30m or 01:30:00"
        raise RequestError(f"the {what} is {text[:60]!r}; {accepted}")
    return total


def unit_seconds(name: str) -> float | None:
    """Return the seconds of a unit of time; None if it is none.

    Examples
    --------
    >>> unit_seconds("hrs"), unit_seconds("fortnights")
    (3600.0, None)
    """
    return _UNITS.get(name.lower())


def _by_clock(text: str) -> float | None:
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    days, first, second, third = (float(part or 0.0) for part in found.groups())
    if found["days"] is not None and found["a"] is None:  # as SLURM has it: hours and minutes
        return days * 86400.0 + second * 3600.0 + third * 60.0
    return days * 86400.0 + first * 3600.0 + second * 60.0 + third


def _by_units(text: str, unit: str) -> float:
    """Return the sum of numbers with units; not a number if it is none."""
    parts = [*_PART.finditer(text)]
    named = len(parts) == 1 or all(part[2] for part in parts)
    if not (parts and named and "".join(part[0] for part in parts) == text):
        return math.nan
    return sum(float(part[1]) * _UNITS.get(part[2] or unit, math.nan) for part in parts)


def remaining(passed: float, fraction: float, least: float = 0.03) -> float | None:
    """Return the seconds that remain, if the rest goes as what is done did; None if unknown.

    Less than the least fraction is not extrapolated.

    Examples
    --------
    >>> remaining(10.0, 0.25), remaining(10.0, 0.01)
    (30.0, None)
    """
    return passed * (1.0 - fraction) / fraction if fraction >= least else None
