"""Processor speed: integers, floating point, and the effective number of cores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from predict_graph.cores import usable_cores
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import in_turns, rate_of, side_by_side, summed_up

# A window of 0.2 s holds hundreds of these; consecutive runs are within 7% (docs/resources.md).
_STEPS = 200_000


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


def measure_processor(repeats: int = 7) -> dict[str, Measured]:
    """Measure one core, then all at once."""
    integers(1, 1), floats(1.0, 1)  # compiled, or loaded from cache

    def whole() -> float:
        integers(88172645463325252, _STEPS)
        return float(_STEPS)

    def real() -> float:
        floats(0.7, _STEPS)
        return float(_STEPS)

    cores = usable_cores()
    works = {
        "cpu_integer_speed": lambda: rate_of(whole) / 1e6,
        "cpu_float_speed": lambda: rate_of(real) / 1e6,
        "all": lambda: side_by_side(whole, cores) / 1e6,
    }
    found = in_turns(works, repeats)
    together = found.pop("all")
    speeds = {name: summed_up(values, "million steps/s") for name, values in found.items()}
    one = speeds["cpu_integer_speed"].value
    busy = summed_up([max(speed / one, 1e-3) for speed in together], "cores")
    return {**speeds, "cpu_cores": replace(busy, value=min(busy.value, float(cores)))}
