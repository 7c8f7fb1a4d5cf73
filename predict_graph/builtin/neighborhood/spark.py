"""Neighborhood estimation on a block: the union of HyperLogLog counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.block_merging import MergingProgram
from predict_graph.builtin.merging import MAXIMUM
from predict_graph.builtin.neighborhood.definition import Neighborhood
from predict_graph.builtin.neighborhood.local import effective_diameter, hashed, settle


class NeighborhoodProgram(MergingProgram):
    """Vertices send counters that changed; a vertex takes the maximum of each register."""

    algorithm: Neighborhood
    rule = MAXIMUM
    kept = ("state", "estimates")
    kind = "double"

    def first(self, prior: Array | None) -> None:
        """Set counters that hold their own vertex."""
        self.state = hashed(np.asarray(self.block.rows), self.algorithm.registers)
        self.senders = np.ones(self.block.count, bool)
        self.estimates = np.empty(self.block.count)
        self._settle()

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Merge counters, and estimate those that changed."""
        super().receive(offers, senders, sums)
        self._settle()

    def _settle(self) -> None:
        assert self.senders is not None
        bounds = np.array([0, self.block.count])
        arrays = (self.state, self.state, self.estimates, np.zeros(1))
        settle(0, 1, bounds, self.senders.view(np.uint8), *arrays)

    def sums(self) -> dict[str, float]:
        """Count the changed counters, and sum the estimates."""
        return {**super().sums(), "reached": float(self.estimates.sum())}

    def values(self) -> Array:
        """Return the estimated number of vertices that reach each vertex."""
        return self.estimates

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the neighbourhood function, for 0, 1, … hops, and the effective diameter."""
        reached = [found["reached"] for found in sums]
        return {
            "neighborhood_function": reached,
            "effective_diameter": effective_diameter(np.array(reached)),
        }
