"""One superstep of PageRank, compiled: pull along inbound edges.

Each vertex keeps what it offers to each of its out-neighbours (rank x damping / out-degree), so an
edge costs four bytes streamed (its source) and one gather. A superstep reads the offers of the last
one and writes those of the next: one parallel pass, no write conflicts.

Rows are cut into blocks of about equal work, and what blocks add up is added in the order of
blocks, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import PageRank
from predict_graph.graph import Graph

__all__ = ["PageRankKernel"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_BLOCK_WORK = 16_384  # edges + vertices of a block
_SUM_FLAGS = {"reassoc", "contract", "arcp", "nsz"}


class PageRankKernel:
    """PageRank on one graph: everything is allocated here, then `step` is one superstep.

    Parameters
    ----------
    algorithm : PageRank
    graph : Graph

    Attributes
    ----------
    message_bytes : int
        A message is a vertex id and a rank, 8 bytes each, as a Giraph job sends them.
    working_set_bytes : int
        What a superstep reads at random: the offers.
    """

    message_bytes = 16

    def __init__(self, algorithm: PageRank, graph: Graph) -> None:
        n = graph.vertices
        self._reverse = graph.reverse
        degrees = graph.out_degrees
        self._scale = np.where(degrees > 0, algorithm.damping / np.maximum(degrees, 1), 0.0)
        self._spread = algorithm.damping if algorithm.spread_dangling else 0.0
        self._teleport = (1.0 - algorithm.damping) / max(n, 1)
        self._bounds = _blocks(self._reverse.indptr)
        self.rank = np.full(n, 1.0 / max(n, 1))
        self._offer = self.rank * self._scale
        self._next_offer = np.empty_like(self._offer)
        blocks = len(self._bounds) - 1
        self._changes, self._dangling = np.empty(blocks), np.empty(blocks)
        self._dangling_rank = float(self.rank[degrees == 0].sum())
        self.working_set_bytes = 8 * n

    @property
    def values(self) -> FloatArray:
        """Rank of each vertex."""
        return self.rank

    def step(self) -> float:
        """Run one superstep and return the mean change of rank per vertex."""
        n = len(self.rank)
        base = self._teleport + self._spread * self._dangling_rank / max(n, 1)
        _superstep(
            self._reverse.indptr,
            self._reverse.indices,
            self._bounds[:-1],
            self._bounds[1:],
            self._scale,
            self._offer,
            base,
            self.rank,
            self._next_offer,
            self._changes,
            self._dangling,
        )
        self._offer, self._next_offer = self._next_offer, self._offer
        self._dangling_rank = float(_ordered_sum(self._dangling))
        return float(_ordered_sum(self._changes)) / max(n, 1)

    def probe(self, blocks: IntArray) -> tuple[int, int, Any]:
        """Return vertices and edges of some blocks, and a function that runs a superstep on them.

        The function refreshes all offers, as the superstep before would have, and returns a second
        function to be timed: the superstep itself, on the chosen blocks only. It changes no state
        that `step` uses.
        """
        starts, stops = self._bounds[:-1][blocks], self._bounds[1:][blocks]
        indptr = self._reverse.indptr
        edges = int((indptr[stops] - indptr[starts]).sum())
        rank, offer = self.rank.copy(), np.empty_like(self._offer)
        next_offer = np.empty_like(offer)
        changes, dangling = np.empty(len(blocks)), np.empty(len(blocks))

        def prepare() -> Any:
            np.multiply(rank, self._scale, out=offer)
            return lambda: _superstep(
                indptr,
                self._reverse.indices,
                starts,
                stops,
                self._scale,
                offer,
                self._teleport,
                rank,
                next_offer,
                changes,
                dangling,
            )

        return int((stops - starts).sum()), edges, prepare

    @property
    def blocks(self) -> int:
        """Number of blocks of rows."""
        return len(self._bounds) - 1


def _blocks(indptr: IntArray) -> IntArray:
    """Cut rows into runs of about equal edges + vertices; a row is never cut."""
    n = len(indptr) - 1
    work = indptr + np.arange(n + 1)
    count = max(1, int(np.ceil(work[-1] / _BLOCK_WORK)))
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1)[1:-1])
    return np.unique(np.concatenate(([0], cuts, [n]))).astype(np.int64)


@numba.njit(cache=True, nogil=True, inline="always", fastmath=_SUM_FLAGS)
def _gathered(indices: Any, offer: FloatArray, start: int, stop: int) -> float:
    total = 0.0
    for e in range(start, stop):
        total += offer[indices[e]]
    return total


@numba.njit(cache=True, nogil=True, parallel=True)
def _superstep(
    indptr: Any,
    indices: Any,
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
    for block in numba.prange(len(starts)):
        change = 0.0
        leaked = 0.0
        for v in range(starts[block], stops[block]):
            updated = base + _gathered(indices, offer, indptr[v], indptr[v + 1])
            change += abs(updated - rank[v])
            rank[v] = updated
            next_offer[v] = updated * scale[v]
            if scale[v] == 0.0:
                leaked += updated
        changes[block] = change
        dangling[block] = leaked


@numba.njit(cache=True, nogil=True)
def _ordered_sum(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value
    return total
