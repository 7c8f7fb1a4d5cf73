"""How long something takes beside a loop in Python, which is as slow as the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def million_loops(call: Callable[[], Any], repeats: int = 3) -> float:
    """Return the processor time of a call, in loops over a million numbers; the least of some."""
    calls, loops = [], []
    for _ in range(repeats):
        loops.append(_spent(_loop))
        calls.append(_spent(call))
    return min(calls) / min(loops)


def _loop() -> None:
    for _ in range(1_000_000):
        pass


def _spent(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began
