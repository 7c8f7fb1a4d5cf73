"""Top-k ranking on a graph that stays on the cluster: only lists are sent."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.builtin.topk_ranking.local import (
    _ENTRY_BYTES,
    _HEADER_BYTES,
    TopKRankingKernel,
    _take_in,
)
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.merging import MergingReplica, pulled
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.graph.on_cluster import ClusterGraph

_NOBODY = np.iinfo(np.int32).max


def _heard(block: Block, shared: Any) -> tuple[Any, Any]:
    return pulled(block, shared, TopKRankingKernel.pull, _NOBODY)


class TopKRankingReplica(MergingReplica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.topk_ranking.local.TopKRankingKernel`.
    """

    algorithm: TopKRanking
    hear = staticmethod(_heard)

    def __init__(
        self,
        algorithm: TopKRanking,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        assert prior_values is not None  # the algorithm has a prior
        n = graph.vertices
        lists = np.full((n, algorithm.k), _NOBODY, np.int32)
        lists[np.argsort(-prior_values, kind="stable"), 0] = np.arange(n, dtype=np.int32)
        super().__init__(algorithm, graph, lists)
        self.working_set_bytes = (4 * algorithm.k + 1) * n

    @classmethod
    def vertex_bytes(cls, algorithm: TopKRanking) -> float:
        """Return the bytes of lists, sent lists, and marks; and of ranks before."""
        return 2 * 4 * algorithm.k + 8 + 24

    def merge(self, places: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Merge sorted lists."""
        changed = np.zeros(len(places), bool)
        _merged(self._state, places, rows, changed)
        return changed

    def settle(self) -> Superstep:
        """Return the share of vertices whose list changed."""
        sizes = _HEADER_BYTES + _ENTRY_BYTES * self._sent_lengths
        sent = self.turn()
        return Superstep(self.share, sizes, sent)

    def ask(self) -> Any:
        """Return the lists of the sending vertices, and record their lengths."""
        self._sent_lengths = (self._state != _NOBODY).sum(axis=1, dtype=np.int32)
        return super().ask()


@numba.njit(cache=True, nogil=True)
def _merged(lists: Any, places: Any, rows: Any, changed: Any) -> None:
    for i in range(len(places)):
        changed[i] = _take_in(lists[places[i]], rows[i])
