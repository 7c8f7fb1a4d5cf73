"""Triangle counting on a graph that stays on the cluster: degrees are sent, sets are not."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.triangle_count.definition import TriangleCount
from predict_graph.builtin.triangle_count.local import TriangleCountKernel, set_bytes
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class TriangleCountReplica(Replica):
    """Counts the messages of triangle counting.

    The first superstep finds the sizes of the sets. Triangles are not counted, because no
    prediction depends on them.
    """

    algorithm: TriangleCount

    def __init__(
        self,
        algorithm: TriangleCount,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        self._counts = np.zeros(graph.vertices, np.int64)
        self._steps = 0
        self.working_set_bytes = 12 * graph.vertices

    @classmethod
    def vertex_bytes(cls, algorithm: TriangleCount) -> float:
        """Return the bytes of sizes of sets, of messages, and of received sizes."""
        return 8 + 8 + 8

    def ask(self) -> Question:
        """Request the neighbours above each vertex; nothing in the second superstep."""
        size = 8.0 * self.graph.vertices
        if self._steps:
            return Question(_nothing, None, ("i4", "i4"), size)
        return Question(_above, self.graph.out_degrees, ("i4", "i4"), size)

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Store how many neighbours are above some vertices."""
        self._counts[places] = values

    def settle(self) -> Superstep:
        """Return the messages of the superstep."""
        self._steps += 1
        if self._steps == 1:
            return Superstep(1.0, TriangleCountKernel.message_bytes)
        return Superstep(0.0, set_bytes(self._counts))

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """The size of the set that each vertex sends."""
        return self._counts


def _nothing(block: Block, shared: Any) -> tuple[Any, Any]:
    return block.rows[:0], np.zeros(0, np.int32)


def _above(block: Block, degrees: Any) -> tuple[Any, Any]:
    counts = np.zeros(len(block.rows), np.int32)
    _counted(block.rows, block.starts, block.sources, degrees, counts)
    return block.rows, counts


@numba.njit(cache=True, nogil=True)
def _counted(rows: Any, starts: Any, sources: Any, degrees: Any, counts: Any) -> None:
    for i in range(len(rows)):
        v = rows[i]
        for e in range(starts[i], starts[i + 1]):
            w = sources[e]
            counts[i] += degrees[w] > degrees[v] or (degrees[w] == degrees[v] and w > v)
