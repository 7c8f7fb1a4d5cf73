"""Time without compilation and imports.

Compiled code is built or loaded, and libraries are imported, when they are first needed, in the
middle of whatever needs them. That happens once, takes up to seconds, and is no part of a job.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from numba.core import event

_imports: list[float] = []  # the seconds of each, in this process


class Stopwatch:
    """Seconds since it was started, less compiling and loading by numba, and less imports."""

    def __init__(self, compiling: event.TimingListener) -> None:
        self._compiling = compiling
        self._started = time.perf_counter() - sum(_imports)

    @property
    def seconds(self) -> float:
        """Time so far; read it when nothing is being compiled."""
        compiled = self._compiling.duration if self._compiling.done else 0.0
        return max(time.perf_counter() - self._started - compiled - sum(_imports), 0.0)


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
    with event.install_listener("numba:compiler_lock", compiling):
        yield Stopwatch(compiling)


def imported(name: str) -> Any:
    """Return a library, imported without the seconds counting on any stopwatch."""
    if name not in sys.modules:
        started = time.perf_counter()
        import_module(name)
        _imports.append(time.perf_counter() - started)
    return sys.modules[name]
