"""A deadline of a block of code, which long work inside looks at between its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LEFT: ContextVar[Callable[[], float] | None] = ContextVar("left", default=None)


class StopRun(Exception):  # noqa: N818 - a request, not an error, like StopIteration
    """Raised in the middle of a superstep, or before the next one, when time is up."""


@contextmanager
def deadline(left: Callable[[], float] | None) -> Iterator[None]:
    """Set the deadline of a block of code, or none.

    Examples
    --------
    >>> with deadline(lambda: 2.0):
    ...     time_left()
    2.0
    >>> time_left()
    inf
    """
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)


def current_deadline() -> Callable[[], float] | None:
    """Return what returns the seconds until the deadline, for other threads; None without one."""
    return _LEFT.get()


def time_left() -> float:
    """Return the seconds until the deadline, which may have passed."""
    left = _LEFT.get()
    return math.inf if left is None else left()
