"""PageRank on a graph that stays on the cluster: only contributions and sums are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.pagerank.local import PageRankKernel
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class PageRankReplica(Replica):
    """Executes the supersteps of :class:`~predict_graph.builtin.pagerank.local.PageRankKernel`."""

    algorithm: PageRank

    def __init__(
        self,
        algorithm: PageRank,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        self._dangling = graph.out_degrees == 0
        self._rank = np.full(n, 1.0 / max(n, 1))
        self._next = np.empty(n)
        self._begin()
        self.working_set_bytes = 8 * n

    @classmethod
    def vertex_bytes(cls, algorithm: PageRank) -> float:
        """Return the bytes of ranks, old and new, contributions, and received sums."""
        return 8 + 8 + 8 + 12 + 1

    def _begin(self) -> None:
        """Give every vertex the base rank, which does not depend on messages."""
        n, algorithm = len(self._rank), self.algorithm
        leaked = float(self._rank[self._dangling].sum()) if algorithm.spread_dangling else 0.0
        base = (1.0 - algorithm.damping) / max(n, 1) + algorithm.damping * leaked / max(n, 1)
        self._next[:] = base

    def ask(self) -> Question:
        """Send the contribution of each vertex along its edges."""
        offers = self._rank / np.maximum(self.graph.out_degrees, 1)
        offers *= self.algorithm.damping
        return Question(_sums, offers, ("i4", "f8"), 12.0 * len(offers))

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Add the received sums of some vertices."""
        self._next[places] += values

    def settle(self) -> Superstep:
        """Return the mean change of rank."""
        self._rank -= self._next
        np.abs(self._rank, out=self._rank)
        change = float(self._rank.sum()) / max(len(self._rank), 1)
        self._rank, self._next = self._next, self._rank
        self._begin()
        return Superstep(change, PageRankKernel.message_bytes)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The rank of each vertex."""
        return self._rank


def _sums(block: Block, offers: Any) -> tuple[Any, Any]:
    return block.rows, np.add.reduceat(offers[block.sources], block.starts[:-1])
