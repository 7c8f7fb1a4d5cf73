"""Shortest paths on a graph that stays on the cluster: only hops are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.builtin.shortest_paths.local import FAR, ShortestPathsKernel, message_sizes
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.merging import MergingReplica, pulled
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.graph.on_cluster import ClusterGraph


def _heard(block: Block, shared: Any) -> tuple[Any, Any]:
    return pulled(block, shared, ShortestPathsKernel.pull, FAR)


class ShortestPathsReplica(MergingReplica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.shortest_paths.local.ShortestPathsKernel`.
    """

    algorithm: ShortestPaths
    hear = staticmethod(_heard)

    def __init__(
        self,
        algorithm: ShortestPaths,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        n = graph.vertices
        landmarks = algorithm.landmarks_in(graph.out_degrees)
        hops = np.full((n, algorithm.count), FAR, np.int32)
        hops[landmarks, np.arange(len(landmarks))] = 0
        super().__init__(algorithm, graph, hops)
        self._senders[:] = (hops < FAR).any(axis=1)
        self.working_set_bytes = (4 * algorithm.count + 1) * n

    @classmethod
    def vertex_bytes(cls, algorithm: ShortestPaths) -> float:
        """Return the bytes of hops, sent hops, sizes of messages, and marks."""
        return 2 * 4 * algorithm.count + 2 * 8 + 8

    def merge(self, places: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Take the smaller number of hops."""
        before = self._state[places]
        merged = np.minimum(before, rows)
        self._state[places] = merged
        changed: npt.NDArray[np.bool_] = (merged != before).any(axis=1)
        return changed

    def ask(self) -> Any:
        """Return the hops of the sending vertices, and record the sizes of their messages."""
        self._sizes = message_sizes(np.count_nonzero(self._state < FAR, axis=1))
        return super().ask()

    def settle(self) -> Superstep:
        """Return the share of vertices that found shorter paths."""
        sent = self.turn()
        return Superstep(self.share, self._sizes, sent)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The hops, as in the kernel."""
        hops = np.where(self._state < FAR, self._state, np.int32(-1))
        return hops[:, 0] if hops.shape[1] == 1 else hops
