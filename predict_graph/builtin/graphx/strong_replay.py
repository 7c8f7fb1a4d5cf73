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

import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray
from predict_graph.builtin.graphx.definition import GraphXStronglyConnectedComponents
from predict_graph.builtin.graphx.rounds import Row, sent, table_of
from predict_graph.engines.spark.library.layout import EdgeLayout


def strong(algorithm: GraphXStronglyConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``StronglyConnectedComponents``."""
    return _Strong(layout).counted(int(algorithm.parameters["numIter"]))  # type: ignore[arg-type]


class _Strong:
    """The remaining graph, and the rows of its supersteps."""

    def __init__(self, layout: EdgeLayout) -> None:
        n = layout.vertices
        self.edges, self.ids = layout, np.arange(n, dtype=np.int64)
        self.alive = np.full(n, layout.everyone)  # otherwise it only has vertices with edges
        self.alive[layout.sources] = self.alive[layout.targets] = True
        self.color, self.final = self.ids, np.zeros(n, np.bool_)
        self.rows: list[Row] = []

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
        return table_of(self.rows)

    def _remove(self) -> bool:
        """Remove confirmed vertices and those without in-edges or out-edges; return whether any."""
        sources, targets = self.edges.sources, self.edges.targets
        every = np.ones(len(sources), np.bool_)
        one, enters = sent(self.edges, every, sources, targets)
        other, leaves = sent(self.edges, every, targets, sources)
        linked, messages = int((leaves | enters).sum()), 2 * len(sources)
        records = one[2] + other[2]
        self.rows.append((linked, messages, records, records, messages, linked))
        gone = self.alive & (self.final | ~leaves | ~enters)
        self.alive &= ~gone
        self.edges = _among(self.edges, self.alive)
        return bool(gone.any())

    def _spread(self) -> None:
        """Let the smallest ids spread along the edges."""
        self.color = self.ids.copy()
        active, sources, targets = np.ones_like(self.alive), self.edges.sources, self.edges.targets
        while active.any():
            own = self.color[sources]
            sends = active[sources] & (own < self.color[targets])
            active = self._send(sends, sources, targets)
            np.minimum.at(self.color, targets[sends], own[sends])

    def _confirm(self) -> None:
        """Confirm vertices whose id is their colour, and others against the edge direction."""
        roots = self.alive & (self.color == self.ids)
        self.final = roots.copy()
        active, sources, targets = np.ones_like(roots), self.edges.sources, self.edges.targets
        alike = self.color[sources] == self.color[targets]
        while active.any():
            sends = alike & (active & self.final)[targets] & ~self.final[sources]
            active = self._send(sends, targets, sources)
            self.final = self.final | active

    def _send(self, sends: BoolArray, senders: Any, receivers: Any) -> BoolArray:
        """Add a Pregel round; return the vertices that receive."""
        row, received = sent(self.edges, sends, senders, receivers)
        self.rows.append(row)
        return received


def _among(layout: EdgeLayout, alive: BoolArray) -> EdgeLayout:
    """Return the edges between remaining vertices, in their partitions."""
    kept = alive[layout.sources] & alive[layout.targets]
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    return EdgeLayout(
        layout.vertices, before[layout.starts], layout.sources[kept], layout.targets[kept]
    )
