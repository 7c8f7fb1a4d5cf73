"""Top-k ranking on one graph, and on a block of one.

A rank is represented by its position in the order of all ranks, 0 for the highest, so lists are
sorted integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array, FloatArray
from predict_graph.builtin.merging import FAR, UNION, EntriesKernel, MergingProgram
from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.engines.local.kernel import Footprint, Team
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
        return vertices_at(self._state, self._by_rank)

    def summary(self) -> dict[str, Any]:
        """Return how many different lists there are."""
        ordered = self._state[np.lexsort(self._state.T)]
        steps = (ordered[1:] != ordered[:-1]).any(axis=1)
        return {"different_lists": 1 + int(np.count_nonzero(steps))}


def vertices_at(lists: Array, by_rank: Array) -> Array:
    """Return the vertices at the ranks in some lists, -1 for none."""
    known = lists < FAR
    found = np.full_like(lists, -1)
    found[known] = by_rank[lists[known]]
    return found


class TopKRankingProgram(MergingProgram):
    """Vertices send lists that changed; a vertex keeps the k best of all entries.

    As in the local engine, an entry is the position of a vertex in the order of all ranks.
    """

    algorithm: TopKRanking
    rule = UNION

    @staticmethod
    def prepared(algorithm: TopKRanking, values: Array) -> Array:
        """Return the vertices by rank, and the place of each vertex there."""
        by_rank = np.argsort(-values, kind="stable").astype(np.int32)
        places = np.empty_like(by_rank)
        places[by_rank] = np.arange(len(by_rank))
        return np.stack((by_rank, places))

    def first(self, prior: Array | None) -> None:
        """Set lists that hold their own vertex."""
        assert prior is not None
        self._by_rank, places = prior
        self.state = np.full((self.block.count, self.algorithm.k), FAR, np.int32)
        self.state[:, 0] = places[self.block.rows]

    @staticmethod
    def width(algorithm: TopKRanking) -> int:
        """Return k."""
        return algorithm.k

    def values(self) -> Array:
        """Return the vertices with the k highest ranks that reach each vertex, -1 for none."""
        return vertices_at(self.state, self._by_rank).astype(np.int64)

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many different lists there are."""
        return {"different_lists": values.drop("id").distinct().count()}
