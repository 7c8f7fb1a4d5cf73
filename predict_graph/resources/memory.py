"""Speed of memory: a stream through it, and the wait for one word, by how much is in use."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.resources.cores import usable_cores
from predict_graph.resources.kernels import chase, triad
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import rate_of, side_by_side, summed_up

__all__ = ["WORKING_SETS", "latency_name", "measure_memory"]

WORKING_SETS = (32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20)
"""Bytes in use whose latency is measured: from the first cache to main memory."""

_STREAM_BYTES = 32 << 20  # of each of three arrays of a thread: beyond the usual caches
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
    found = {"memory_bandwidth": summed_up(_streams(repeats), "GB/s")}
    for size in WORKING_SETS:
        following = _cycle(size // 8)
        place = chase(following, 0, len(following))  # once around: it is in the cache if it fits

        def wait(chain: npt.NDArray[np.int64] = following, start: int = place) -> float:
            chase(chain, start, _STEPS)
            return float(_STEPS)

        rates = [rate_of(wait) for _ in range(repeats)]
        found[latency_name(size)] = summed_up([1e9 / rate for rate in rates], "ns")
    return found


def _streams(repeats: int) -> list[float]:
    """Return GB a second that all threads move, each time again."""
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

    return [side_by_side(work, threads) / 1e9 for _ in range(repeats)]


def _cycle(length: int) -> npt.NDArray[np.int64]:
    """Return one cycle through as many places as a power of two, which no cache foresees.

    A linear congruential generator of full period (Hull and Dobell, 1962).
    """
    places = np.arange(length, dtype=np.int64)
    return (places * 1_664_525 + 1_013_904_223) & (length - 1)
