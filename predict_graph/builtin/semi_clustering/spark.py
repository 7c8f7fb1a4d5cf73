"""Semi-clustering on a block (PREDIcT, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.semi_clustering.definition import SemiClustering
from predict_graph.builtin.semi_clustering.local import Clusters, singletons, superstep
from predict_graph.engines.spark.blocks.program import BlockProgram


class SemiClusteringProgram(BlockProgram):
    """Every vertex sends its best semi-clusters, and adds itself to received ones."""

    algorithm: SemiClustering
    kept = ("state", "lists", "updated")

    def first(self, prior: Array | None) -> None:
        """Let every vertex hold the semi-cluster of itself."""
        parameters: Any = self.algorithm.parameters
        block = self.block
        v_max, factor = int(parameters["v_max"]), float(parameters["boundary_factor"])
        indptr, sources = self.rows
        weights = block.weights if len(block.weights) else np.ones(len(sources), np.float32)
        owners = np.repeat(np.arange(block.count), np.diff(indptr))
        others = sources != owners  # columns begin with the own vertices
        # Integers where there are no edges, for which another superstep would be compiled.
        self._degrees = np.bincount(owners[others], weights[others], block.count).astype(float)
        self._graph = (indptr, block.ids[sources], block.weights)
        self._limits = (v_max, factor, float(weights.max(initial=1.0)))
        self.state, self.lists = (
            singletons(int(parameters[name]), block.rows, v_max, self._degrees)
            for name in ("s_max", "c_max")
        )
        self.updated = 0

    def receive(self, offers: Clusters, senders: Array, sums: Mapping[str, Any]) -> None:
        """Extend the received semi-clusters."""
        n = self.block.count
        counts = updated, _ = np.zeros((2, n), np.int32)
        rows = (0, n, self._graph, self.rows[1], self.block.rows)
        state = (self._degrees, offers, self.state, self.lists)
        superstep(*rows, self._limits, *state, *counts)
        self.updated = int(updated.sum())

    def sums(self) -> dict[str, Any]:
        """Sum the changed list entries, all entries, and their scores; find the best."""
        scores, sizes = self.lists.scores, self.lists.sizes
        held = sizes > 0
        best = (-np.inf, 0, 0)
        if len(scores):
            v = int(scores[:, 0].argmax())
            best = (float(scores[v, 0]), -int(self.block.rows[v]), int(sizes[v, 0]))
        return {
            "updated": float(self.updated),
            "held": float(np.count_nonzero(held)),
            "total_score": float(scores[held].sum()),
            "best": best,
        }

    @classmethod
    def convergence(cls, sums: Mapping[str, Any], vertices: int) -> float:
        """Return the share of list entries that changed."""
        return float(sums["updated"] / max(sums["held"], 1.0))

    @staticmethod
    def width(algorithm: SemiClustering) -> int:
        """Return the most members of a semi-cluster."""
        parameters: Any = algorithm.parameters
        return int(parameters["v_max"])

    def values(self) -> Array:
        """Return the members of the best semi-cluster of each vertex, -1 for none."""
        return self.lists.members[:, 0]

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the score and the size of the best semi-cluster, and the mean score of lists."""
        score, _, size = sums[-1]["best"]
        mean = sums[-1]["total_score"] / sums[-1]["held"]
        return {"best_score": score, "best_size": size, "mean_score": mean}
