"""Core numbers on one graph, and on a block of one.

A vertex whose estimate decreases marks the neighbours that it affects: those whose estimate was at
most its own, and is above it now. No other estimate can decrease, so only marked vertices scan
their neighbours again. Vertices send from a second array that is updated after the superstep, so
that messages hold the estimates at its start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.k_core.definition import KCore
from predict_graph.engines.local import kernel
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph import Graph

# Work relative to one message: scanning a neighbour, and a vertex; not tuned.
_LOOK, _VERTEX = 2.0, 2.0


class KCoreKernel(kernel.SpreadingKernel):
    """Core numbers on one undirected graph.

    It has no probe: a vertex that receives one message scans all neighbours, so a message of the
    first superstep, in which all send, costs less than later ones.
    """

    def __init__(self, algorithm: KCore, graph: Graph, team: kernel.Team | None = None) -> None:
        super().__init__(graph, team)
        self._rows = (graph.indptr, graph.indices)
        self._degrees = graph.out_degrees
        # The estimates so far, at the end the core number of each vertex.
        self.values = self._degrees.astype(np.int32)
        self._sent = self.values.copy()
        self._sampled = False
        # In the first superstep all vertices receive messages from all their neighbours.
        self._marked = np.ones(graph.vertices, np.uint8)

    @staticmethod
    def footprint(algorithm: KCore, id_bytes: int) -> kernel.Footprint:
        """Return its memory: two arrays of estimates, degrees, five marks; finally a result."""
        return kernel.Footprint(2 * 4 + 8 + 5 + 4, reverse=False)

    def summary(self) -> dict[str, Any]:
        """Return the largest core number, and how many vertices have it."""
        largest = int(self.values.max())
        return {"degeneracy": largest, "innermost": int(np.count_nonzero(self.values == largest))}

    def stand_for(self, sample: kernel.WeightedSample) -> None:
        """Count self-loops: in a sample a vertex may represent its own neighbour."""
        self._sampled = True

    def rest(self) -> None:
        """Let no vertex send in the next superstep: no neighbours are scanned then."""
        super().rest()
        self._marked[:] = 0

    def step(self) -> kernel.Superstep:
        """Run one superstep; its aggregate is the share of vertices whose estimate decreased."""
        work = kernel.Work()
        if self._sampled:  # needed on samples only
            work = kernel.Work(self._marked * (_LOOK * self._degrees + _VERTEX) + 1.0)
        estimates = (self._sent, self.values, self._changed)
        self._share(lower, self._rows, self._sampled, self._marked, estimates)
        self._marked[:] = 0
        self._share(_settle, self._rows, self._marked, estimates)
        return self._turn(work)


@numba.njit(cache=True, nogil=True)
def lower(first: int, last: int, rows: Any, loops: bool, marked: Any, estimates: Any) -> None:
    """Lower the estimates of the marked vertices of some rows, by those that were sent."""
    indptr, indices = rows
    sent, lowest, changed = estimates
    known, counts = np.empty(16, np.int32), np.zeros(16, np.int32)
    for v in range(first, last):
        if marked[v] == 0:
            continue
        estimate, start, stop = sent[v], indptr[v], indptr[v + 1]
        if stop - start > len(known) or estimate > len(counts):
            room = 2 * max(stop - start, np.int64(estimate))
            known, counts = np.empty(room, np.int32), np.zeros(room, np.int32)
        size = 0
        for e in range(start, stop):
            u = indices[e]
            if loops or u != v:
                known[size] = sent[u]
                size += 1
        # The largest k, at most the estimate, for which k of those that it knows are k or more.
        now, at_least = estimate, 0
        for found in known[:size]:
            if found >= estimate:
                at_least += 1
            else:
                counts[found] += 1
        while at_least < now:
            now -= 1
            at_least += counts[now]
        counts[:estimate] = 0
        if now < estimate:
            lowest[v] = now
            changed[v] = 1


@numba.njit(cache=True, nogil=True)
def _settle(first: int, last: int, rows: Any, marked: Any, estimates: Any) -> None:
    """Publish the decreased estimates, and mark the vertices that they affect."""
    indptr, indices = rows
    sent, lowest, changed = estimates
    for v in range(first, last):
        if changed[v] == 0:
            continue
        before, now = sent[v], lowest[v]
        sent[v] = now
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            # It affects only neighbours that counted it as at least their own estimate.
            if before >= lowest[w] > now:
                marked[w] = 1


class KCoreProgram(BlockProgram):
    """Vertices whose estimate decreased send it; receivers update their own.

    The estimates of all neighbours count, so the boundary gets those of vertices that do not send
    as well.
    """

    all_known = True

    def first(self, prior: Array | None) -> None:
        """Set the estimates to the degrees."""
        self.state = self.block.degrees.astype(np.int32)

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Lower the estimates."""
        every, changed = np.ones(self.block.count, np.uint8), np.zeros(self.block.count, np.uint8)
        lower(0, self.block.count, self.rows, False, every, (offers, self.state, changed))
        self.senders = changed.view(bool)

    def values(self) -> Array:
        """Return the core number."""
        return np.asarray(self.state, np.int64)

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the largest core number, and how many vertices have it."""
        from pyspark.sql import functions as F

        sizes = values.groupBy("value").count()
        found = sizes.agg(F.max(F.struct("value", "count"))).collect()[0][0]
        return {"degeneracy": int(found[0]), "innermost": int(found[1])}
