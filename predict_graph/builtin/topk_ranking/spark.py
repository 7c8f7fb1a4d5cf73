"""Top-k ranking on a block: the union of short lists of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.block_merging import MergingProgram
from predict_graph.builtin.merging import FAR, UNION
from predict_graph.builtin.topk_ranking.definition import TopKRanking


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
        known = self.state < FAR
        found = np.full(self.state.shape, -1, np.int64)
        found[known] = self._by_rank[self.state[known]]
        return found

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many different lists there are."""
        return {"different_lists": values.drop("id").distinct().count()}
