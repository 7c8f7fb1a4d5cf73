"""Personalised PageRank on a graph that stays on the cluster."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from predict_graph.builtin.pagerank.counted import PageRankReplica
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.graph.on_cluster import ClusterGraph


class PersonalisedPageRankReplica(PageRankReplica):
    """Executes the supersteps of
    :class:`~predict_graph.builtin.personalised_pagerank.local.PersonalisedPageRankKernel`.
    """

    algorithm: PersonalisedPageRank

    def __init__(
        self,
        algorithm: PersonalisedPageRank,
        graph: ClusterGraph,
        prior_values: npt.NDArray[Any] | None = None,
    ) -> None:
        self._source = algorithm.source_in(graph.out_degrees)
        super().__init__(algorithm, graph, prior_values)
        self._rank.fill(0.0)
        self._rank[self._source] = 1.0
        self._begin()

    def _begin(self) -> None:
        """Give the source the base rank, and the other vertices none."""
        algorithm = self.algorithm
        leaked = float(self._rank[self._dangling].sum()) if algorithm.spread_dangling else 0.0
        self._next.fill(0.0)
        self._next[self._source] = 1.0 - algorithm.damping + algorithm.damping * leaked
