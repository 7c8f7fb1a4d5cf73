"""Texts of options, limits and generators: ``NAME=VALUE``, and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable

from predict_graph.errors import RequestError


def named_values(
    texts: Iterable[str] | None, what: str, accepted: str, *, again: bool = False
) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a mapping; the last of a name that may come `again` holds.

    Examples
    --------
    >>> named_values(["k = 5", "job="], "--where", "NAME=VALUE")
    {'k': '5', 'job': ''}
    >>> named_values(["k"], "--where", "NAME=VALUE, such as k=5")
    Traceback (most recent call last):
    predict_graph.errors.RequestError: --where 'k'; accepted: NAME=VALUE, such as k=5

    Raises
    ------
    RequestError
        If a text is something else, or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise RequestError(f"{what} {text!r}; accepted: {accepted}")
        if name in found and not again:
            raise RequestError(f"{what} {name} is given twice")
        found[name] = value
    return found


def to_number(text: str) -> float:
    """Return the number that a text is; not a number if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
