"""Durations, money and machine counts as people write them."""

from __future__ import annotations

import math
import re

from predict_graph.durations import parse_duration
from predict_graph.errors import RequestError
from predict_graph.texts import to_number

MOST_COUNTS = 100_000  # limit: more is a slip; not tuned
_RANGE = re.compile(r"0*([1-9]\d{0,9})(?::0*([1-9]\d{0,9}))?(?::0*([1-9]\d{0,9}))?")
MOST_MACHINES = 1_000_000_000  # limit: more is a slip; not tuned


def check_count(subject: str, value: object, least: int = 1, most: int = MOST_MACHINES) -> int:
    """Return a whole number of a range; the subject is that of the sentence, with its verb.

    Examples
    --------
    >>> check_count("repeats are", "2")
    2
    >>> check_count("repeats are", 0)
    Traceback (most recent call last):
    predict_graph.errors.RequestError: repeats are 0; accepted: from 1 to 1,000,000,000
    """
    number = to_number(str(value))
    if number % 1 or not least <= number <= most:
        raise RequestError(f"{subject} {value}; accepted: from {least} to {most:,}")
    return int(number)


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
    return parse_number(plain, what, "an amount in USD above 0, such as 15", full=text)


def parse_conditions(
    deadline: float | str | None, budget: float | str | None, confidence: float | str
) -> tuple[float | None, float | None, float]:
    """Return deadline and budget of a plan in seconds and US dollars, and their confidence."""
    text, accepted = str(confidence), "a share such as 0.9 or 90%, from 0.5 to below 1"
    share = parse_number(text.removesuffix("%"), "confidence", accepted, full=text)
    share /= 100.0 if text.endswith("%") else 1.0
    if not 0.5 <= share < 1:
        raise RequestError(f"the confidence is {text}; accepted: {accepted}")
    return (
        None if deadline is None else parse_duration(str(deadline), "deadline"),
        None if budget is None else parse_money(str(budget)),
        share,
    )


def parse_number(text: str, what: str, accepted: str = "a number above 0", full: str = "") -> float:
    """Return a positive, finite number; an error shows the `full` text that it is of, if given.

    Raises
    ------
    RequestError
        If it is none; names `what`, the value and what is accepted.

    Examples
    --------
    >>> parse_number("1e3", "scale")
    1000.0
    """
    value = to_number(text)
    if not (value > 0 and math.isfinite(value)):
        raise RequestError(f"the {what} is {full or text!r}; accepted: {accepted}")
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
    ends = [to_number(part) for part in text.split(":")]
    if len(ends) != 2 or not 0 < ends[0] < ends[1] < math.inf:
        raise RequestError(f"the {what} is {text!r}; accepted: {accepted}")
    return ends[0], ends[1]


def parse_counts(text: str, what: str = "machines") -> list[int]:
    """Return machine counts from ``2:64``, ``2:64:2`` (a step) or ``2,4,8:10``, ascending.

    Raises
    ------
    RequestError
        If a part is no count or range, a range is upside down, or there are too many counts.

    Examples
    --------
    >>> parse_counts("8"), parse_counts("2:10:4"), parse_counts("16,2:4")
    ([8], [2, 6, 10], [2, 3, 4, 16])
    """
    found: set[int] = set()
    for part in text.split(","):
        given = _RANGE.fullmatch(part.replace(" ", ""))
        first, last, step = given.groups() if given else ("1", "0", None)
        counts = range(int(first), int(last or first) + 1, int(step or 1))
        if not 1 <= len(counts) <= MOST_COUNTS or counts[-1] > MOST_MACHINES:
            raise RequestError(
                f"{what} are {text!r}; accepted: counts from 1 to {MOST_MACHINES:,}, such as 8, "
                f"2:64, 2:64:2 or 2,4,8, the smaller first, at most {MOST_COUNTS:,} of them"
            )
        found.update(counts)
    return sorted(found)
