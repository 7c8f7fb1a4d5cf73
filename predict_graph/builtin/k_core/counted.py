"""Core numbers on a graph that stays on the cluster: only estimates are sent."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.k_core.definition import KCore
from predict_graph.builtin.k_core.local import KCoreKernel, first_estimates, lowered, members
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class KCoreReplica(Replica):
    """Executes the supersteps of :class:`~predict_graph.builtin.k_core.local.KCoreKernel`.

    A vertex uses the estimates of all neighbours, including those that send nothing, which it has
    received before.
    """

    algorithm: KCore

    def __init__(
        self,
        algorithm: KCore,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        self._estimates = first_estimates(graph.out_degrees, algorithm.most)
        self._following = self._estimates.copy()
        self._senders = np.ones(n, bool)
        self.working_set_bytes = 5 * n

    @classmethod
    def vertex_bytes(cls, algorithm: KCore) -> float:
        """Return the bytes of estimates, now and next, received estimates, and marks."""
        return 4 + 4 + 8 + 2

    def ask(self) -> Question:
        """Send all estimates; vertices without edges to others receive none."""
        return Question(_fallen, self._estimates, ("i4", "i4"), 8.0 * len(self._estimates))

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Lower the estimates of some vertices."""
        self._following[places] = values

    def settle(self) -> Superstep:
        """Return the share of vertices whose estimate decreased."""
        sent, self._senders = self._senders, self._following < self._estimates
        self._estimates[:] = self._following
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, KCoreKernel.message_bytes, sent, self._senders)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The core number of each vertex, or 1 for those in the k-core and 0 for the others."""
        return members(self._estimates, self.algorithm.most)


def _fallen(block: Block, estimates: Any) -> tuple[Any, Any]:
    lower = np.empty(len(block.rows), np.int32)
    _lowered(block.rows, block.starts, block.sources, estimates, lower)
    falls = lower < estimates[block.rows]
    return block.rows[falls], lower[falls]


@numba.njit(cache=True, nogil=True)
def _lowered(rows: Any, starts: Any, sources: Any, estimates: Any, lower: Any) -> None:
    for i in range(len(rows)):
        v, size = rows[i], 0
        known = np.empty(starts[i + 1] - starts[i], np.int32)
        for e in range(starts[i], starts[i + 1]):
            if sources[e] != v:
                known[size] = estimates[sources[e]]
                size += 1
        counts = np.zeros(max(estimates[v], 1), np.int32)
        lower[i] = lowered(estimates[v], known[:size], counts)
