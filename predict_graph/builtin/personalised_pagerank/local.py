"""One superstep of personalised PageRank: PageRank with a base rank for the source only."""

from __future__ import annotations

import numpy as np

from predict_graph.builtin.pagerank.local import PageRankKernel
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


class PersonalisedPageRankKernel(PageRankKernel):
    """Personalised PageRank on one graph."""

    def __init__(
        self, algorithm: PersonalisedPageRank, graph: Graph, team: Team | None = None
    ) -> None:
        super().__init__(algorithm, graph, team)
        self._source = int(algorithm.vertices_in(graph.out_degrees)[0])
        rank = np.zeros(graph.vertices)
        rank[self._source] = 1.0
        self._begin(rank)

    def _base(self, restarts: float) -> tuple[float, int, float]:
        return 0.0, self._source, restarts
