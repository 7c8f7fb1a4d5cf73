"""Local replay of ``StronglyConnectedComponents`` of GraphX.

A round removes vertices without in-edges or out-edges repeatedly, until a count of the degrees
finds none: such a vertex is a component of its own. Then two Pregel loops follow. In the first, the
smallest id spreads along the edges as a colour. In the second, a vertex whose id is its colour
confirms, against the edge direction, the vertices of its colour: those that it reaches and that
reach it. The next round removes them. Each count of degrees is one Spark job in which all edges
send to both ends, and each Pregel round is one: these are the supersteps.

References
----------
.. [1] S. Salihoglu and J. Widom: Optimizing Graph Algorithms on Pregel-like Systems, VLDB 2014,
   section 3.1.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.builtin.graphx.definition import GraphXStronglyConnectedComponents
from predict_graph.builtin.graphx.rounds import Rounds
from predict_graph.engines.spark.library.layout import EdgeLayout

BoolArray = npt.NDArray[np.bool_]


def strong(algorithm: GraphXStronglyConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``StronglyConnectedComponents``."""
    return _Strong(layout).counted(int(algorithm.parameters["numIter"]))  # type: ignore[arg-type]


class _Strong:
    """The remaining graph, and the vertices that changed since they were last sent to edges."""

    def __init__(self, layout: EdgeLayout) -> None:
        n = layout.vertices
        self.edges = layout
        self.alive = np.full(n, layout.everyone)  # otherwise it only has vertices with edges
        self.alive[layout.sources] = self.alive[layout.targets] = True
        self.color, self.final = np.arange(n, dtype=np.int64), np.zeros(n, np.bool_)
        # GraphX keeps sending vertices to partitions where they once had edges.
        self.rounds = Rounds(layout.copies())
        self.changed, self.first = np.zeros(n, np.bool_), True

    def counted(self, most: int) -> pd.DataFrame:
        """Return the rows of at most so many rounds."""
        number = 0
        while self.alive.any() and number < most:
            number += 1
            while self._remove():
                pass
            if number < most:
                self._spread()
                self._confirm()
        return self.rounds.table()

    def _remove(self) -> bool:
        """Remove confirmed vertices and those without in-edges or out-edges; return whether any."""
        counts, leaves, enters = _degrees(*self._arrays, len(self.alive))
        self.rounds.add(counts, leaves | enters, self.changed)
        gone = self.alive & (self.final | ~leaves | ~enters)
        # The first filter sends all vertices to the edges.
        self.changed = self.alive.copy() if self.first else gone
        self.first = False
        self.alive &= ~gone
        self.edges = _among(self.edges, self.alive)
        return bool(gone.any())

    def _spread(self) -> None:
        """Let the smallest ids spread along the edges."""
        own = np.arange(len(self.color), dtype=np.int64)
        self.changed |= self.alive & (self.color != own)
        self.color = own
        active = np.ones(len(own), np.bool_)
        while True:
            counts, lowest, received = _forward(*self._arrays, self.color, active)
            some = self._add(counts, received)
            self.color = np.minimum(self.color, lowest)
            active = received
            if not some:
                return

    def _confirm(self) -> None:
        """Confirm vertices whose id is their colour, and others against the edge direction."""
        roots = self.alive & (self.color == np.arange(len(self.color)))
        self.final = roots.copy()
        self.changed |= roots
        active = np.ones(len(roots), np.bool_)
        while True:
            counts, received = _backward(*self._arrays, self.color, self.final, active)
            some = self._add(counts, received)
            self.final = self.final | received
            active = received
            if not some:
                return

    def _add(self, counts: Any, received: BoolArray) -> bool:
        """Add a Pregel round; vertices that receive are sent to the edges before the next round."""
        some = self.rounds.add(counts, received, self.changed)
        self.changed = received
        return some

    @property
    def _arrays(self) -> tuple[Any, Any, Any]:
        return self.edges.starts, self.edges.sources, self.edges.targets


def _among(layout: EdgeLayout, alive: BoolArray) -> EdgeLayout:
    """Return the edges between remaining vertices, in their partitions."""
    kept = alive[layout.sources] & alive[layout.targets]
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    return EdgeLayout(
        layout.vertices, before[layout.starts], layout.sources[kept], layout.targets[kept]
    )


@numba.njit(cache=True, nogil=True)
def _degrees(starts: Any, sources: Any, targets: Any, n: int) -> Any:
    leaves, enters = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    as_source, as_target = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    senders = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            leaves[v] = enters[w] = True
            if as_source[v] != p:
                as_source[v] = p
                records += 1
            if as_target[w] != p:
                as_target[w] = p
                records += 1
    for v in range(n):
        senders += leaves[v] or enters[v]
    messages = 2 * (starts[-1] - starts[0])
    return (senders, messages, records, records, messages), leaves, enters


@numba.njit(cache=True, nogil=True)
def _forward(starts: Any, sources: Any, targets: Any, color: Any, active: Any) -> Any:
    n = len(color)
    lowest, received, sent = color.copy(), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    senders = messages = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            if not active[v] or color[v] >= color[w]:
                continue
            messages += 1
            lowest[w] = min(lowest[w], color[v])
            received[w] = True
            if not sent[v]:
                sent[v] = True
                senders += 1
            if seen[w] != p:
                seen[w] = p
                records += 1
    return (senders, messages, records, records, messages), lowest, received


@numba.njit(cache=True, nogil=True)
def _backward(starts: Any, sources: Any, targets: Any, color: Any, final: Any, active: Any) -> Any:
    n = len(color)
    received, sent = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    senders = messages = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            if not active[w] or color[v] != color[w] or final[v] or not final[w]:
                continue
            messages += 1
            received[v] = True
            if not sent[w]:
                sent[w] = True
                senders += 1
            if seen[v] != p:
                seen[v] = p
                records += 1
    return (senders, messages, records, records, messages), received
