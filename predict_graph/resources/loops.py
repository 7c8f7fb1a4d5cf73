"""Speed of the processor and of memory, by compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numba import njit

from predict_graph.arrays import FloatArray, IntArray
from predict_graph.cores import usable_cores
from predict_graph.limits import usable_memory
from predict_graph.resources.profile import WORKING_SETS, Measured, latency_name
from predict_graph.timing import clock


@njit(cache=True, nogil=True)
def integers(state: int, steps: int) -> int:
    """Shift and combine integers: no memory access, no floating point."""
    value = np.uint64(state)
    for _ in range(steps):
        value ^= value << np.uint64(13)
        value ^= value >> np.uint64(7)
        value ^= value << np.uint64(17)
    return int(value >> np.uint64(1))


@njit(cache=True, nogil=True)
def floats(start: float, steps: int) -> float:
    """Multiply, add and divide in a chain, as Whetstone's first modules do."""
    a, b = start, 1.0
    for _ in range(steps):
        a = (a + b) * 0.499975
        b = (a - b) * 0.50025 + 1.0 / (a + 1.5)
    return a + b


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


def measure_processor(repeats: int = 7, steps: int = 200_000) -> dict[str, Measured]:
    """Measure one core, then all at once.

    A window of 0.2 s holds hundreds of so many steps; consecutive runs are within 7%.
    """
    integers(1, 1), floats(1.0, 1)  # compiled, or loaded from cache
    cores = usable_cores()
    whole, real = partial(integers, 88172645463325252, steps), partial(floats, 0.7, steps)
    works = {
        "cpu_integer_speed": lambda: rate_of(whole, steps) / 1e6,
        "cpu_float_speed": lambda: rate_of(real, steps) / 1e6,
        "all": lambda: side_by_side([whole] * cores, steps) / 1e6,
    }
    found = in_turns(works, repeats)
    together = found.pop("all")
    speeds = {name: Measured.of(values, "million steps/s") for name, values in found.items()}
    one = speeds["cpu_integer_speed"].value
    busy = Measured.of([max(speed / one, 1e-3) for speed in together], "cores")
    return {**speeds, "cpu_cores": replace(busy, value=min(busy.value, float(cores)))}


def measure_memory(repeats: int = 5, stream_bytes: int = 32 << 20) -> dict[str, Measured]:
    """Measure the bandwidth of all threads, and the latency of one in each working set.

    Each of the three arrays of a thread has so many bytes, which exceed usual caches; less where
    they would take more than an eighth of the memory.
    """
    threads = usable_cores()
    length = min(stream_bytes, usable_memory() // (3 * 8 * threads)) // 8
    streams = [partial(triad, *np.ones((3, length))) for _ in range(threads)]
    for stream in streams:
        stream()
    works = {"memory_bandwidth": lambda: side_by_side(streams, 3 * 8 * length) / 1e9}
    works |= {latency_name(size): partial(_latency, size) for size in WORKING_SETS}
    found = in_turns(works, repeats)
    bandwidth = Measured.of(found.pop("memory_bandwidth"), "GB/s")
    waits = {name: Measured.of(each, "ns", less_is_better=True) for name, each in found.items()}
    return {"memory_bandwidth": bandwidth, **waits}


def _latency(size: int, steps: int = 20_000) -> float:
    """Measure the latency in ns within so many bytes.

    In new memory, since page placement affects the caches. A window of 0.2 s holds a hundred of so
    many steps; consecutive runs are within 15%.
    """
    following = _cycle(size // 8)
    # One pass over the cacheable part, to load it.
    place = chase(following, 0, min(len(following), WORKING_SETS[-2] // 8))

    def wait() -> None:
        nonlocal place
        place = chase(following, place, steps)

    return 1e9 / rate_of(wait, steps)


def _cycle(length: int) -> IntArray:
    """Return one random-looking cycle through a power of two of places, to defeat prefetching.

    A linear congruential generator of full period (Hull and Dobell, 1962).
    """
    places = np.arange(length, dtype=np.int64)
    return (places * 1_664_525 + 1_013_904_223) & (length - 1)


def in_turns(works: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Measure each item several times, alternating: a disturbance affects few repeats of each.

    Examples
    --------
    >>> in_turns({"a": lambda: 1.0, "b": lambda: 2.0}, 3)
    {'a': [1.0, 1.0, 1.0], 'b': [2.0, 2.0, 2.0]}
    """
    rounds = [{name: work() for name, work in works.items()} for _ in range(repeats)]
    return {name: [each[name] for each in rounds] for name in works}


def rate_of(work: Callable[[], object], units: float, window: float = 0.2) -> float:
    """Return the units per second of work of so many units, repeated for a window of time.

    So many seconds hold many periods of a CPU quota.
    """
    done, begun = 0.0, clock.wall()
    while True:
        work()
        done += units
        elapsed = clock.wall() - begun
        if elapsed >= window:
            return done / elapsed


def side_by_side(works: Sequence[Callable[[], object]], units: float) -> float:
    """Return the units per second of several threads together, each doing its own work."""
    with ThreadPoolExecutor(len(works)) as pool:
        return sum(pool.map(lambda work: rate_of(work, units), works))
