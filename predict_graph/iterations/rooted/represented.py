"""Samples whose vertices keep all their edges, with substitutes for missing neighbours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.graph.csr import edges_of
from predict_graph.iterations.rooted.recipes import hubs
from predict_graph.iterations.rooted.sample import (
    RootedSample,
    RootedSampler,
    small_neighbours,
)

IntArray = npt.NDArray[np.integer]


class RepresentedSampler(RootedSampler):
    """Draws samples in which an edge to a missing neighbour leads to a similar vertex.

    `order` lists all vertices with similar ones next to each other.
    """

    def __init__(self, graph: Graph, order: IntArray, near: int = 0) -> None:
        super().__init__(graph, [], hubs(graph), near)
        is_other = np.ones(graph.vertices, bool)
        is_other[self.certain] = False
        self._order = order[is_other[order]]

    def draw(self, size: int, rng: np.random.Generator) -> RootedSample:
        """Return a sample of the hubs and of `size` vertices, one from each stratum of the order.

        Its graph has the edges of the whole graph in each row, but since some lead to substitutes,
        it is not symmetric.
        """
        graph, order = self.graph, self._order
        size = min(max(size, 1), len(order))
        cuts = np.linspace(0, len(order), size + 1).astype(np.int64)
        drawn = order[rng.integers(cuts[:-1], cuts[1:])]
        members = np.zeros(graph.vertices, bool)
        members[self.certain] = True
        members[drawn] = True
        members[small_neighbours(graph, np.flatnonzero(members), self.near)] = True
        vertices = np.flatnonzero(members)
        weights = np.zeros(len(vertices))
        weights[np.searchsorted(vertices, self.certain)] = 1.0
        weights[np.searchsorted(vertices, drawn)] = np.diff(cuts)
        place = np.empty(graph.vertices, graph.indices.dtype)
        place[vertices] = np.arange(len(vertices))
        at = np.flatnonzero(members[order])
        if len(at):
            halves = (at[:-1] + at[1:] + 1) // 2
            nearest = np.diff(np.concatenate(([0], halves, [len(order)])))
            place[order] = np.repeat(place[order[at]], nearest)
        degrees, edges = edges_of(graph.indptr, vertices)
        starts = np.concatenate(([0], np.cumsum(degrees)))
        kept = None if graph.weights is None else graph.weights[edges]
        rows = Graph(starts, place[graph.indices[edges]], kept, directed=True)
        return RootedSample(vertices, rows, weights, degrees)
