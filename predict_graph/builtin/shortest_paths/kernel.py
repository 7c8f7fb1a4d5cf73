"""Shortest paths on one graph, and on a block of one: rows of hops from each landmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import Array, IntArray
from predict_graph.builtin.merging import FAR, HOPS, EntriesKernel, MergingProgram
from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.engines.local.kernel import Footprint, Team, WeightedSample
from predict_graph.graph import Graph


class ShortestPathsKernel(EntriesKernel):
    """Shortest paths on one graph."""

    rule = HOPS

    def __init__(self, algorithm: ShortestPaths, graph: Graph, team: Team | None = None) -> None:
        n, self._algorithm = graph.vertices, algorithm
        super().__init__(graph, team, np.full((n, algorithm.count), FAR, np.int32))
        self._begin(algorithm.vertices_in(graph.out_degrees))

    @staticmethod
    def footprint(algorithm: ShortestPaths, id_bytes: int) -> Footprint:
        """Return its memory: two arrays of hops and one for the result, degrees, four marks.

        It includes the number of known landmarks of each vertex, and the sizes of messages.
        """
        return Footprint(4 * algorithm.count * 3 + 8 + 4 + 4 + 8)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The hops from each landmark, -1 where there is no path: (n,), or (n, landmarks)."""
        hops = np.where(self._state < FAR, self._state, np.int32(-1))
        return hops[:, 0] if hops.shape[1] == 1 else hops

    def summary(self) -> dict[str, Any]:
        """Return how many vertices a landmark reaches, and how many hops the farthest is away."""
        reached = self._state < FAR
        return {
            "reached": int(np.count_nonzero(reached.any(axis=1))),
            "farthest": int(self._state[reached].max()),
        }

    def stand_for(self, sample: WeightedSample) -> None:
        """Start at the landmarks of the whole graph, if they are in the sample."""
        known = self._algorithm.known
        if known is None or not np.isin(known, sample.vertices).all():
            return
        self._begin(np.searchsorted(sample.vertices, known))

    def _begin(self, landmarks: IntArray) -> None:
        """Set the landmarks to 0 hops, and let them send."""
        self._state.fill(FAR)
        self._state[landmarks, np.arange(len(landmarks))] = 0
        self._next[:] = self._state
        self._known[:] = np.count_nonzero(self._state < FAR, axis=1)
        self._senders[:] = self._known > 0


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
