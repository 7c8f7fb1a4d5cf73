"""Counters of each superstep and virtual worker (PREDIcT, table 1)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.arrays import Array, FloatArray, IntArray
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.graph import Graph
from predict_graph.table import Table


class Tally:
    """Adds up the messages that workers exchange, superstep by superstep.

    It takes one pass over the edges on construction, then one over the vertices for each superstep
    whose senders or sizes differ from those of the previous one. This time is not part of the
    runtime.
    """

    def __init__(self, graph: Graph, workers: int) -> None:
        self._owner = worker_of(np.arange(graph.vertices), workers).astype(np.int32)
        self._inside = edges_inside(graph.indptr, graph.indices, self._owner)
        self._indptr = graph.indptr
        self._vertices = np.bincount(self._owner, minlength=workers)
        self._out_edges = np.bincount(self._owner, np.diff(graph.indptr), workers).astype(np.int64)
        self._workers = workers
        self._rows: list[IntArray] = []
        self._everyone: dict[int, IntArray] = {}

    def add(self, superstep: Superstep) -> None:
        """Count the messages of one superstep."""
        size, senders = superstep.message_bytes, superstep.senders
        if senders is not None or not isinstance(size, int):
            self._rows.append(self._counted(size, senders))
            return
        if size not in self._everyone:
            self._everyone[size] = self._counted(size, None)
        self._rows.append(self._everyone[size])

    def _counted(self, size: int | Array, senders: Array | None) -> IntArray:
        owner, local, degrees = self._owner, self._inside, np.diff(self._indptr)
        if senders is not None:
            chosen = senders.view(bool)
            owner, local, degrees = owner[chosen], local[chosen], degrees[chosen]
            size = size[chosen] if isinstance(size, np.ndarray) else size
        local = local.astype(np.int64)
        remote = degrees - local
        columns = (None, local, remote, local * size, remote * size)
        counts = [np.bincount(owner, column, self._workers) for column in columns]
        return np.stack(counts, axis=1).astype(np.int64)

    def table(self, aggregates: FloatArray, seconds: FloatArray) -> Table:
        """Return one row per iteration and worker, with ``TABLE_COLUMNS`` and ``OUT_EDGES``."""
        iterations = len(self._rows)
        counted = np.concatenate(self._rows or [np.zeros((0, 5), np.int64)])
        active, local, remote, local_bytes, remote_bytes = counted.T
        columns = {  # in the order of TABLE_COLUMNS
            "iteration": np.repeat(np.arange(1, iterations + 1), self._workers),
            "worker": np.tile(np.arange(self._workers), iterations),
            "active_vertices": active,
            "total_vertices": np.tile(self._vertices, iterations),
            "local_messages": local,
            "remote_messages": remote,
            "local_message_bytes": local_bytes,
            "remote_message_bytes": remote_bytes,
            "average_message_bytes": (local_bytes + remote_bytes) / np.maximum(local + remote, 1),
            "seconds": np.repeat(seconds, self._workers),
            "convergence": np.repeat(aggregates, self._workers),
            OUT_EDGES: np.tile(self._out_edges, iterations),
        }
        return Table(columns)


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
