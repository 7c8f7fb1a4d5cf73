"""Memory bandwidth, and latency by working set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from predict_graph.arrays import FloatArray, IntArray
from predict_graph.cores import usable_cores
from predict_graph.resources.profile import WORKING_SETS, Measured, latency_name
from predict_graph.resources.repeating import (
    REPEATS,
    in_turns,
    rate_of,
    side_by_side,
    summed_up,
)

# Of each of three arrays per thread; bounds them from below to exceed usual caches
_STREAM_BYTES = 32 << 20
# A window of 0.2 s holds a hundred of these; consecutive runs are within 15% (docs/resources.md).
_STEPS = 20_000


@njit(cache=True, nogil=True)
def triad(a: FloatArray, b: FloatArray, c: FloatArray) -> None:
    """Stream three arrays through: a = b + 3 c."""
    for i in range(len(a)):
        a[i] = b[i] + 3.0 * c[i]


@njit(cache=True, nogil=True)
def chase(following: IntArray, start: int, steps: int) -> int:
    """Follow a chain through memory: each address depends on the previous read."""
    place = start
    for _ in range(steps):
        place = following[place]
    return place


def measure_memory(repeats: int = REPEATS) -> dict[str, Measured]:
    """Measure the bandwidth of all threads, and the latency of one."""
    works: dict[str, Callable[[], float]] = {"memory_bandwidth": _stream()}
    works |= {latency_name(size): _wait(size) for size in WORKING_SETS}
    found = in_turns(works, repeats)
    bandwidth = summed_up(found.pop("memory_bandwidth"), "GB/s")
    waits = {name: summed_up(each, "ns", less_is_better=True) for name, each in found.items()}
    return {"memory_bandwidth": bandwidth, **waits}


def _stream() -> Callable[[], float]:
    """Return a function that measures the GB per second of all threads."""
    length = _STREAM_BYTES // 8
    threads = usable_cores()
    free = [tuple(np.ones(length) for _ in range(3)) for _ in range(threads)]
    for a, b, c in free:
        triad(a, b, c)

    def work() -> float:
        a, b, c = free.pop()
        triad(a, b, c)
        free.append((a, b, c))
        return 3.0 * length * 8

    return lambda: side_by_side(work, threads) / 1e9


def _wait(size: int) -> Callable[[], float]:
    """Return a function that measures the latency in ns within so many bytes.

    Each measurement allocates new memory, since page placement affects the caches.
    """

    def work() -> float:
        following = _cycle(size // 8)
        # One pass over the cacheable part, to load it.
        place = chase(following, 0, min(len(following), WORKING_SETS[-2] // 8))

        def wait() -> float:
            nonlocal place
            place = chase(following, place, _STEPS)
            return float(_STEPS)

        return 1e9 / rate_of(wait)

    return work


def _cycle(length: int) -> IntArray:
    """Return one random-looking cycle through a power of two of places, to defeat prefetching.

    A linear congruential generator of full period (Hull and Dobell, 1962).
    """
    places = np.arange(length, dtype=np.int64)
    return (places * 1_664_525 + 1_013_904_223) & (length - 1)
