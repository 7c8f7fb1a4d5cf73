"""Time without compilation.

Compiled code is built when it is first needed, in the middle of whatever needs it. That happens
once on a machine, takes seconds, and is no part of what a job takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event


class Stopwatch:
    """Seconds since it was started, less what numba spent on compiling."""

    def __init__(self, compiling: event.TimingListener) -> None:
        self._compiling = compiling
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time so far; read it when nothing is being compiled."""
        compiled = self._compiling.duration if self._compiling.done else 0.0
        return max(time.perf_counter() - self._started - compiled, 0.0)


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Start a stopwatch.

    Examples
    --------
    >>> with stopwatch() as watch:
    ...     elapsed = watch.seconds
    >>> 0.0 <= elapsed < 1.0
    True
    """
    compiling = event.TimingListener()
    with event.install_listener("numba:compile", compiling):
        yield Stopwatch(compiling)
