"""How a graph would be spread over workers, and which of its edges stay on one."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IntArray


def worker_of(vertices: npt.ArrayLike, workers: int) -> IntArray:
    """Return the worker that holds each vertex: a multiplicative hash, modulo the workers.

    The multiplier is 2**64 over the golden ratio (Fibonacci hashing: Knuth, The Art of Computer
    Programming 3, section 6.4), which spreads consecutive ids and ids at regular distances.
    Products are modulo 2**64; their upper bits are the mixed ones, so they are added to the lower
    ones, which determine the remainder. Spark has a hash of its own
    (:mod:`~predict_graph.engines.spark.tables.hashing`).

    Examples
    --------
    >>> worker_of([0, 1, 2, 3], 2).tolist()
    [0, 0, 0, 1]
    """
    mixed = np.asarray(vertices).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(workers)).astype(np.int64)


@numba.njit(cache=True, nogil=True)
def edges_inside(indptr: Any, indices: Any, owner: Any) -> Any:
    """Return how many out-edges of each vertex end at a vertex with the same owner."""
    inside = np.zeros(len(owner), np.int32)
    for v in range(len(owner)):
        count = 0
        for e in range(indptr[v], indptr[v + 1]):
            count += owner[indices[e]] == owner[v]
        inside[v] = count
    return inside
