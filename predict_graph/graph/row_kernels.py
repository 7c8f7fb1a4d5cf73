"""Compiled loops over the rows of a graph."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]


@numba.njit(cache=True, nogil=True)
def count_self_loops(indptr: IntArray, indices: IndexArray) -> int:
    """Count the edges from a vertex to itself."""
    count = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            count += indices[e] == v
    return count


@numba.njit(cache=True, nogil=True)
def counted_targets(indices: IndexArray, n: int) -> IntArray:
    """Return how many edges come in at each vertex, shape (n,)."""
    counts = np.zeros(n, np.int64)
    for e in range(len(indices)):
        counts[indices[e]] += 1
    return counts
