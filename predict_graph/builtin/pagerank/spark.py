"""PageRank on a block (PREDIcT, equation 1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.pagerank.local import base_ranks, first_ranks, superstep
from predict_graph.engines.local.blocks import ordered_sum, row_blocks
from predict_graph.engines.spark.blocks.program import BlockProgram


class PageRankProgram(BlockProgram):
    """Every vertex sends its rank over its out-degree in every superstep."""

    algorithm: PageRank
    kept = ("state", "change")
    kind = "double"

    def first(self, prior: Array | None) -> None:
        """Set rank 1 / n everywhere, or 1 at the source of personalised PageRank."""
        degrees, damping = self.block.degrees, self.algorithm.damping
        self._scale = np.where(degrees > 0, damping / np.maximum(degrees, 1), 0.0)
        self._bounds = row_blocks(self.rows[0])
        known = getattr(self.algorithm, "known", None)
        source = None if known is None else int(known[0])
        self.state = first_ranks(self.block.rows, source, self.block.vertices)
        self.change, self._source = 0.0, source
        if source is not None:
            self._source = int(self.state.argmax()) if self.state.any() else -1

    def offered(self) -> Array:
        """Return the rank over each out-edge."""
        offers: Array = self.state * self._scale
        return offers

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Sum contributions, and add the base rank, which does not depend on messages."""
        damping, count = self.algorithm.damping, len(self._bounds) - 1
        spread = damping * sums["dangling"] if self.algorithm.spread_dangling else 0.0
        changes, dangling = np.zeros(count), np.zeros(count)
        rows = (self._bounds, self.rows[0], self.rows[1].view(np.uint32))
        base = base_ranks(1.0 - damping + spread, self._source, self.block.vertices)
        ranks = (self._scale, offers, *base, self.state, np.empty_like(self.state))
        superstep(0, count, *rows, *ranks, changes, dangling)
        self.change = float(ordered_sum(changes))

    def sums(self) -> dict[str, float]:
        """Sum the changes, and the rank of dangling vertices."""
        return {
            "changed": self.change,
            "dangling": float(self.state[self.block.degrees == 0].sum()),
        }
