"""Top-k ranking on one graph.

A rank is represented by its position in the order of all ranks, 0 for the highest, so lists are
sorted integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.arrays import Array, FloatArray
from predict_graph.builtin.merging import FAR, UNION, EntriesKernel
from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.engines.local.kernel import Footprint
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


class TopKRankingKernel(EntriesKernel):
    """Top-k ranking on one graph."""

    values_are_vertices = True
    rule = UNION

    def __init__(
        self, algorithm: TopKRanking, graph: Graph, team: Team | None, ranks: FloatArray
    ) -> None:
        n, k = graph.vertices, algorithm.k
        self._by_rank = np.argsort(-ranks, kind="stable").astype(graph.indices.dtype)
        lists = np.full((n, k), FAR, graph.indices.dtype)
        lists[self._by_rank, 0] = np.arange(n)
        super().__init__(graph, team, lists)

    @staticmethod
    def footprint(algorithm: TopKRanking, id_bytes: int) -> Footprint:
        """Return its memory: two arrays of lists, and two more for the result and its order.

        It includes ranks, degrees, an order, two arrays of lengths, the order by rank, and four
        marks.
        """
        return Footprint(4 * algorithm.k * id_bytes + 3 * 8 + 2 * 4 + id_bytes + 4 + algorithm.k)

    @property
    def values(self) -> Array:
        """The vertices with the k highest ranks that reach each vertex, -1 for none, shape (n,
        k).
        """
        lists = self._state
        known = lists < len(lists)
        found = np.full(lists.shape, -1, lists.dtype)
        found[known] = self._by_rank[lists[known]]
        return found

    def summary(self) -> dict[str, Any]:
        """Return how many different lists there are."""
        ordered = self._state[np.lexsort(self._state.T)]
        steps = (ordered[1:] != ordered[:-1]).any(axis=1)
        return {"different_lists": 1 + int(np.count_nonzero(steps))}
