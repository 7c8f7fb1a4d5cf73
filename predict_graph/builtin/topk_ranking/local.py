"""One compiled superstep of top-k ranking.

A rank is represented by its position in the order of all ranks, 0 for the highest, so lists are
sorted integers. Rows are pulled by threads when many vertices send, and pushed when few do.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.engines.local.footprint import Footprint
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.spreading import MergingKernel
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

_ENTRY_BYTES = 16  # vertex id and rank; by definition
_HEADER_BYTES = 8  # vertex id of the receiver; by definition


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


class TopKRankingKernel(MergingKernel):
    """Top-k ranking on one graph."""

    values_are_vertices = True
    pull, push = staticmethod(_pull), staticmethod(_push)

    def __init__(
        self,
        algorithm: TopKRanking,
        graph: Graph,
        team: Team | None,
        ranks: npt.NDArray[np.float64],
    ) -> None:
        n, k = graph.vertices, algorithm.k
        self._by_rank = np.argsort(-ranks, kind="stable").astype(graph.indices.dtype)
        lists = np.full((n, k), np.iinfo(graph.indices.dtype).max, graph.indices.dtype)
        lists[self._by_rank, 0] = np.arange(n)
        super().__init__(graph, team, lists)
        self._lengths = np.ones(n, np.int32)
        self.message_bytes = _HEADER_BYTES + _ENTRY_BYTES
        self.working_set_bytes = (k * graph.indices.itemsize + 1) * n

    @staticmethod
    def footprint(algorithm: TopKRanking, id_bytes: int) -> Footprint:
        """Return its memory: two arrays of lists, and two more for the result and its order.

        It includes ranks, degrees, an order, two arrays of lengths, the order by rank, and four
        marks.
        """
        return Footprint(4 * algorithm.k * id_bytes + 3 * 8 + 2 * 4 + id_bytes + 4 + algorithm.k)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The vertices with the k highest ranks that reach each vertex, -1 for none, shape (n,
        k).
        """
        lists = self._state
        known = lists < len(lists)
        found = np.full(lists.shape, -1, lists.dtype)
        found[known] = self._by_rank[lists[known]]
        return found

    def summary(self) -> dict[str, Any]:
        """Return how many different lists there are."""
        ordered = self._state[np.lexsort(self._state.T)]
        steps = (ordered[1:] != ordered[:-1]).any(axis=1)
        return {"different_lists": 1 + int(np.count_nonzero(steps))}

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose list changed."""
        sizes = _HEADER_BYTES + _ENTRY_BYTES * self._lengths
        self._exchange()
        self._team.share(self._settle, len(self._blocks) - 1)
        changed = int(np.count_nonzero(self._changed))
        sent = self._turn()
        return Superstep(changed / max(len(sent), 1), sizes, sent, self._senders)

    def _settle(self, first: int, last: int) -> None:
        """Publish the changed lists of some blocks for the next superstep."""
        lists = (self._next, self._state, self._lengths)
        _settle(*self._rows(first, last), self._changed, *lists)


@numba.njit(cache=True, nogil=True)
def _settle(first: int, last: int, changed: Any, following: Any, lists: Any, lengths: Any) -> None:
    n, k = lists.shape
    for v in range(first, last):
        if changed[v] == 0:
            continue
        length = 0
        for i in range(k):
            lists[v, i] = following[v, i]
            length += following[v, i] < n
        lengths[v] = length


@numba.njit(cache=True, nogil=True)
def merged_lists(lists: Any, others: Any) -> Any:
    """Return the lists of some vertices, each merged with another one."""
    merged = lists.copy()
    for i in range(len(merged)):
        _take_in(merged[i], others[i])
    return merged
