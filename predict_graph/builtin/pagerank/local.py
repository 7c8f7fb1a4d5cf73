"""One compiled superstep of PageRank: pull along inbound edges.

Each vertex stores its contribution to its out-neighbours (rank x damping / out-degree), so an edge
costs four bytes streamed (its source) and one random access. A superstep reads the contributions of
the previous one and writes those of the next: one pass, no write conflicts.

Rows are split into blocks of about equal work, which threads share; sums of blocks are added in the
order of blocks, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.engines.local.blocks import ordered_sum, row_blocks
from predict_graph.engines.local.footprint import Footprint
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class PageRankKernel:
    """PageRank on one graph; all arrays are allocated on construction."""

    message_bytes = 16

    def __init__(self, algorithm: PageRank, graph: Graph, team: Team | None = None) -> None:
        n = graph.vertices
        self._team = team or Team()
        reverse = graph.reverse
        self._indptr = reverse.indptr
        # Unsigned indices spare the compiled loop the check for negative ones.
        self._sources = reverse.indices.view(np.dtype(f"u{reverse.indices.itemsize}"))
        degrees = graph.out_degrees
        self._scale = np.where(degrees > 0, algorithm.damping / np.maximum(degrees, 1), 0.0)
        self._spread = algorithm.damping if algorithm.spread_dangling else 0.0
        self._teleport = (1.0 - algorithm.damping) / max(n, 1)
        self._bounds = row_blocks(self._indptr)
        self.rank = np.full(n, 1.0 / max(n, 1))
        self._offer = self.rank * self._scale
        # A copy, so that the first superstep does not include page faults of a new array.
        self._next_offer = self._offer.copy()
        blocks = len(self._bounds) - 1
        self._changes, self._dangling = np.zeros(blocks), np.zeros(blocks)
        self._dangling_rank = float(self.rank[degrees == 0].sum())
        self.working_set_bytes = 8 * n

    @staticmethod
    def footprint(algorithm: PageRank, id_bytes: int) -> Footprint:
        """Return its memory: ranks, their scale, two arrays of contributions; degrees."""
        return Footprint(5 * 8)

    @property
    def values(self) -> FloatArray:
        """The rank of each vertex."""
        return self.rank

    def summary(self) -> dict[str, Any]:
        """Return nothing: the result consists of the ranks alone."""
        return {}

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the mean change of rank per vertex."""
        n = len(self.rank)
        base = self._teleport + self._spread * self._dangling_rank / max(n, 1)
        sums = (self._changes, self._dangling)
        rows = (self._indptr, self._sources, self._bounds[:-1], self._bounds[1:])
        ranks = (self._scale, self._offer, base, self.rank, self._next_offer)
        self._team.share(
            lambda first, last: superstep(first, last, *rows, *ranks, *sums), len(self._changes)
        )
        self._offer, self._next_offer = self._next_offer, self._offer
        self._dangling_rank = float(ordered_sum(self._dangling))
        return Superstep(float(ordered_sum(self._changes)) / max(n, 1), self.message_bytes)


@numba.njit(cache=True, nogil=True)
def superstep(
    first_block: int,
    last_block: int,
    indptr: Any,
    sources: Any,
    starts: Any,
    stops: Any,
    scale: Any,
    offer: Any,
    base: float,
    rank: Any,
    next_offer: Any,
    changes: Any,
    dangling: Any,
) -> None:
    """Update the vertices of some blocks by equation 1, and their next contributions."""
    for block in range(first_block, last_block):
        change = 0.0
        leaked = 0.0
        for v in range(starts[block], stops[block]):
            # Four accumulators hide the latency of additions and keep their order. Hardware gathers
            # (which a compiler uses for reorderable sums) take at least twice as long.
            first, second, third, fourth = base, 0.0, 0.0, 0.0
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
