"""Shortest paths on one graph: rows of hops from each landmark."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IntArray
from predict_graph.builtin.merging import FAR, HOPS, EntriesKernel
from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.engines.local.kernel import Footprint, Weighting
from predict_graph.engines.local.team import Team
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

    def stand_for(self, weighting: Weighting) -> None:
        """Start at the landmarks of the whole graph, if they are in the sample."""
        known = self._algorithm.known
        if known is None or not np.isin(known, weighting.vertices).all():
            return
        self._begin(np.searchsorted(weighting.vertices, known))

    def _begin(self, landmarks: IntArray) -> None:
        """Set the landmarks to 0 hops, and let them send."""
        self._state.fill(FAR)
        self._state[landmarks, np.arange(len(landmarks))] = 0
        self._next[:] = self._state
        self._known[:] = np.count_nonzero(self._state < FAR, axis=1)
        self._senders[:] = self._known > 0
