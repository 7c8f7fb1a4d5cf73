"""Twins of algorithms whose vertices merge rows that they hear, and send their own if it changed.

Only the rows of vertices that send go to the executors, and only what vertices hear comes back.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.twin import Question, Twin
from predict_graph.graph.on_cluster import ClusterGraph

__all__ = ["MergingTwin", "pulled"]


class MergingTwin(Twin):
    """A twin whose state is a row of numbers a vertex.

    Parameters
    ----------
    algorithm : Algorithm
    graph : ClusterGraph
    state : ndarray, shape (n, width)
        What each vertex begins with.
    """

    hear: ClassVar[Any]
    """Function of a module, from a block and what is shared to vertices and what they hear."""

    def __init__(self, algorithm: Any, graph: ClusterGraph, state: npt.NDArray[Any]) -> None:
        super().__init__(algorithm, graph)
        n = graph.vertices
        self._state = state
        self._senders, self._changed = np.ones(n, bool), np.zeros(n, bool)

    @abstractmethod
    def merge(self, places: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Merge what some vertices hear into their rows; return whose row changed."""

    def ask(self) -> Question:
        """Send the rows of those that send."""
        state = self._state
        places = np.flatnonzero(self._senders).astype(np.int32)
        rows = state if len(places) == len(state) else state[places]
        shared = (places, rows, len(state))
        size = float(len(state)) * (4 + state.itemsize * state.shape[1])
        return Question(type(self).hear, shared, ("i4", state.dtype.str), size)

    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Merge what some vertices hear."""
        rows = values.reshape(len(places), self._state.shape[1])
        changed = self.merge(places, rows)
        self._changed[places[changed]] = True

    def turn(self) -> npt.NDArray[np.bool_]:
        """Let those that changed be the next to send; return those that sent."""
        sent, self._senders = self._senders, self._changed
        self._changed = np.zeros_like(sent)
        return sent

    @property
    def share(self) -> float:
        """Vertices that will send, of all."""
        return int(np.count_nonzero(self._senders)) / max(len(self._senders), 1)

    @property
    def values(self) -> npt.NDArray[Any]:
        """Row of each vertex."""
        return self._state


def pulled(block: Block, shared: Any, pull: Any, empty: Any) -> tuple[Any, Any]:
    """Let the rows of a block pull what is sent to them, by the kernel of the local engine.

    Parameters
    ----------
    block : Block
    shared : tuple
        As :meth:`MergingTwin.ask` makes it.
    pull : callable
        Compiled: (first row, last row, indptr, sources, senders, state, following, changed).
    empty : number
        What a row holds that has heard nothing.
    """
    places, rows, vertices = shared
    senders = np.zeros(vertices, np.uint8)
    senders[places] = 1
    state = rows
    if len(rows) < vertices:  # pages that nobody writes to take no memory
        state = np.zeros((vertices, rows.shape[1]), rows.dtype)
        state[places] = rows
    heard = np.full((len(block.rows), rows.shape[1]), empty, rows.dtype)
    changed = np.zeros(len(block.rows), np.uint8)
    pull(0, len(block.rows), block.starts, block.sources, senders, state, heard, changed)
    chosen = changed.astype(bool)
    return block.rows[chosen], heard[chosen]
