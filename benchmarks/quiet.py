"""Measuring while a shared machine is left alone.

Other guests of the host slow memory down for seconds at a time, by a factor of two. A reference
loop that reads memory at random on all cores tells when: what was measured between two slow ones
is measured again. The rule looks at the reference and at stolen time only, never at a result.

A virtual machine hands memory that is free for two seconds back to its host, and the first touch of
it costs ten to sixty times as much afterwards (measured: 200 MB in 0.03 or in 0.3 to 2 s). A run
of 0.2 s took three times as long after a pause. So free memory is touched right before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

from predict_graph.engines.local.team import available_threads

__all__ = ["QuietMachine", "touch_free_memory"]

Measured = TypeVar("Measured")

_READS = 1_000_000
_PLACES = 4 << 20  # of 8 bytes
_MOST_SLOWDOWN = 1.35  # of the reference, over its lower quartile
_MOST_STOLEN = 0.04  # of the time of all cores
_FIRST_LOOKS = 40
_PATIENCE = 20  # looks before a measurement begins all the same
_TRIES = 6
_TOUCHED = 1500 << 20  # bytes of free memory, before each measurement
_PAGE = 4096
_PAUSE = 0.5  # seconds between two looks at a busy machine


@numba.njit(cache=True, nogil=True)
def _read(values: Any, places: Any) -> float:
    total = 0.0
    for place in places:
        total += values[place]
    return total


class QuietMachine:
    """Repeats what was measured while the machine was busy with something else.

    Attributes
    ----------
    measured, repeated, disturbed : int
        Measurements asked for, repeats of them, and those kept although no quiet moment came.
    """

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._values = np.ones(_PLACES)
        self._places = [
            rng.integers(0, _PLACES, _READS, dtype=np.int32) for _ in range(available_threads())
        ]
        _read(self._values, self._places[0][:10])
        self._looks: list[float] = []
        for _ in range(_FIRST_LOOKS):
            self._look()
            time.sleep(_PAUSE / 10)
        self.measured = self.repeated = self.disturbed = 0

    def measure(self, run: Callable[[], Measured]) -> Measured:
        """Return what `run` returns, the first time that the machine was quiet around it."""
        self.measured += 1
        for attempt in range(_TRIES):
            self.repeated += attempt > 0
            quiet = self._wait()
            touch_free_memory()
            stolen, started = _stolen_seconds(), time.perf_counter()
            result = run()
            span = (time.perf_counter() - started) * len(self._places)
            stolen = (_stolen_seconds() - stolen) / span
            if quiet and stolen < _MOST_STOLEN and self._is_quiet():
                return result
        self.disturbed += 1
        return result

    def report(self) -> str:
        """Return one sentence for the page of results."""
        return (
            f"The machine is shared. {self.repeated} of {self.measured + self.repeated} "
            "measurements were thrown away and repeated, because a reference loop that reads "
            f"memory at random took over {_MOST_SLOWDOWN} of its lower quartile before or after, "
            f"or over {_MOST_STOLEN:.0%} of the cores' time was stolen; {self.disturbed} were "
            "kept without a quiet moment. Free memory was touched before each, as the host takes "
            "it back after a pause and gives it slowly."
        )

    def _wait(self) -> bool:
        for _ in range(_PATIENCE):
            if self._is_quiet():
                return True
            time.sleep(_PAUSE)
        return False

    def _is_quiet(self) -> bool:
        now = float(np.median([self._look() for _ in range(3)]))
        return now < _MOST_SLOWDOWN * float(np.quantile(self._looks, 0.25))

    def _look(self) -> float:
        started = time.perf_counter()
        threads = [
            threading.Thread(target=_read, args=(self._values, places)) for places in self._places
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._looks.append(time.perf_counter() - started)
        return self._looks[-1]


def touch_free_memory(size: int = _TOUCHED) -> None:
    """Use memory that programs will be given next."""
    np.empty(size, np.uint8)[::_PAGE] = 1


def _stolen_seconds() -> float:
    """Return for how long the host kept cores from this machine; 0 where it does not say."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return 0.0
    return int(fields[8]) / 100.0 if len(fields) > 8 else 0.0
