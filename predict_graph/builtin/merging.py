"""Compiled supersteps of algorithms whose vertices merge received rows into their own row.

When many vertices send, each vertex pulls the rows of its senders and threads share the receivers;
when few do, their rows are pushed, so that work is proportional to messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numba
import numpy as np

from predict_graph.arrays import Array
from predict_graph.engines.local.kernel import SpreadingKernel, Superstep, Team, Work
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph import Graph

# How a row is merged, by definition: the maximum of each entry; the minimum of each entry and that
# of the neighbour plus one; or the smallest entries of both sorted rows. The compiler knows the
# length of a tuple, and leaves out the other rules.
MAXIMUM, HOPS, UNION = (), (0,), (0, 0)
FAR = int(np.iinfo(np.int32).max)  # by definition: an entry that is not known yet

# By definition: the id of the receiver; a vertex, and its hops or rank.
_HEADER_BYTES, _ENTRY_BYTES = 8, 16

# Push if at most one edge in this many has a message; trades off as in docs/studies/algorithms.md
_FEW = 16
# Work relative to one pulled message (measured). Only ratios matter, for samples whose degrees
# differ from the whole graph.
_PULLED_VERTEX, _PULLED_EDGE = 2.0, 0.1
_PUSHED_VERTEX, _PUSHED_MESSAGE = 0.6, 2.8  # on one thread instead of all; measured as above


class MergingKernel(SpreadingKernel):
    """A kernel whose vertices merge received rows into their own row."""

    rule: ClassVar[tuple[int, ...]]
    """``MAXIMUM``, ``HOPS`` or ``UNION``."""

    def __init__(self, graph: Graph, team: Team | None, state: Array) -> None:
        reverse = graph.reverse
        super().__init__(reverse, team)
        self._out = (graph.indptr, graph.indices)
        self._in = (reverse.indptr, reverse.indices)
        self._degrees = graph.out_degrees
        self._state = state
        self._next = state.copy()

    def _exchange(self) -> Work:
        """Merge the received rows at every vertex; return the work."""
        messages = int(self._degrees[self._senders.view(bool)].sum())
        states = (self._state, self._next, self._changed)
        if messages * _FEW > len(self._out[1]):
            self._share(pull, self.rule, self._in, self._senders, states)
            return Work(_PULLED_VERTEX, _PULLED_EDGE)
        push(self.rule, self._out, np.flatnonzero(self._senders), states)
        return Work(_PUSHED_VERTEX, messages=_PUSHED_MESSAGE)


class EntriesKernel(MergingKernel):
    """A kernel whose rows have entries that are `FAR` until they are known."""

    def __init__(self, graph: Graph, team: Team | None, state: Array) -> None:
        super().__init__(graph, team, state)
        self._known = np.count_nonzero(state < FAR, axis=1).astype(np.int32)

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose row changed."""
        sizes = _HEADER_BYTES + _ENTRY_BYTES * self._known.astype(np.int64)
        work = self._exchange()
        self._share(_publish, self._changed, self._next, self._state, self._known)
        return self._turn(work, sizes)


@numba.njit(cache=True, nogil=True, inline="always")
def _merge(rule: Any, mine: Any, theirs: Any) -> Any:
    """Merge a row into another one of the same length by a rule; return whether it changed."""
    if len(rule) == len(MAXIMUM):
        difference = mine[0] ^ mine[0]
        for k in range(len(mine)):
            larger = max(mine[k], theirs[k])
            difference |= larger ^ mine[k]
            mine[k] = larger
        return difference != 0
    changed = False
    if len(rule) == len(HOPS):
        for k in range(len(mine)):
            hops = theirs[k]
            if hops < FAR and hops + 1 < mine[k]:
                mine[k] = hops + 1
                changed = True
        return changed
    last, place = len(mine) - 1, 0
    for entry in theirs:
        if entry >= mine[last]:
            break
        while mine[place] < entry:
            place += 1
        if mine[place] != entry:
            for j in range(last, place, -1):
                mine[j] = mine[j - 1]
            mine[place] = entry
            changed = True
    return changed


@numba.njit(cache=True, nogil=True)
def pull(first: int, last: int, rule: Any, rows: Any, senders: Any, states: Any) -> None:
    """Merge the rows of the senders into those of some receivers, by in-edges."""
    indptr, sources = rows
    state, following, changed = states
    for v in range(first, last):
        mine = following[v]
        any_change = False
        for e in range(indptr[v], indptr[v + 1]):
            u = sources[e]
            if senders[u] != 0 and _merge(rule, mine, state[u]):
                any_change = True
        if any_change:
            changed[v] = 1


@numba.njit(cache=True, nogil=True)
def push(rule: Any, rows: Any, senders: Any, states: Any) -> None:
    """Merge the rows of some senders into those of their out-neighbours."""
    indptr, targets = rows
    state, following, changed = states
    for v in senders:
        for e in range(indptr[v], indptr[v + 1]):
            w = targets[e]
            if _merge(rule, following[w], state[v]):
                changed[w] = 1


@numba.njit(cache=True, nogil=True)
def _publish(first: int, last: int, changed: Any, following: Any, state: Any, known: Any) -> None:
    """Publish the changed rows for the next superstep."""
    for v in range(first, last):
        if changed[v] != 0:
            count = 0
            for k in range(state.shape[1]):
                state[v, k] = following[v, k]
                count += following[v, k] < FAR
            known[v] = count


class MergingProgram(BlockProgram):
    """A program whose state is a row per vertex.

    Attributes
    ----------
    rule : tuple
        How rows are merged (:mod:`predict_graph.builtin.merging`).
    """

    rule: ClassVar[tuple[int, ...]]

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Merge received rows."""
        count = self.block.count
        changed = np.zeros(count, np.uint8)
        pull(0, count, self.rule, self.rows, senders, (offers, self.state, changed))
        self.senders = changed.view(bool)
