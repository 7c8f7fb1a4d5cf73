"""A hash of vertices, for compiled code."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

__all__ = ["splitmix64"]


@numba.njit(cache=True, nogil=True, inline="always")
def splitmix64(vertex: Any) -> Any:
    """Return 64 bits that look random and are the same for the same vertex.

    The finaliser of G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number
    Generators, OOPSLA 2014.
    """
    x = np.uint64(vertex + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
