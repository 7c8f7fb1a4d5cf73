"""Label propagation on a graph that stays on the cluster: only labels are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.builtin.label_propagation.local import _MESSAGE_BYTES, _WEIGHT_BYTES, vote
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class LabelPropagationReplica(Replica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.label_propagation.local.LabelPropagationKernel`.
    """

    algorithm: LabelPropagation
    weights = True

    def __init__(
        self,
        algorithm: LabelPropagation,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        self._labels = np.arange(graph.vertices, dtype=np.int32)
        self._changes = 0
        self._next = self._labels.copy()
        self.working_set_bytes = self._labels.nbytes

    @classmethod
    def vertex_bytes(cls, algorithm: LabelPropagation) -> float:
        """Return the bytes of labels, old and new, and received labels."""
        return 4 + 4 + 8

    def ask(self) -> Question:
        """Send all labels."""
        return Question(_changed, self._labels, ("i4", "i4"), 8.0 * len(self._labels))

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Change the labels of some vertices."""
        self._next[places] = values
        self._changes += len(places)

    def settle(self) -> Superstep:
        """Return the share of vertices whose label changed."""
        share = self._changes / max(len(self._labels), 1)
        self._labels[:] = self._next
        self._changes = 0
        size = _MESSAGE_BYTES + (_WEIGHT_BYTES if self.graph.weighted else 0)
        return Superstep(share, size)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The label of each vertex."""
        return self._labels


def _changed(block: Block, labels: Any) -> tuple[Any, Any]:
    """Return the rows for which most neighbours have another label."""
    following = np.empty(len(block.rows), labels.dtype)
    heard = np.zeros(len(block.rows), np.int32)
    rows = (block.starts, block.sources, block.weights)
    vote(0, len(block.rows), *rows, labels, following, heard)
    changed = following != labels[block.rows]
    return block.rows[changed], following[changed]
