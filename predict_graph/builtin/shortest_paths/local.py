"""One compiled superstep of shortest paths: the fewest hops from each landmark.

When many vertices send, each vertex pulls the hops of its senders and threads share the rows; when
few do, hops are pushed, so that work is proportional to messages.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.engines.local.footprint import Footprint
from predict_graph.engines.local.kernel import Superstep, Weighting
from predict_graph.engines.local.spreading import MergingKernel
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

FAR = int(np.iinfo(np.int32).max)  # by definition: no path from the landmark is known
_ENTRY_BYTES = 16  # landmark and hops; by definition
_HEADER_BYTES = 8  # vertex id of the receiver; by definition


@numba.njit(cache=True, nogil=True, inline="always")
def _take_in(mine: Any, theirs: Any) -> bool:
    """Take hops through a neighbour where they are fewer; return whether any are."""
    changed = False
    for k in range(len(mine)):
        hops = theirs[k]
        if hops < FAR and hops + 1 < mine[k]:
            mine[k] = hops + 1
            changed = True
    return changed


@numba.njit(cache=True, nogil=True)
def _pull(
    first: int,
    last: int,
    indptr: Any,
    sources: Any,
    senders: Any,
    hops: Any,
    following: Any,
    changed: Any,
) -> None:
    for v in range(first, last):
        mine = following[v]
        any_change = False
        for e in range(indptr[v], indptr[v + 1]):
            u = sources[e]
            if senders[u] != 0 and _take_in(mine, hops[u]):
                any_change = True
        if any_change:
            changed[v] = 1


@numba.njit(cache=True, nogil=True)
def _push(indptr: Any, targets: Any, senders: Any, hops: Any, following: Any, changed: Any) -> None:
    for v in senders:
        for e in range(indptr[v], indptr[v + 1]):
            w = targets[e]
            if _take_in(following[w], hops[v]):
                changed[w] = 1


@numba.njit(cache=True, nogil=True)
def _settle(first: int, last: int, changed: Any, following: Any, hops: Any, known: Any) -> None:
    for v in range(first, last):
        if changed[v] != 0:
            count = 0
            for k in range(hops.shape[1]):
                hops[v, k] = following[v, k]
                count += following[v, k] < FAR
            known[v] = count


class ShortestPathsKernel(MergingKernel):
    """Shortest paths on one graph."""

    pull, push = staticmethod(_pull), staticmethod(_push)
    message_bytes = _HEADER_BYTES + _ENTRY_BYTES

    def __init__(self, algorithm: ShortestPaths, graph: Graph, team: Team | None = None) -> None:
        n, self._algorithm = graph.vertices, algorithm
        super().__init__(graph, team, np.full((n, algorithm.count), FAR, np.int32))
        self._known = np.zeros(n, np.int32)
        self._begin(algorithm.landmarks_in(graph.out_degrees))
        self.working_set_bytes = (4 * algorithm.count + 1) * n

    @staticmethod
    def footprint(algorithm: ShortestPaths, id_bytes: int) -> Footprint:
        """Return its memory: two arrays of hops and one for the result, degrees, four marks.

        It includes the number of known landmarks of each vertex, and the sizes of messages.
        """
        return Footprint(4 * algorithm.count * 3 + 8 + 4 + 4 + 8)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The hops from each landmark, -1 where there is no path: (n,), or (n, landmarks)."""
        hops = np.where(self._state < FAR, self._state, np.int32(-1))
        return hops[:, 0] if hops.shape[1] == 1 else hops

    def summary(self) -> dict[str, Any]:
        """Return how many vertices a landmark reaches, and how many hops the farthest is away."""
        reached = self._state < FAR
        return {
            "reached": int(np.count_nonzero(reached.any(axis=1))),
            "farthest": int(self._state[reached].max()),
        }

    def stand_for(self, weighting: Weighting) -> None:
        """Start at the landmarks of the whole graph, if they are in the sample."""
        known = self._algorithm.known
        if known is None or not np.isin(known, weighting.vertices).all():
            return
        self._begin(np.searchsorted(weighting.vertices, known))

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices that found shorter paths."""
        sizes = message_sizes(self._known)
        work = self._exchange()
        self._team.share(self._settle, len(self._blocks) - 1)
        changed = int(np.count_nonzero(self._changed))
        sent = self._turn()
        share = changed / max(len(sent), 1)
        return Superstep(share, sizes, sent, self._senders, work=work)

    def _begin(self, landmarks: npt.NDArray[np.int64]) -> None:
        """Set the landmarks to 0 hops, and let them send."""
        self._state.fill(FAR)
        self._state[landmarks, np.arange(len(landmarks))] = 0
        self._next[:] = self._state
        self._known[:] = np.count_nonzero(self._state < FAR, axis=1)
        self._senders[:] = self._known > 0

    def _settle(self, first: int, last: int) -> None:
        """Publish the changed hops of some blocks for the next superstep."""
        _settle(*self._rows(first, last), self._changed, self._next, self._state, self._known)


def message_sizes(known: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the bytes of the messages of vertices that know so many landmarks."""
    sizes: npt.NDArray[np.int64] = _HEADER_BYTES + _ENTRY_BYTES * known.astype(np.int64)
    return sizes
