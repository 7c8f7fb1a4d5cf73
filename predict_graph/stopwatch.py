"""Time without compilation and imports.

Compiled code is built or loaded, and libraries are imported, when they are first needed, in the
middle of whatever needs them. That happens once, takes up to seconds, and is no part of a job.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

from numba.core import event

_compiling = event.TimingListener()  # and loading compiled code
event.register("numba:compiler_lock", _compiling)
_imports: list[float] = []  # the seconds of each, in this process


class Stopwatch:
    """Seconds since it was made, less compiling and loading by numba, and less imports.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> 0.0 <= watch.seconds < 600.0
    True
    """

    def __init__(self) -> None:
        self._started = _counted()

    @property
    def seconds(self) -> float:
        """Time so far; read it when nothing is being compiled."""
        return max(_counted() - self._started, 0.0)


def _counted() -> float:
    compiled = _compiling.duration if _compiling.done else 0.0
    return float(time.perf_counter() - compiled - sum(_imports))


def imported(name: str) -> Any:
    """Return a library, imported without the seconds counting on any stopwatch."""
    if name not in sys.modules:
        started = time.perf_counter()
        import_module(name)
        _imports.append(time.perf_counter() - started)
    return sys.modules[name]
