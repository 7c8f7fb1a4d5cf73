"""The virtual partitioning of a graph into workers, and who sends how much to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

__all__ = ["MessageCounts", "count_messages", "worker_of"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MessageCounts:
    """Vertices and outbound edges of each worker, shape (workers,) each."""

    vertices: IntArray
    local: IntArray
    remote: IntArray


@numba.njit(cache=True, nogil=True, inline="always")
def _worker(vertex: Any, workers: Any) -> Any:
    mixed = np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed % np.uint64(workers))


def worker_of(vertices: npt.ArrayLike, workers: int) -> IntArray:
    """Return the worker that holds each vertex: a multiplicative hash, modulo the workers.

    The multiplier is 2**64 over the golden ratio (Fibonacci hashing: Knuth, The Art of Computer
    Programming 3, section 6.4), so that neither runs nor strides of ids end on one worker.

    Examples
    --------
    >>> worker_of([0, 1, 2, 3], 2).tolist()
    [0, 0, 0, 1]
    """
    mixed = np.asarray(vertices).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(workers)).astype(np.int64)


def count_messages(graph: Graph, workers: int) -> MessageCounts:
    """Count the edges that stay on a worker and those that leave it; one pass over the edges."""
    return MessageCounts(*_count(graph.indptr, graph.indices, workers))


@numba.njit(cache=True, nogil=True)
def _count(
    indptr: IntArray, indices: npt.NDArray[np.integer], workers: int
) -> tuple[IntArray, IntArray, IntArray]:
    vertices = np.zeros(workers, np.int64)
    local = np.zeros(workers, np.int64)
    remote = np.zeros(workers, np.int64)
    for v in range(len(indptr) - 1):
        own = _worker(v, workers)
        vertices[own] += 1
        inside = 0
        for e in range(indptr[v], indptr[v + 1]):
            inside += _worker(indices[e], workers) == own
        local[own] += inside
        remote[own] += indptr[v + 1] - indptr[v] - inside
    return vertices, local, remote
