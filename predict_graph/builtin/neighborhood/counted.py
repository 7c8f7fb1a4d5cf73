"""Neighborhood estimation on a graph that stays on the cluster: only counters are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.neighborhood.definition import Neighborhood
from predict_graph.builtin.neighborhood.local import NeighborhoodKernel, hashed
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.merging import MergingReplica, pulled
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.graph.on_cluster import ClusterGraph


def _heard(block: Block, shared: Any) -> tuple[Any, Any]:
    return pulled(block, shared, NeighborhoodKernel.pull, 0)


class NeighborhoodReplica(MergingReplica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.neighborhood.local.NeighborhoodKernel`.
    """

    algorithm: Neighborhood
    hear = staticmethod(_heard)

    def __init__(
        self,
        algorithm: Neighborhood,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, hashed(np.arange(graph.vertices), algorithm.registers))
        self.working_set_bytes = (algorithm.registers + 1) * graph.vertices

    @classmethod
    def vertex_bytes(cls, algorithm: Neighborhood) -> float:
        """Return the bytes of counters, sent counters, and marks."""
        return 2 * algorithm.registers + 8

    def merge(self, places: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Take the maximum of each register."""
        before = self._state[places]
        merged = np.maximum(before, rows)
        self._state[places] = merged
        changed: npt.NDArray[np.bool_] = (merged != before).any(axis=1)
        return changed

    def settle(self) -> Superstep:
        """Return the share of vertices whose counter changed."""
        sent = self.turn()
        return Superstep(self.share, 8 + self.algorithm.registers, sent)
