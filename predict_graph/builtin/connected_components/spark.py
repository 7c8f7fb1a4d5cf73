"""Connected components on a block (PREDIcT, section 5; PEGASUS)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.engines.local.edge_loops import MIN, identity, pull
from predict_graph.engines.spark.blocks.program import BlockProgram

_NONE, _NO_WEIGHTS = np.empty(0, np.uint8), np.empty(0, np.float32)


class ComponentsProgram(BlockProgram):
    """Vertices whose label decreased send it; a vertex takes the smallest label that it
    receives.
    """

    algorithm: ConnectedComponents

    def first(self, prior: Array | None) -> None:
        """Set the label of each vertex to its own id."""
        self.state = np.array(self.block.rows, np.int64)

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Take the smallest received label where it is lower."""
        nothing = identity(MIN, offers.dtype)
        offers[senders == 0] = nothing
        received, heard = np.empty_like(self.state), np.empty(0, bool)
        rows = (self.rows[0], self.rows[1].view(np.uint32), _NO_WEIGHTS)
        pull(0, self.block.count, MIN, *rows, offers, _NONE, nothing, received, heard, False)
        self.senders = received < self.state
        self.state = np.minimum(self.state, received)

    def sums(self) -> dict[str, float]:
        """Count the decreased labels, and the vertices whose label is their own id."""
        components = np.count_nonzero(self.state == self.block.rows)
        return {**super().sums(), "components": float(components)}

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        largest = values.groupBy("value").count().agg({"count": "max"}).collect()[0][0]
        return {"components": int(sums[-1]["components"]), "largest": int(largest)}
