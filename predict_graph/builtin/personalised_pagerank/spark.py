"""Personalised PageRank on a block."""

from __future__ import annotations

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
        here = self.block.rows == self.algorithm.known[0]
        self.state = here.astype(np.float64)
        self._source = int(here.argmax()) if here.any() else -1

    def base(self, restarts: float) -> tuple[float, int, float]:
        """Return no base rank but that of the source, where this block has it."""
        return 0.0, self._source, restarts
