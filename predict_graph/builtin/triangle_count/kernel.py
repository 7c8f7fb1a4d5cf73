"""Triangles on one graph, and on a block of one.

The first superstep sorts neighbours, the second counts.

The sets that vertices send are the rows of the graph without the vertices below, so that the second
superstep reads them in place. A vertex marks its neighbours in an array as long as the graph, and
looks up received vertices there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.triangle_count.definition import TriangleCount
from predict_graph.engines.local import kernel
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph.csr import Graph, edges_of

_HEADER_BYTES = _ENTRY_BYTES = 8  # vertex ids; by definition


class TriangleCountKernel(kernel.SharedRows):
    """Triangles of one undirected graph.

    It has no probe: a message of the first superstep costs almost nothing compared with one of the
    second, so a joint cost would be valid for neither.
    """

    def __init__(
        self, algorithm: TriangleCount, graph: Graph, team: kernel.Team | None = None
    ) -> None:
        n = graph.vertices
        super().__init__(graph, team)
        self._rows = (graph.indptr, graph.indices)
        self._above = np.zeros_like(graph.indices)
        self.counts = np.zeros(n, np.int64)  # of neighbours above, after the first superstep
        self.values = np.zeros(n, np.int64)  # the triangles of each vertex
        # Each thread takes an unused array.
        self._marks = [np.full(n, -1, graph.indices.dtype) for _ in range(self._team.threads)]
        self._steps = 0
        self._sampled = False

    @staticmethod
    def footprint(algorithm: TriangleCount, id_bytes: int) -> kernel.Footprint:
        """Return its memory: sets, their sizes, triangles, marks of each thread."""
        return kernel.Footprint(24, float(id_bytes), reverse=False, thread_bytes=id_bytes)

    def summary(self) -> dict[str, Any]:
        """Return the triangles of the graph, and the most through one vertex."""
        return {"triangles": int(self.values.sum()) // 3, "most": int(self.values.max())}

    def stand_for(self, sample: kernel.WeightedSample) -> None:
        """Record the work of each vertex, which has weights in a sample."""
        self._sampled = True

    def step(self) -> kernel.Superstep:
        """Run one superstep; its aggregate is the share of vertices that still have to send."""
        self._steps += 1
        if self._steps == 1:
            self._share(above, *self._rows, self._above, self.counts)
            return kernel.Superstep(1.0, work=kernel.Work(vertices=1.0))
        self._share(self._count)
        sizes = _HEADER_BYTES + _ENTRY_BYTES * self.counts
        if not self._sampled:  # needed on samples only
            return kernel.Superstep(0.0, sizes)
        indptr, indices = self._rows
        receivers = np.repeat(np.arange(len(sizes)), np.diff(indptr))
        looked = np.bincount(receivers, self.counts[indices], len(sizes))
        return kernel.Superstep(0.0, sizes, work=kernel.Work(vertices=1.0 + looked))

    def _count(self, first: int, last: int) -> None:
        """Count the triangles of the vertices of some rows."""
        marks = self._marks.pop()
        sets = (self._rows[0], self._above, self.counts)
        triangles(first, last, self._rows, sets, marks, self.values)
        self._marks.append(marks)


@numba.njit(cache=True, nogil=True)
def above(first: int, last: int, indptr: Any, indices: Any, into: Any, counts: Any) -> None:
    """Find the neighbours above the vertices of some rows in the order of degrees."""
    for v in range(first, last):
        start, stop = indptr[v], indptr[v + 1]
        degree, size = stop - start, 0
        for e in range(start, stop):
            w = indices[e]
            other = indptr[w + 1] - indptr[w]
            if other > degree or (other == degree and w > v):
                into[start + size] = w
                size += 1
        counts[v] = size


@numba.njit(cache=True, nogil=True)
def triangles(first: int, last: int, rows: Any, sets: Any, marks: Any, found: Any) -> None:
    """Count the triangles of the vertices of some rows, by the sets of their neighbours."""
    indptr, indices = rows
    starts, above, counts = sets
    for v in range(first, last):
        start, stop = indptr[v], indptr[v + 1]
        for e in range(start, stop):
            marks[indices[e]] = v
        marks[v] = -1  # a self-loop is not an edge to a neighbour
        count = 0
        for e in range(start, stop):
            u = indices[e]
            if u == v:
                continue
            for place in range(starts[u], starts[u] + counts[u]):
                count += marks[above[place]] == v
        found[v] = count


class TriangleCountProgram(BlockProgram):
    """All vertices send their degrees, then the neighbours that are above them."""

    kept = ("steps", "state", "sizes", "above")

    def first(self, prior: Array | None) -> None:
        """Let every vertex send its degree."""
        self.steps = 0
        self.state, self.sizes = np.zeros((2, self.block.count), np.int64)
        self.above = np.empty(0, np.int64)
        none, nothing = np.empty(0, np.int64), np.empty(0, np.int32)
        # Compiled before the first superstep
        triangles(0, 0, self.rows, (none, nothing, none), nothing, self.state)

    def offered(self) -> Array:
        """Return the degrees."""
        return self.block.degrees

    def taken(self, places: Array) -> Any:
        """Return degrees, or sets of vertices."""
        if self.steps == 0:
            return super().taken(places)
        lengths, found = edges_of(np.concatenate(([0], np.cumsum(self.sizes))), places)
        return lengths, self.above[found]

    def gathered(self, messages: Mapping[int, Any]) -> tuple[Any, Array]:
        """Return the degrees, or the sets, of the vertices that the block reads."""
        if self.steps == 0:
            return super().gathered(messages)
        sent = [(self.sizes, self.above), *(messages[other][1] for other in sorted(messages))]
        sizes, above = (np.concatenate(each) for each in zip(*sent, strict=True))
        return (sizes, above), np.ones(len(sizes), np.uint8)

    def receive(self, offers: Any, senders: Array, sums: Mapping[str, Any]) -> None:
        """Sort neighbours by degree, then count."""
        self.steps += 1
        if self.steps == 1:
            self._order(offers)
            return
        if self.steps == 2:
            self._count(*offers)
        self.senders = np.zeros(self.block.count, bool)

    def _order(self, degrees: Array) -> None:
        """Find the neighbours above each vertex in the order of degrees."""
        (indptr, sources), ids = self.rows, self.block.ids
        owners = np.repeat(np.arange(self.block.count), np.diff(indptr))
        mine, theirs = degrees[owners], degrees[sources]
        found = ids[sources]
        higher = (theirs > mine) | ((theirs == mine) & (found > ids[owners]))
        self.above = found[higher]
        self.sizes = np.bincount(owners[higher], minlength=self.block.count)

    def _count(self, sizes: Array, above: Array) -> None:
        """Count how many of the received vertices are neighbours."""
        ids = self.block.ids
        order = np.argsort(ids)  # not a table of all vertices: a block is a part of the graph
        columns = np.append(order, len(ids))[np.searchsorted(ids, above, sorter=order)]
        columns[np.append(ids, -1)[columns] != above] = len(ids)  # not a neighbour of any
        marks = np.full(len(ids) + 1, -1, np.int32)
        sets = (np.cumsum(sizes) - sizes, columns.astype(np.int32), sizes)
        triangles(0, self.block.count, self.rows, sets, marks, self.state)

    def sums(self) -> dict[str, Any]:
        """Count the vertices that still have to send, and triangles."""
        return {
            "changed": float(self.block.count if self.steps < 2 else 0),
            "triangles": int(self.state.sum()),
            "most": (int(self.state.max(initial=0)),),
        }

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the triangles of the graph, and the most through one vertex."""
        return {"triangles": sums[-1]["triangles"] // 3, "most": sums[-1]["most"][0]}
