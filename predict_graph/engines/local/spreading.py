"""Base class of kernels in which a vertex sends after its value has changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.engines.local.blocks import SharedRows
from predict_graph.engines.local.kernel import Superstep, Work
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


class SpreadingKernel(SharedRows):
    """A kernel that tracks which vertices send and which have changed."""

    def __init__(self, rows: Graph, team: Team | None) -> None:
        super().__init__(rows, team)
        self._senders = np.ones(rows.vertices, np.uint8)
        self._changed = np.zeros(rows.vertices, np.uint8)

    def rest(self) -> None:
        """Let no vertex send in the next superstep, to time its fixed costs."""
        self._senders = np.zeros_like(self._senders)

    def _turn(self, message_bytes: Any, work: Work) -> Superstep:
        """Make the changed vertices the next senders; return the superstep, with their share."""
        sent = self._senders
        self._senders, self._changed = self._changed, np.zeros_like(sent)
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, message_bytes, sent, self._senders, work=work)
