"""One superstep of top-k ranking, compiled.

A rank is known by its place in the order of all ranks, 0 for the highest, so lists are sorted
integers. Rows are pulled by threads when many vertices send, and pushed when few do.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import TopKRanking
from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

__all__ = ["TopKRankingKernel"]

_ENTRY_BYTES = 16  # vertex id and rank
_HEADER_BYTES = 8  # vertex id of the receiver
_FEW = 16  # one message in so many edges: push


class TopKRankingKernel:
    """Top-k ranking on one graph.

    Parameters
    ----------
    algorithm : TopKRanking
    graph : Graph
    team : Team or None
    ranks : ndarray of float64, shape (n,)
        From PageRank. Equal ranks are ordered by vertex.

    Attributes
    ----------
    message_bytes : int
        Of a list with one entry, as in the first superstep.
    working_set_bytes : int
        What a superstep reads at random: lists, and who sends.
    """

    values_are_vertices = True

    def __init__(
        self,
        algorithm: TopKRanking,
        graph: Graph,
        team: Team | None,
        ranks: npt.NDArray[np.float64],
    ) -> None:
        n, k = graph.vertices, algorithm.k
        self._team = team or Team()
        reverse = graph.reverse
        self._out = (graph.indptr, graph.indices)
        self._in = (reverse.indptr, reverse.indices)
        self._degrees = graph.out_degrees
        self._blocks = row_blocks(reverse.indptr)
        self._by_rank = np.argsort(-ranks, kind="stable").astype(graph.indices.dtype)
        nothing = np.iinfo(graph.indices.dtype).max
        self._lists = np.full((n, k), nothing, graph.indices.dtype)
        self._lists[self._by_rank, 0] = np.arange(n)
        self._next = self._lists.copy()
        self._lengths = np.ones(n, np.int32)
        self._senders = np.ones(n, np.uint8)
        self._changed = np.zeros(n, np.uint8)
        self.message_bytes = _HEADER_BYTES + _ENTRY_BYTES
        self.working_set_bytes = (k * graph.indices.itemsize + 1) * n

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """First row of each block, and the number of rows."""
        return self._blocks

    @property
    def values(self) -> npt.NDArray[Any]:
        """Vertices with the k highest ranks that reach each vertex, -1 for none, shape (n, k)."""
        lists = self._lists
        known = lists < len(lists)
        found = np.full(lists.shape, -1, lists.dtype)
        found[known] = self._by_rank[lists[known]]
        return found

    def summary(self) -> dict[str, Any]:
        """Return how many different lists there are."""
        ordered = self._lists[np.lexsort(self._lists.T)]
        steps = (ordered[1:] != ordered[:-1]).any(axis=1)
        return {"different_lists": 1 + int(np.count_nonzero(steps))}

    def sweep(self, first: int, last: int) -> None:
        """Do a superstep's work for some blocks of rows; the state is of no use afterwards."""
        rows = (self._blocks[first], self._blocks[last])
        _pull(*rows, *self._in, self._senders, self._lists, self._next, self._changed)
        _settle(*rows, self._changed, self._next, self._lists, self._lengths)

    def rest(self) -> None:
        """Let no vertex send in the next superstep: it then takes what any superstep takes."""
        self._senders = np.zeros_like(self._senders)

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose list changed."""
        senders, n = self._senders, len(self._senders)
        sizes = _HEADER_BYTES + _ENTRY_BYTES * self._lengths
        messages = int(self._degrees[senders.view(bool)].sum())
        first, last = self._blocks[:-1], self._blocks[1:]
        if messages * _FEW > len(self._out[1]):
            self._team.share(
                lambda a, b: _pull(
                    first[a],
                    last[b - 1],
                    *self._in,
                    senders,
                    self._lists,
                    self._next,
                    self._changed,
                ),
                len(first),
            )
        else:
            _push(*self._out, np.flatnonzero(senders), self._lists, self._next, self._changed)
        counts = np.zeros(len(first), np.int64)
        self._team.share(lambda a, b: self._settle(a, b, counts), len(first))
        changed = int(counts.sum())
        self._senders, self._changed = self._changed, np.zeros_like(senders)
        return Superstep(changed / max(n, 1), sizes, senders, self._senders)

    def _settle(self, first: int, last: int, counts: npt.NDArray[np.int64]) -> None:
        rows = (self._blocks[first], self._blocks[last])
        counts[first] = _settle(*rows, self._changed, self._next, self._lists, self._lengths)


@numba.njit(cache=True, nogil=True)
def _take_in(mine: Any, theirs: Any) -> bool:
    """Merge a sorted list into another one of the same length; return whether it changed."""
    k = len(mine)
    changed = False
    place = 0
    for i in range(k):
        entry = theirs[i]
        if entry >= mine[k - 1]:
            break
        while mine[place] < entry:
            place += 1
        if mine[place] == entry:
            continue
        for j in range(k - 1, place, -1):
            mine[j] = mine[j - 1]
        mine[place] = entry
        changed = True
    return changed


@numba.njit(cache=True, nogil=True)
def _pull(
    first: int,
    last: int,
    indptr: Any,
    sources: Any,
    senders: Any,
    lists: Any,
    following: Any,
    changed: Any,
) -> None:
    for v in range(first, last):
        mine = following[v]
        any_change = False
        for e in range(indptr[v], indptr[v + 1]):
            u = sources[e]
            if senders[u] != 0 and _take_in(mine, lists[u]):
                any_change = True
        if any_change:
            changed[v] = 1


@numba.njit(cache=True, nogil=True)
def _push(
    indptr: Any, targets: Any, senders: Any, lists: Any, following: Any, changed: Any
) -> None:
    for v in senders:
        for e in range(indptr[v], indptr[v + 1]):
            w = targets[e]
            if _take_in(following[w], lists[v]):
                changed[w] = 1


@numba.njit(cache=True, nogil=True)
def _settle(first: int, last: int, changed: Any, following: Any, lists: Any, lengths: Any) -> int:
    count = 0
    n, k = lists.shape
    for v in range(first, last):
        if changed[v] == 0:
            continue
        count += 1
        length = 0
        for i in range(k):
            lists[v, i] = following[v, i]
            length += following[v, i] < n
        lengths[v] = length
    return count
