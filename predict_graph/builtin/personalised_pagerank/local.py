"""One superstep of personalised PageRank: PageRank with a base rank for the source only."""

from __future__ import annotations

import numpy as np

from predict_graph.builtin.pagerank.local import PageRankKernel
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


class PersonalisedPageRankKernel(PageRankKernel):
    """Personalised PageRank on one graph."""

    def __init__(
        self, algorithm: PersonalisedPageRank, graph: Graph, team: Team | None = None
    ) -> None:
        super().__init__(algorithm, graph, team)
        self._source = algorithm.source_in(graph.out_degrees)
        self._teleport = 1.0 - algorithm.damping
        rank = np.zeros(graph.vertices)
        rank[self._source] = 1.0
        self._begin(rank)

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the mean change of rank per vertex."""
        source = self._source
        gets = self._teleport + self._spread * self._dangling_rank
        before = float(self.rank[source])
        change = self._pull(0.0)
        heard = float(self.rank[source])
        self.rank[source] = heard + gets
        self._offer[source] = self.rank[source] * self._scale[source]
        if self._scale[source] == 0.0:
            self._dangling_rank += gets
        change += abs(heard + gets - before) - abs(heard - before)
        return Superstep(change / max(len(self.rank), 1), self.message_bytes)
