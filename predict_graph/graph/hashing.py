"""Hashes of 64 bits, for compiled code.

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
   2014.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, inline="always")
def mixed(z: Any) -> Any:
    """Mix 64 bits so that each depends on all of those given: SplitMix64's finaliser [1]_."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True, nogil=True, inline="always")
def splitmix64(vertex: Any) -> Any:
    """Return 64 bits that look random and are the same for the same vertex [1]_."""
    return mixed(np.uint64(vertex + 1) * np.uint64(0x9E3779B97F4A7C15))
