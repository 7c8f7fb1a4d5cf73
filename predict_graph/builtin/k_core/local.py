"""One superstep of core numbers, compiled: estimates fall to what enough neighbours are at.

A vertex that falls marks the neighbours that it leaves behind: those whose estimate was at most its
own, and is above it now. Nobody else can fall by it, so that only the marked look at their
neighbours again. What falls is read from a second array that is brought up to date after the
superstep: messages of a superstep are those of its beginning.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.k_core.definition import KCore
from predict_graph.engines.local.footprint import Footprint
from predict_graph.engines.local.kernel import Superstep, Weighting, Work
from predict_graph.engines.local.spreading import SpreadingKernel
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

__all__ = ["KCoreKernel", "first_estimates", "lowered", "members"]

# Work in units of a message that is sent: looking at a neighbour, and at a vertex; judgement.
_LOOK, _VERTEX = 2.0, 2.0


class KCoreKernel(SpreadingKernel):
    """Core numbers on one undirected graph.

    It is not probed: who hears of one neighbour looks at all of them, so that a message of the
    first superstep, which all send, costs less than any later one.

    Parameters
    ----------
    algorithm : KCore
    graph : Graph
        Undirected.
    team : Team, optional
        Threads; the calling one alone by default.

    Attributes
    ----------
    message_bytes : int
        A message is a vertex id and an estimate, 8 bytes each.
    working_set_bytes : int
        What a superstep reads at random: estimates, and marks.
    """

    message_bytes = 16

    def __init__(self, algorithm: KCore, graph: Graph, team: Team | None = None) -> None:
        super().__init__(graph, team)
        self._algorithm = algorithm
        self._indptr, self._indices = graph.indptr, graph.indices
        self._degrees = graph.out_degrees
        self._estimates = first_estimates(self._degrees, algorithm.most)
        self._told = self._estimates.copy()
        self._sampled = False
        # In the first superstep all hear from all their neighbours.
        self._marked = np.ones(graph.vertices, np.uint8)
        self.working_set_bytes = (4 + 1) * graph.vertices

    @staticmethod
    def footprint(algorithm: KCore, id_bytes: int) -> Footprint:
        """Return what it allocates: estimates twice, degrees, five marks; at last a result."""
        return Footprint(2 * 4 + 8 + 5 + 4, reverse=False)

    @property
    def estimates(self) -> npt.NDArray[np.int32]:
        """What each vertex takes its core number for."""
        return self._estimates

    @property
    def values(self) -> npt.NDArray[Any]:
        """Core number of each vertex, or 1 for those in the k-core and 0 for the others."""
        return members(self._estimates, self._algorithm.most)

    def summary(self) -> dict[str, Any]:
        """Return the largest core number and its vertices, or the vertices of the k-core."""
        values = self.values
        if self._algorithm.most is not None:
            return {"members": int(values.sum())}
        largest = int(values.max())
        return {"degeneracy": largest, "innermost": int(np.count_nonzero(values == largest))}

    def stand_for(self, weighting: Weighting) -> None:
        """Count self-loops: in a sample a vertex may stand for a neighbour of its own."""
        self._sampled = True

    def rest(self) -> None:
        """Let no vertex send in the next superstep: nobody looks at neighbours then."""
        super().rest()
        self._marked[:] = 0

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose estimate fell."""
        blocks = len(self._blocks) - 1
        work = Work()
        if self._sampled:  # elsewhere nobody asks for it
            work = Work(self._marked * (_LOOK * self._degrees + _VERTEX) + 1.0)
        self._team.share(self._lower, blocks)
        self._marked[:] = 0
        self._team.share(self._settle, blocks)
        changed = int(np.count_nonzero(self._changed))
        sent = self._turn()
        share = changed / max(len(sent), 1)
        return Superstep(share, self.message_bytes, sent, self._senders, work=work)

    def _lower(self, first: int, last: int) -> None:
        """Lower the estimates of the marked vertices of some blocks."""
        rows = (*self._rows(first, last), self._indptr, self._indices)
        _lower(*rows, self._sampled, self._marked, self._told, self._estimates, self._changed)

    def _settle(self, first: int, last: int) -> None:
        """Tell the estimates of some blocks that fell, and mark those who may fall by it."""
        rows = (*self._rows(first, last), self._indptr, self._indices)
        _settle(*rows, self._estimates, self._told, self._changed, self._marked)


def first_estimates(out_degrees: npt.NDArray[Any], most: int | None) -> npt.NDArray[np.int32]:
    """Return the edges of each vertex, at most `most`."""
    first: npt.NDArray[np.int32] = np.minimum(out_degrees, 2**31 - 1 if most is None else most)
    return first.astype(np.int32)


def members(estimates: npt.NDArray[np.int32], most: int | None) -> npt.NDArray[np.int32]:
    """Return core numbers as they are, or which of them are at `most`."""
    return estimates if most is None else (estimates == most).astype(np.int32)


@numba.njit(cache=True, nogil=True, inline="always")
def lowered(estimate: Any, known: Any, counts: Any) -> Any:
    """Return the largest k, at most an estimate, for which k of some estimates are k or more.

    Parameters
    ----------
    estimate : int
    known : ndarray of int
        Estimates of the neighbours.
    counts : ndarray of int
        As long as the estimate at least, and all 0; left like that.
    """
    at_least = 0
    for found in known:
        if found >= estimate:
            at_least += 1
        else:
            counts[found] += 1
    lower = estimate
    while at_least < lower:
        lower -= 1
        at_least += counts[lower]
    counts[:estimate] = 0
    return lower


@numba.njit(cache=True, nogil=True)
def _lower(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    loops: bool,
    marked: Any,
    told: Any,
    estimates: Any,
    changed: Any,
) -> None:
    known, counts = np.empty(16, np.int32), np.zeros(16, np.int32)
    for v in range(first, last):
        if marked[v] == 0:
            continue
        estimate, start, stop = told[v], indptr[v], indptr[v + 1]
        if stop - start > len(known) or estimate > len(counts):
            room = 2 * max(stop - start, np.int64(estimate))
            known, counts = np.empty(room, np.int32), np.zeros(room, np.int32)
        size = 0
        for e in range(start, stop):
            u = indices[e]
            if loops or u != v:
                known[size] = told[u]
                size += 1
        lower = lowered(estimate, known[:size], counts)
        if lower < estimate:
            estimates[v] = lower
            changed[v] = 1


@numba.njit(cache=True, nogil=True)
def _settle(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    estimates: Any,
    told: Any,
    changed: Any,
    marked: Any,
) -> None:
    for v in range(first, last):
        if changed[v] == 0:
            continue
        before, now = told[v], estimates[v]
        told[v] = now
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            # Only those rest on it that counted it as at their own estimate or above.
            if before >= estimates[w] > now:
                marked[w] = 1
