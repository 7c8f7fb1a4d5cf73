"""The virtual partitioning of a graph into workers, and the messages between them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

IntArray = npt.NDArray[np.integer]


@numba.njit(cache=True, nogil=True, inline="always")
def _worker(vertex: Any, workers: Any) -> Any:
    mixed = np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed % np.uint64(workers))


def worker_of(vertices: npt.ArrayLike, workers: int) -> npt.NDArray[np.int64]:
    """Return the worker that holds each vertex: a multiplicative hash, modulo the workers.

    The multiplier is 2**64 over the golden ratio (Fibonacci hashing: Knuth, The Art of Computer
    Programming 3, section 6.4), which spreads both runs and strides of ids.

    Examples
    --------
    >>> worker_of([0, 1, 2, 3], 2).tolist()
    [0, 0, 0, 1]
    """
    mixed = np.asarray(vertices).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(workers)).astype(np.int64)


def out_messages(graph: Graph, workers: int) -> tuple[IntArray, IntArray]:
    """Return the worker of each vertex, and how many of its out-edges stay on it, in one pass."""
    found: tuple[IntArray, IntArray] = _out_messages(graph.indptr, graph.indices, workers)
    return found


@numba.njit(cache=True, nogil=True)
def _out_messages(indptr: Any, indices: Any, workers: int) -> Any:
    vertices = len(indptr) - 1
    owner = np.empty(vertices, np.int32)
    for v in range(vertices):
        owner[v] = _worker(v, workers)
    inside = np.zeros(vertices, np.int32)
    for v in range(vertices):
        own = owner[v]
        count = 0
        for e in range(indptr[v], indptr[v + 1]):
            count += owner[indices[e]] == own
        inside[v] = count
    return owner, inside
