"""What kernels have in common in which a vertex sends when something at it has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.kernel import Work
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

__all__ = ["ALL_PULLED", "MergingKernel", "SpreadingKernel"]

_FEW = 16  # one message in so many edges: push; judgement: docs/studies/algorithms.md has the times
# Work in units of a message that is pulled (measured). Only ratios matter, and
# only as far as a sample has other degrees than the whole graph.
_PULLED_VERTEX, _PULLED_EDGE = 2.0, 0.1
_PUSHED_VERTEX, _PUSHED_MESSAGE = 0.6, 2.8  # one thread instead of all

ALL_PULLED = Work(_PULLED_VERTEX, _PULLED_EDGE)
"""Work of a superstep whose messages are pulled."""


class SpreadingKernel:
    """A kernel with a set of vertices that send and one of vertices that have changed.

    Parameters
    ----------
    rows : Graph
        Whose rows the threads share.
    team : Team or None
        Threads; the calling one alone by default.
    """

    def __init__(self, rows: Graph, team: Team | None) -> None:
        self._team = team or Team()
        self._blocks = row_blocks(rows.indptr)
        self._senders = np.ones(rows.vertices, np.uint8)
        self._changed = np.zeros(rows.vertices, np.uint8)

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """First row of each block, and the number of rows."""
        return self._blocks

    def rest(self) -> None:
        """Let no vertex send in the next superstep: it then takes what any superstep takes."""
        self._senders = np.zeros_like(self._senders)

    def _rows(self, first: int, last: int) -> tuple[int, int]:
        """Return the first row of some blocks, and the one after their last."""
        return self._blocks[first], self._blocks[last]

    def _turn(self) -> npt.NDArray[np.uint8]:
        """Let those that changed be the next to send; return those that sent."""
        sent = self._senders
        self._senders, self._changed = self._changed, np.zeros_like(sent)
        return sent


class MergingKernel(SpreadingKernel):
    """A kernel whose vertices merge what they receive into a row of their own.

    When many vertices send, each vertex pulls the rows of its senders and threads share the
    receivers; when few do, their rows are pushed, so that work is in proportion to messages.

    Parameters
    ----------
    graph : Graph
    team : Team or None
    state : ndarray, shape (n, columns)
        What each vertex holds.
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
        """Let the vertices of some blocks take in what is sent to them."""
        states = (self._state, self._next, self._changed)
        self.pull(*self._rows(first, last), *self._in, self._senders, *states)

    def _exchange(self) -> Work:
        """Let every vertex take in what is sent to it; return what work that is."""
        messages = int(self._degrees[self._senders.view(bool)].sum())
        if messages * _FEW > len(self._out[1]):
            self._team.share(self._pull, len(self._blocks) - 1)
            return ALL_PULLED
        senders = np.flatnonzero(self._senders)
        self.push(*self._out, senders, self._state, self._next, self._changed)
        return Work(_PUSHED_VERTEX, messages=_PUSHED_MESSAGE)
