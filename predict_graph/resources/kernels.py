"""Compiled loops that use a single resource."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


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
def triad(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], c: npt.NDArray[np.float64]
) -> None:
    """Stream three arrays through: a = b + 3 c."""
    for i in range(len(a)):
        a[i] = b[i] + 3.0 * c[i]


@njit(cache=True, nogil=True)
def chase(following: npt.NDArray[np.int64], start: int, steps: int) -> int:
    """Follow a chain through memory: each address depends on the previous read."""
    place = start
    for _ in range(steps):
        place = following[place]
    return place
