"""Speed of memory: a stream through it, and the wait for one word, by how much is in use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from predict_graph.cores import usable_cores
from predict_graph.resources.kernels import chase, triad
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import in_turns, rate_of, side_by_side, summed_up

__all__ = ["WORKING_SETS", "latency_name", "measure_memory"]

WORKING_SETS = (32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20)  # a choice
"""Bytes in use whose latency is measured: from the first cache to main memory."""

_STREAM_BYTES = 32 << 20  # of each of three arrays of a thread: beyond the usual caches; a choice
_MOST_IN_A_CACHE = 16 << 20  # bytes; a choice
# A window of 0.2 s holds a hundred of these; docs/resources.md: runs in a row are within 15%.
_STEPS = 20_000
_REPEATS = 5


def latency_name(size: int) -> str:
    """Return the name of the attribute.

    Examples
    --------
    >>> latency_name(32 << 10), latency_name(128 << 20)
    ('memory_latency_32k', 'memory_latency_128m')
    """
    return f"memory_latency_{size >> 10}k" if size < 1 << 20 else f"memory_latency_{size >> 20}m"


def measure_memory(repeats: int = _REPEATS) -> dict[str, Measured]:
    """Measure bandwidth with all threads, and latency of one.

    Returns
    -------
    dict of str to Measured
        ``memory_bandwidth`` (STREAM's triad) in GB/s and ``memory_latency_…`` in ns for each of
        ``WORKING_SETS``.
    """
    works: dict[str, Callable[[], float]] = {"memory_bandwidth": _stream()}
    works |= {latency_name(size): _wait(size) for size in WORKING_SETS}
    found = in_turns(works, repeats)
    bandwidth = summed_up(found.pop("memory_bandwidth"), "GB/s")
    waits = {name: summed_up(each, "ns", less_is_better=True) for name, each in found.items()}
    return {"memory_bandwidth": bandwidth, **waits}


def _stream() -> Callable[[], float]:
    """Return what measures the GB a second that all threads move."""
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
    """Return what measures the ns that a word takes, of so many bytes.

    In new memory each time: which pages it gets matters to the caches.
    """

    def work() -> float:
        following = _cycle(size // 8)
        # Once around what a cache may hold, so that it is there.
        place = chase(following, 0, min(len(following), _MOST_IN_A_CACHE // 8))

        def wait() -> float:
            nonlocal place
            place = chase(following, place, _STEPS)
            return float(_STEPS)

        return 1e9 / rate_of(wait)

    return work


def _cycle(length: int) -> npt.NDArray[np.int64]:
    """Return one cycle through as many places as a power of two, which no cache foresees.

    A linear congruential generator of full period (Hull and Dobell, 1962).
    """
    places = np.arange(length, dtype=np.int64)
    return (places * 1_664_525 + 1_013_904_223) & (length - 1)
