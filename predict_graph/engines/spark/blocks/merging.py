"""Cluster replicas of algorithms whose vertices merge received rows and send changed ones.

Only the rows of senders go to the executors, and only received rows come back.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph


class MergingReplica(Replica):
    """A replica whose state is a row of numbers per vertex."""

    hear: ClassVar[Any]
    """Module-level function from a block and shared data to vertices and what they receive."""

    def __init__(self, algorithm: Any, graph: ClusterGraph, state: npt.NDArray[Any]) -> None:
        super().__init__(algorithm, graph)
        n = graph.vertices
        self._state = state
        self._senders, self._changed = np.ones(n, bool), np.zeros(n, bool)

    @abstractmethod
    def merge(self, places: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Merge received rows into those of some vertices; return which changed."""

    def ask(self) -> Question:
        """Return the rows of the sending vertices."""
        state = self._state
        places = np.flatnonzero(self._senders).astype(np.int32)
        rows = state if len(places) == len(state) else state[places]
        shared = (places, rows, len(state))
        size = float(len(state)) * (4 + state.itemsize * state.shape[1])
        return Question(type(self).hear, shared, ("i4", state.dtype.str), size)

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Merge what some vertices received."""
        rows = values.reshape(len(places), self._state.shape[1])
        changed = self.merge(places, rows)
        self._changed[places[changed]] = True

    def turn(self) -> npt.NDArray[np.bool_]:
        """Make the changed vertices the next senders; return those that sent."""
        sent, self._senders = self._senders, self._changed
        self._changed = np.zeros_like(sent)
        return sent

    @property
    def share(self) -> float:
        """The share of vertices that will send."""
        return int(np.count_nonzero(self._senders)) / max(len(self._senders), 1)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The row of each vertex."""
        return self._state


def pulled(block: Block, shared: Any, pull: Any, empty: Any) -> tuple[Any, Any]:
    """Pull the rows sent to the vertices of a block, with the kernel of the local engine."""
    places, rows, vertices = shared
    senders = np.zeros(vertices, np.uint8)
    senders[places] = 1
    state = rows
    if len(rows) < vertices:  # pages that are never written take no memory
        state = np.zeros((vertices, rows.shape[1]), rows.dtype)
        state[places] = rows
    heard = np.full((len(block.rows), rows.shape[1]), empty, rows.dtype)
    changed = np.zeros(len(block.rows), np.uint8)
    pull(0, len(block.rows), block.starts, block.sources, senders, state, heard, changed)
    chosen = changed.astype(bool)
    return block.rows[chosen], heard[chosen]
