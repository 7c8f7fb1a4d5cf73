"""Block programs whose vertices merge received rows into their own and send changed rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.merging import pull
from predict_graph.engines.spark.blocks.program import BlockProgram

Array = npt.NDArray[Any]


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
