"""Durations, money and machine counts as people write them."""

from __future__ import annotations

import math

from predict_graph.durations import parse_duration as parse_duration
from predict_graph.errors import RequestError

MOST_COUNTS = 100_000  # limit: more is a slip; not tuned
MOST_MACHINES = 1_000_000_000  # limit: more is a slip; not tuned


def parse_money(text: str, what: str = "budget") -> float:
    """Return an amount in US dollars: ``15``, ``$15``, ``15 USD``.

    Raises
    ------
    RequestError
        If it is no amount above 0.

    Examples
    --------
    >>> parse_money("$5.60"), parse_money("15 usd")
    (5.6, 15.0)
    """
    plain = text.strip().lower().removeprefix("$").removesuffix("usd").strip()
    return parse_number(plain, what, "an amount in USD above 0, such as 15", shown=text)


def parse_number(
    text: str, what: str, accepted: str = "a number above 0", *, shown: str | None = None
) -> float:
    """Return a positive, finite number.

    Raises
    ------
    RequestError
        If it is none; names `what`, the value and what is accepted.

    Examples
    --------
    >>> parse_number("1e3", "scale")
    1000.0
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        given = text if shown is None else shown
        raise RequestError(f"the {what} is {given!r}; accepted: {accepted}")
    return value


def parse_range(text: str, what: str) -> tuple[float, float]:
    """Return the ends of ``0.01:0.1``.

    Raises
    ------
    RequestError
        If these are not two positive numbers, the smaller first.

    Examples
    --------
    >>> parse_range("0.01:0.1", "scale")
    (0.01, 0.1)
    """
    accepted = "two numbers above 0, the smaller first, such as 0.01:0.1"
    ends = [parse_number(part, what, accepted, shown=text) for part in text.split(":")]
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise RequestError(f"the {what} is {text!r}; accepted: {accepted}")
    return ends[0], ends[1]


def parse_counts(text: str, what: str = "machines") -> list[int]:
    """Return machine counts from ``2:64``, ``2:64:2`` (a step) or ``2,4,8:10``, ascending.

    Raises
    ------
    RequestError
        If a part is no count or range, or a range is upside down.

    Examples
    --------
    >>> parse_counts("8"), parse_counts("2:10:4"), parse_counts("16,2:4")
    ([8], [2, 6, 10], [2, 3, 4, 16])
    """
    found: set[int] = set()
    for part in text.split(","):
        try:
            ends = [int(number) for number in part.split(":")]
        except ValueError:
            ends = []
        if not 1 <= len(ends) <= 3 or min(ends) < 1:
            raise RequestError(
                f"{what} are {text!r}; accepted: counts of 1 or more, such as 8, 2:64, 2:64:2 "
                "or 2,4,8"
            )
        first, last = ends[0], ends[min(len(ends), 2) - 1]
        step = ends[2] if len(ends) == 3 else 1
        if last > MOST_MACHINES:
            raise RequestError(f"{what} are {text!r}; accepted: at most {MOST_MACHINES:,}")
        if first > last:
            raise RequestError(
                f"{what} are {text!r}, from {first} down to {last}; accepted: the smaller first"
            )
        if (last - first) // step >= MOST_COUNTS:
            raise RequestError(
                f"{what} are {text!r}, more than {MOST_COUNTS:,} counts; accepted: a shorter range "
                "or one with a step, such as 1:100000:100"
            )
        found.update(range(first, last + 1, step))
    return sorted(found)
