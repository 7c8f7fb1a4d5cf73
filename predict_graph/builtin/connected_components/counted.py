"""Connected components on a graph that stays on the cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.builtin.connected_components.local import ComponentsKernel
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class ComponentsReplica(Replica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.connected_components.local.ComponentsKernel`.

    A vertex receives the labels of all neighbours, including those that send nothing, which it has
    received before.
    """

    algorithm: ConnectedComponents

    def __init__(
        self,
        algorithm: ConnectedComponents,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        self._labels = np.arange(n, dtype=np.int32)
        self._senders, self._changed = np.ones(n, bool), np.zeros(n, bool)
        self.working_set_bytes = 5 * n

    @classmethod
    def vertex_bytes(cls, algorithm: ConnectedComponents) -> float:
        """Return the bytes of labels, marks, and received labels."""
        return 4 + 2 + 8

    def ask(self) -> Question:
        """Send all labels."""
        return Question(_lower, self._labels, ("i4", "i4"), 8.0 * len(self._labels))

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Lower the labels of some vertices."""
        self._labels[places] = values
        self._changed[places] = True

    def settle(self) -> Superstep:
        """Return the share of vertices whose label changed."""
        sent, self._senders = self._senders, self._changed
        self._changed = np.zeros_like(sent)
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, ComponentsKernel.message_bytes, sent, sent)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The smallest id of the component of each vertex."""
        return self._labels


def _lower(block: Block, labels: Any) -> tuple[Any, Any]:
    smallest = np.minimum.reduceat(labels[block.sources], block.starts[:-1])
    falls = smallest < labels[block.rows]
    return block.rows[falls], smallest[falls]
