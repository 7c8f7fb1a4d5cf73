"""Personalised PageRank on a block."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.pagerank.spark import PageRankProgram
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank


class PersonalisedPageRankProgram(PageRankProgram):
    """Every vertex sends its rank over its out-degree; the source gets the base rank."""

    algorithm: PersonalisedPageRank

    def first(self, prior: Array | None) -> None:
        """Set rank 1 at the source."""
        super().first(prior)
        assert self.algorithm.known is not None
        self._source = np.flatnonzero(self.block.rows == self.algorithm.known[0])
        self.state = np.zeros(self.block.count)
        self.state[self._source] = 1.0

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Sum contributions, and add the base rank at the source."""
        before = self.state[self._source]
        self._pull(offers, 0.0)
        heard = self.state[self._source]
        damping = self.algorithm.damping
        spread = damping * sums["dangling"] if self.algorithm.spread_dangling else 0.0
        now = heard + (1.0 - damping + spread)
        self.state[self._source] = now
        self.change += float((np.abs(now - before) - np.abs(heard - before)).sum())
