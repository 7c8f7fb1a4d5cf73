"""Triangles on a block: degrees first, then sets of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.triangle_count.definition import TriangleCount
from predict_graph.builtin.triangle_count.local import triangles
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph.csr import edges_of


class TriangleCountProgram(BlockProgram):
    """All vertices send their degrees, then the neighbours that are above them."""

    algorithm: TriangleCount
    kept = ("steps", "state", "sizes", "above")

    def first(self, prior: Array | None) -> None:
        """Let every vertex send its degree."""
        self.steps = 0
        self.state, self.sizes = np.zeros((2, self.block.count), np.int64)
        self.above = np.empty(0, np.int64)
        none, nothing = np.empty(0, np.int64), np.empty(0, np.int32)
        # Compiled before the first superstep
        triangles(0, 0, *self.rows, none, nothing, none, nothing, self.state)

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
        order = np.argsort(ids)
        places = np.searchsorted(ids, above, sorter=order)
        columns = np.append(order, len(ids))[places]
        columns[np.append(ids, -1)[columns] != above] = len(ids)  # not a neighbour of any
        marks = np.full(len(ids) + 1, -1, np.int32)
        starts = np.cumsum(sizes) - sizes
        here = (0, self.block.count, *self.rows)
        triangles(*here, starts, columns.astype(np.int32), sizes, marks, self.state)

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
