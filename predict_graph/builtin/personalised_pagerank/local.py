"""One superstep of personalised PageRank: PageRank with a base rank for the source only."""

from __future__ import annotations

from predict_graph.builtin.pagerank.local import PageRankKernel, superstep
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.engines.local.blocks import ordered_sum
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


class PersonalisedPageRankKernel(PageRankKernel):
    """Personalised PageRank on one graph."""

    def __init__(
        self, algorithm: PersonalisedPageRank, graph: Graph, team: Team | None = None
    ) -> None:
        super().__init__(algorithm, graph, team)
        degrees = graph.out_degrees
        self._source = algorithm.source_in(degrees)
        self._teleport = 1.0 - algorithm.damping
        self.rank.fill(0.0)
        self.rank[self._source] = 1.0
        self._offer = self.rank * self._scale
        self._next_offer = self._offer.copy()
        self._dangling_rank = float(self.rank[degrees == 0].sum())

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the mean change of rank per vertex."""
        source, n = self._source, len(self.rank)
        gets = self._teleport + self._spread * self._dangling_rank
        before = float(self.rank[source])
        sums = (self._changes, self._dangling)
        rows = (self._indptr, self._sources, self._bounds[:-1], self._bounds[1:])
        ranks = (self._scale, self._offer, 0.0, self.rank, self._next_offer)
        self._team.share(
            lambda first, last: superstep(first, last, *rows, *ranks, *sums), len(self._changes)
        )
        heard = float(self.rank[source])
        self.rank[source] = heard + gets
        self._next_offer[source] = self.rank[source] * self._scale[source]
        self._offer, self._next_offer = self._next_offer, self._offer
        self._dangling_rank = float(ordered_sum(self._dangling))
        if self._scale[source] == 0.0:
            self._dangling_rank += gets
        change = float(ordered_sum(self._changes))
        change += abs(heard + gets - before) - abs(heard - before)
        return Superstep(change / max(n, 1), self.message_bytes)
