"""Shortest paths on a block: rows of hops from each landmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.block_merging import MergingProgram
from predict_graph.builtin.merging import FAR, HOPS
from predict_graph.builtin.shortest_paths.definition import ShortestPaths


class ShortestPathsProgram(MergingProgram):
    """Vertices with shorter paths send their hops; a vertex takes the minimum, plus one."""

    algorithm: ShortestPaths
    rule = HOPS

    def first(self, prior: Array | None) -> None:
        """Set the landmarks to 0 hops."""
        landmarks = self.algorithm.known
        assert landmarks is not None
        here = self.block.rows[:, None] == landmarks
        self.state = np.where(here, 0, FAR).astype(np.int32)
        self.senders = here.any(axis=1)

    @staticmethod
    def width(algorithm: ShortestPaths) -> int:
        """Return the number of landmarks."""
        return algorithm.count

    def sums(self) -> dict[str, float]:
        """Count the vertices with shorter paths, and those that a landmark reaches."""
        reached = np.count_nonzero((self.state < FAR).any(axis=1))
        return {**super().sums(), "reached": float(reached)}

    def values(self) -> Array:
        """Return the hops from each landmark, -1 where there is no path."""
        return np.where(self.state < FAR, self.state, -1).astype(np.int64)

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many vertices a landmark reaches, and how many hops the farthest is away."""
        farthest = values.agg(dict.fromkeys(values.columns[1:], "max")).collect()[0]
        return {"reached": int(sums[-1]["reached"]), "farthest": max(farthest)}
