"""One superstep of connected components, compiled: push along the edges of changed vertices.

Work is in proportion to messages, beside one pass over a byte of each vertex. Labels only fall, so
threads may lower the same one in any order. What a vertex sends is read from a second array that is
brought up to date after the superstep: messages of a superstep are those of its beginning.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import ConnectedComponents
from predict_graph.engines.local.atomics import atomic_min
from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

__all__ = ["ComponentsKernel"]


class ComponentsKernel:
    """Smallest-id propagation on one undirected graph.

    Parameters
    ----------
    algorithm : ConnectedComponents
    graph : Graph
        Undirected.
    team : Team, optional
        Threads; the calling one alone by default.

    Attributes
    ----------
    message_bytes : int
        A message is a vertex id and a label, 8 bytes each.
    working_set_bytes : int
        What a superstep reads at random: labels, and whether they changed.
    """

    message_bytes = 16
    values_are_vertices = True

    def __init__(
        self, algorithm: ConnectedComponents, graph: Graph, team: Team | None = None
    ) -> None:
        n = graph.vertices
        self._team = team or Team()
        self._indptr, self._indices = graph.indptr, graph.indices
        self._blocks = row_blocks(graph.indptr)
        # Signed, and as wide as ids: what the atomic minimum takes.
        self._labels = np.arange(n, dtype=graph.indices.dtype)
        self._sent = self._labels.copy()
        self._senders = np.ones(n, np.uint8)
        self._changed = np.zeros(n, np.uint8)
        self._lowered = False
        self.working_set_bytes = (graph.indices.itemsize + 1) * n

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """First row of each block, and the number of rows."""
        return self._blocks

    @property
    def values(self) -> npt.NDArray[Any]:
        """Smallest id of the component of each vertex."""
        return self._labels

    def summary(self) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        sizes = np.bincount(self._labels)
        return {"components": int(np.count_nonzero(sizes)), "largest": int(sizes.max())}

    def sweep(self, first: int, last: int) -> None:
        """Do a superstep's work for some blocks of rows; the state is of no use afterwards.

        In a whole superstep a label falls once, and then many messages come that cannot lower it.
        In a small part of one nearly all could, so labels are lowered beforehand.
        """
        if not self._lowered:
            self._lower()
        rows = (self._blocks[first], self._blocks[last])
        edges = (self._indptr, self._indices)
        _push(*rows, *edges, self._senders, self._sent, self._labels, self._changed)
        counts = np.zeros(len(self._blocks), np.int64)
        _settle(first, last, self._blocks, self._labels, self._sent, self._changed, counts)

    def _lower(self) -> None:
        """Give each vertex the smallest label of its neighbours: rows are in ascending order."""
        joined = np.flatnonzero(np.diff(self._indptr))
        smallest = self._indices[self._indptr[joined]]
        self._labels[joined] = np.minimum(self._labels[joined], smallest)
        self._lowered = True

    def rest(self) -> None:
        """Let no vertex send in the next superstep: it then takes what any superstep takes."""
        self._senders = np.zeros_like(self._senders)

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose label changed."""
        first, last = self._blocks[:-1], self._blocks[1:]
        edges = (self._indptr, self._indices)
        self._team.share(
            lambda a, b: _push(
                first[a],
                last[b - 1],
                *edges,
                self._senders,
                self._sent,
                self._labels,
                self._changed,
            ),
            len(first),
        )
        counts = np.zeros(len(first), np.int64)
        self._team.share(
            lambda a, b: _settle(
                a, b, self._blocks, self._labels, self._sent, self._changed, counts
            ),
            len(first),
        )
        senders = self._senders
        self._senders, self._changed = self._changed, np.zeros_like(senders)
        changed = int(counts.sum()) / max(len(senders), 1)
        return Superstep(changed, self.message_bytes, senders, self._senders)


@numba.njit(cache=True, nogil=True)
def _push(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    senders: Any,
    sent: Any,
    labels: Any,
    changed: Any,
) -> None:
    for v in range(first, last):
        if senders[v] == 0:
            continue
        label = sent[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if label < labels[w]:
                atomic_min(labels, w, label)
                changed[w] = 1


@numba.njit(cache=True, nogil=True)
def _settle(
    first_block: int,
    last_block: int,
    blocks: Any,
    labels: Any,
    sent: Any,
    changed: Any,
    counts: Any,
) -> None:
    for block in range(first_block, last_block):
        count = 0
        for v in range(blocks[block], blocks[block + 1]):
            if changed[v] != 0:
                sent[v] = labels[v]
                count += 1
        counts[block] = count
