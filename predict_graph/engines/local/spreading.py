"""Base classes of kernels in which a vertex sends after its value has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.kernel import Work
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

# Push if at most one edge in this many has a message; trades off as in docs/studies/algorithms.md
_FEW = 16
# Work relative to one pulled message (measured). Only ratios matter, for samples whose degrees
# differ from the whole graph.
_PULLED_VERTEX, _PULLED_EDGE = 2.0, 0.1
_PUSHED_VERTEX, _PUSHED_MESSAGE = 0.6, 2.8  # on one thread instead of all; measured as above


class SpreadingKernel:
    """A kernel that tracks which vertices send and which have changed."""

    def __init__(self, rows: Graph, team: Team | None) -> None:
        self._team = team or Team()
        self._blocks = row_blocks(rows.indptr)
        self._senders = np.ones(rows.vertices, np.uint8)
        self._changed = np.zeros(rows.vertices, np.uint8)

    def rest(self) -> None:
        """Let no vertex send in the next superstep, to time its fixed costs."""
        self._senders = np.zeros_like(self._senders)

    def _rows(self, first: int, last: int) -> tuple[int, int]:
        """Return the first row of some blocks, and the row after their last."""
        return self._blocks[first], self._blocks[last]

    def _turn(self) -> npt.NDArray[np.uint8]:
        """Make the changed vertices the next senders; return those that sent."""
        sent = self._senders
        self._senders, self._changed = self._changed, np.zeros_like(sent)
        return sent


class MergingKernel(SpreadingKernel):
    """A kernel whose vertices merge received rows into their own row.

    When many vertices send, each vertex pulls the rows of its senders and threads share the
    receivers; when few do, their rows are pushed, so that work is proportional to messages.
    """

    pull: ClassVar[Callable[..., None]]
    """Compiled: (first row, last row, indptr, sources, senders, state, following, changed)."""
    push: ClassVar[Callable[..., None]]
    """Compiled: (indptr, targets, vertices that send, state, following, changed)."""

    def __init__(self, graph: Graph, team: Team | None, state: npt.NDArray[Any]) -> None:
        reverse = graph.reverse
        super().__init__(reverse, team)
        self._out = (graph.indptr, graph.indices)
        self._in = (reverse.indptr, reverse.indices)
        self._degrees = graph.out_degrees
        self._state = state
        self._next = state.copy()

    def _pull(self, first: int, last: int) -> None:
        """Merge the received rows at the vertices of some blocks."""
        states = (self._state, self._next, self._changed)
        self.pull(*self._rows(first, last), *self._in, self._senders, *states)

    def _exchange(self) -> Work:
        """Merge the received rows at every vertex; return the work."""
        messages = int(self._degrees[self._senders.view(bool)].sum())
        if messages * _FEW > len(self._out[1]):
            self._team.share(self._pull, len(self._blocks) - 1)
            return Work(_PULLED_VERTEX, _PULLED_EDGE)
        senders = np.flatnonzero(self._senders)
        self.push(*self._out, senders, self._state, self._next, self._changed)
        return Work(_PUSHED_VERTEX, messages=_PUSHED_MESSAGE)
