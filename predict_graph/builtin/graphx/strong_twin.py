"""What ``StronglyConnectedComponents`` of GraphX does in each superstep, by the same rules.

A round takes away vertices without in-edges or out-edges, over and over, until a count of the
degrees finds none: such a vertex is a component of its own. Then two loops of Pregel follow. In the
first the smallest id spreads along the edges, the colour of whom it reaches. In the second a vertex
whose id is its colour confirms, against the edges, those of its colour: what it reaches that
reaches it too. They are taken away by the next round. Each count of degrees is one job of Spark, in
which all edges tell both of their ends, and each round of Pregel is one: these are the supersteps.

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

__all__ = ["strong"]

BoolArray = npt.NDArray[np.bool_]


def strong(algorithm: GraphXStronglyConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``StronglyConnectedComponents``."""
    return _Strong(layout).counted(int(algorithm.parameters["numIter"]))  # type: ignore[arg-type]


class _Strong:
    """The graph that is left, and what vertices changed since they were last sent to edges."""

    def __init__(self, layout: EdgeLayout) -> None:
        n = layout.vertices
        self.edges = layout
        self.alive = np.full(n, layout.everyone)  # else it knows of those with edges alone
        self.alive[layout.sources] = self.alive[layout.targets] = True
        self.color, self.final = np.arange(n, dtype=np.int64), np.zeros(n, np.bool_)
        # GraphX keeps sending vertices to partitions where they had edges once.
        self.rounds = Rounds(layout.copies())
        self.changed, self.first = np.zeros(n, np.bool_), True

    def counted(self, most: int) -> pd.DataFrame:
        """Return the rows of so many rounds at most."""
        number = 0
        while self.alive.any() and number < most:
            number += 1
            while self._takes_away():
                pass
            if number < most:
                self._spreads()
                self._confirms()
        return self.rounds.table()

    def _takes_away(self) -> bool:
        """Take away what is confirmed, or has no in-edges or no out-edges; return whether any."""
        counts, leaves, enters = _degrees(*self._arrays, len(self.alive))
        self.rounds.add(counts, leaves | enters, self.changed)
        gone = self.alive & (self.final | ~leaves | ~enters)
        # Edges have seen no vertex before they are first filtered: then they see all.
        self.changed = self.alive.copy() if self.first else gone
        self.first = False
        self.alive &= ~gone
        self.edges = _among(self.edges, self.alive)
        return bool(gone.any())

    def _spreads(self) -> None:
        """Let the smallest ids spread along the edges."""
        own = np.arange(len(self.color), dtype=np.int64)
        self.changed |= self.alive & (self.color != own)
        self.color = own
        active = np.ones(len(own), np.bool_)
        while True:
            counts, lowest, received = _forward(*self._arrays, self.color, active)
            some = self._adds(counts, received)
            self.color = np.minimum(self.color, lowest)
            active = received
            if not some:
                return

    def _confirms(self) -> None:
        """Let those whose id is their colour be confirmed, and confirm others against the edges."""
        roots = self.alive & (self.color == np.arange(len(self.color)))
        self.final = roots.copy()
        self.changed |= roots
        active = np.ones(len(roots), np.bool_)
        while True:
            counts, received = _backward(*self._arrays, self.color, self.final, active)
            some = self._adds(counts, received)
            self.final = self.final | received
            active = received
            if not some:
                return

    def _adds(self, counts: Any, received: BoolArray) -> bool:
        """Add a round of Pregel; those that receive are sent to the edges before the next."""
        some = self.rounds.add(counts, received, self.changed)
        self.changed = received
        return some

    @property
    def _arrays(self) -> tuple[Any, Any, Any]:
        return self.edges.starts, self.edges.sources, self.edges.targets


def _among(layout: EdgeLayout, alive: BoolArray) -> EdgeLayout:
    """Return the edges between vertices that are left, in the partitions where they are."""
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
