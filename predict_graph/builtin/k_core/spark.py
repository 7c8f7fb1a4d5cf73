"""Core numbers on a block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.k_core.definition import KCore
from predict_graph.builtin.k_core.local import first_estimates, lower, members
from predict_graph.engines.spark.blocks.program import BlockProgram


class KCoreProgram(BlockProgram):
    """Vertices whose estimate decreased send it; receivers update their own.

    The estimates of all neighbours count, so the boundary gets those of vertices that do not send
    as well.
    """

    algorithm: KCore
    all_known = True

    def first(self, prior: Array | None) -> None:
        """Set the estimates to the degrees."""
        self.state = first_estimates(self.block.degrees, self.algorithm.most)

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Lower the estimates."""
        every, changed = np.ones(self.block.count, np.uint8), np.zeros(self.block.count, np.uint8)
        rows = (0, self.block.count, *self.rows, False)
        lower(*rows, every, offers, self.state, changed)
        self.senders = changed.view(bool)

    def sums(self) -> dict[str, Any]:
        """Count the decreased estimates, and the vertices of the k-core."""
        found, most = super().sums(), self.algorithm.most
        if most is not None:
            found["members"] = int(np.count_nonzero(self.state == most))
        return found

    def values(self) -> Array:
        """Return the core number, or 1 for the k-core and 0 for the others."""
        return members(self.state, self.algorithm.most).astype(np.int64)

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the largest core number and its vertices, or the vertices of the k-core."""
        from pyspark.sql import functions as F

        if "members" in sums[-1]:
            return {"members": sums[-1]["members"]}
        sizes = values.groupBy("value").count()
        found = sizes.agg(F.max(F.struct("value", "count"))).collect()[0][0]
        return {"degeneracy": int(found[0]), "innermost": int(found[1])}
