"""Block programs whose vertices merge received rows into their own and send changed rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.merging import pull
from predict_graph.engines.spark.blocks.program import BlockProgram


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
        pull(0, count, self.rule, *self.rows, senders, offers, self.state, changed)
        self.senders = changed.view(bool)
