"""Label propagation on a block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.builtin.label_propagation.local import vote
from predict_graph.engines.spark.blocks.program import BlockProgram


class LabelPropagationProgram(BlockProgram):
    """Every vertex sends its label, and takes the one with most votes or weight."""

    algorithm: LabelPropagation
    kept = ("state", "changed")

    def first(self, prior: Array | None) -> None:
        """Set the label of each vertex to its own id."""
        self.state, self.changed = np.array(self.block.rows, np.int64), 0

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Sum votes, and take the label with most; the smallest of several."""
        following = self.state.copy()
        heard = np.empty(self.block.count, np.int32)
        vote(0, self.block.count, *self.rows, self.block.weights, offers, following, heard)
        self.changed = int(np.count_nonzero(following != self.state))
        self.state = following

    def sums(self) -> dict[str, float]:
        """Count the labels that changed."""
        return {"changed": float(self.changed)}

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of communities and the size of the largest."""
        from pyspark.sql import functions as F

        sizes = values.groupBy("value").count()
        found = sizes.agg(F.count("*"), F.max("count")).collect()[0]
        return {"communities": int(found[0]), "largest": int(found[1])}
