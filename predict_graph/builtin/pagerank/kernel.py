"""PageRank on one graph, and on a block of one (PREDIcT, equation 1): pull along inbound edges.

Each vertex stores its contribution to its out-neighbours (rank x damping / out-degree), so an edge
costs four bytes streamed (its source) and one random access. A superstep reads the contributions of
the previous one and writes those of the next: one pass, no write conflicts.

Rows are split into blocks of about equal work, which threads share; sums of blocks are added in the
order of blocks, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array, FloatArray
from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.engines.local import kernel
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph import Graph


class PageRankKernel(kernel.SharedRows):
    """PageRank on one graph; all arrays are allocated on construction."""

    def __init__(self, algorithm: PageRank, graph: Graph, team: kernel.Team | None = None) -> None:
        n, reverse = graph.vertices, graph.reverse
        super().__init__(reverse, team)
        self._rows = (reverse.indptr, kernel.unsigned(reverse.indices))
        degrees = graph.out_degrees
        self._scale = np.where(degrees > 0, algorithm.damping / np.maximum(degrees, 1), 0.0)
        self._spread = algorithm.damping if algorithm.spread_dangling else 0.0
        self._restarts = 1.0 - algorithm.damping
        self._source = algorithm.source_in(degrees)
        self.values = first_ranks(np.arange(n), self._source, n)  # the rank of each vertex
        self._offer = self.values * self._scale
        # A copy, so that the first superstep does not include page faults of a new array.
        self._next_offer = self._offer.copy()
        self._dangling_rank = float(self.values[self._scale == 0.0].sum())
        blocks = len(self._blocks) - 1
        self._changes, self._dangling = np.zeros(blocks), np.zeros(blocks)

    @staticmethod
    def footprint(algorithm: PageRank, id_bytes: int) -> kernel.Footprint:
        """Return its memory: ranks, their scale, two arrays of contributions; degrees."""
        return kernel.Footprint(5 * 8)

    def step(self) -> kernel.Superstep:
        """Run one superstep; its aggregate is the mean change of rank per vertex."""
        restarts = self._restarts + self._spread * self._dangling_rank
        base = base_ranks(restarts, self._source, len(self.values))
        ranks = (self._scale, self._offer, self.values, self._next_offer)
        self._share_blocks(superstep, self._rows, base, ranks, (self._changes, self._dangling))
        self._offer, self._next_offer = self._next_offer, self._offer
        self._dangling_rank = kernel.ordered_sum(self._dangling)
        changed = kernel.ordered_sum(self._changes)
        return kernel.Superstep(changed / max(len(self.values), 1))


def first_ranks(vertices: Array, source: int | None, count: int) -> FloatArray:
    """Return the ranks of some vertices, of so many, before the first superstep."""
    if source is None:
        return np.full(len(vertices), 1.0 / max(count, 1))
    return np.asarray(vertices == source, np.float64)


def base_ranks(restarts: float, source: int | None, vertices: int) -> tuple[float, int, float]:
    """Return the base rank of all vertices, and a vertex (or -1) with more of it, and how much."""
    return (restarts / max(vertices, 1), -1, 0.0) if source is None else (0.0, source, restarts)


@numba.njit(cache=True, nogil=True)
def superstep(
    first_block: int, last_block: int, blocks: Any, rows: Any, base: Any, ranks: Any, sums: Any
) -> None:
    """Update the vertices of some blocks by equation 1, and their next contributions.

    `base` is that of :func:`base_ranks`; `sums` get the changes and the dangling rank of blocks.
    """
    indptr, sources = rows
    base_rank, source, restarts = base
    scale, offer, rank, next_offer = ranks
    changes, dangling = sums
    for block in range(first_block, last_block):
        change = 0.0
        leaked = 0.0
        for v in range(blocks[block], blocks[block + 1]):
            # Four accumulators hide the latency of additions and keep their order. Hardware gathers
            # (which a compiler uses for reorderable sums) take at least twice as long.
            first, second, third, fourth = base_rank, 0.0, 0.0, 0.0
            if v == source:
                first += restarts
            e, stop = indptr[v], indptr[v + 1]
            while e + 4 <= stop:
                first += offer[sources[e]]
                second += offer[sources[e + 1]]
                third += offer[sources[e + 2]]
                fourth += offer[sources[e + 3]]
                e += 4
            while e < stop:
                first += offer[sources[e]]
                e += 1
            updated = (first + second) + (third + fourth)
            change += abs(updated - rank[v])
            rank[v] = updated
            next_offer[v] = updated * scale[v]
            if scale[v] == 0.0:
                leaked += updated
        changes[block] = change
        dangling[block] = leaked


class PageRankProgram(BlockProgram):
    """Every vertex sends its rank over its out-degree in every superstep."""

    algorithm: PageRank
    kept = ("state", "change")
    kind = "double"

    def first(self, prior: Array | None) -> None:
        """Set rank 1 / n everywhere, or 1 at the source of personalised PageRank."""
        degrees, damping = self.block.degrees, self.algorithm.damping
        self._scale = np.where(degrees > 0, damping / np.maximum(degrees, 1), 0.0)
        self._bounds = kernel.row_blocks(self.rows[0])
        known = getattr(self.algorithm, "known", None)
        source = None if known is None else int(known[0])
        self.state = first_ranks(self.block.rows, source, self.block.vertices)
        self.change, self._source = 0.0, source
        if source is not None:
            self._source = int(self.state.argmax()) if self.state.any() else -1

    def offered(self) -> Array:
        """Return the rank over each out-edge."""
        return np.asarray(self.state * self._scale)

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Sum contributions, and add the base rank, which does not depend on messages."""
        damping, count = self.algorithm.damping, len(self._bounds) - 1
        spread = damping * sums["dangling"] if self.algorithm.spread_dangling else 0.0
        changes, dangling = np.zeros(count), np.zeros(count)
        rows = (self.rows[0], self.rows[1].view(np.uint32))
        base = base_ranks(1.0 - damping + spread, self._source, self.block.vertices)
        ranks = (self._scale, offers, self.state, np.empty_like(self.state))
        superstep(0, count, self._bounds, rows, base, ranks, (changes, dangling))
        self.change = kernel.ordered_sum(changes)

    def sums(self) -> dict[str, float]:
        """Sum the changes, and the rank of dangling vertices."""
        return {
            "changed": self.change,
            "dangling": float(self.state[self.block.degrees == 0].sum()),
        }
