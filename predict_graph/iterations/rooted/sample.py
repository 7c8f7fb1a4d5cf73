"""Rooted samples: uniform vertices, and the shortest paths that join them to roots.

The subgraph of a tenth of the vertices does not preserve distances. A rooted sample adds the
vertices on a shortest path from a root, a hub in the middle of the graph, to each drawn vertex, so
that its distance from the root is that of the whole graph. Added vertices have weight 0; results
are observed at the drawn vertices, which represent all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.arrays import BoolArray, FloatArray, IndexArray, IntArray
from predict_graph.engines.local.kernel import WeightedSample
from predict_graph.graph import Graph
from predict_graph.graph.csr import edge_weights, edges_of
from samplers.search import breadth_first


class RootedSampler:
    """Draws rooted samples of one graph.

    `certain` vertices are in every sample and represent themselves alone. With `near`, neighbours
    of drawn vertices are included with weight 0 if both have at most so many edges, for algorithms
    whose first iterations depend on the surroundings of small vertices.
    """

    def __init__(
        self, graph: Graph, trees: Sequence[HopTree], certain: IndexArray, near: int = 0
    ) -> None:
        self.graph = graph
        self.trees = list(trees)
        self.certain = np.unique(certain)
        self.near = near
        self._others = graph.vertices - len(self.certain)
        # The number of other vertices before each certain one.
        self._before = self.certain - np.arange(len(self.certain))

    def draw(self, size: int, rng: np.random.Generator) -> WeightedSample:
        """Return a sample of the certain vertices and `size` others."""
        size = min(size, self._others)
        drawn = rng.choice(self._others, size, replace=False, shuffle=False)
        drawn += np.searchsorted(self._before, drawn, side="right")
        members, weights = self._members(drawn, self._others / max(size, 1))
        for tree in self.trees:
            add_paths(members, tree.parent)
        vertices = np.flatnonzero(members)
        return self._sample(self.graph.subgraph(vertices), vertices, weights[vertices])

    def _members(self, drawn: IndexArray, each: Any) -> tuple[BoolArray, FloatArray]:
        """Return which vertices of the graph are in a sample, and the weights of all."""
        weights = np.zeros(self.graph.vertices)
        weights[drawn] = each
        weights[self.certain] = 1.0
        members = weights > 0.0
        members[small_neighbours(self.graph, np.flatnonzero(members), self.near)] = True
        return members, weights

    def _sample(self, rows: Graph, vertices: IndexArray, weights: FloatArray) -> WeightedSample:
        """Return the sample of some vertices, with these rows and weights."""
        graph = self.graph
        degrees, to_others = degrees_of(graph, vertices), edge_weights(graph, vertices)
        return WeightedSample(rows, vertices, weights, degrees, to_others)


def small_neighbours(graph: Graph, vertices: IndexArray, most: int) -> IndexArray:
    """Return the neighbours with at most `most` edges of vertices with at most so many."""
    _, places = edges_of(graph.indptr, vertices[degrees_of(graph, vertices) <= most])
    neighbours = graph.indices[places]
    return neighbours[degrees_of(graph, neighbours) <= most]


def degrees_of(graph: Graph, vertices: IndexArray) -> IntArray:
    """Return the out-degrees of some vertices."""
    return graph.indptr[vertices + 1] - graph.indptr[vertices]


@dataclass(frozen=True)
class HopTree:
    """Trees of shortest paths from one root or several."""

    distance: npt.NDArray[np.int32]
    parent: IndexArray

    @property
    def reached(self) -> BoolArray:
        """Whether a root reaches each vertex."""
        return self.distance >= 0

    @property
    def depth(self) -> int:
        """Largest distance."""
        return int(self.distance.max())


def hop_tree(graph: Graph, root: int, *, backward: bool = False) -> HopTree:
    """Return shortest paths from `root` along the edges, or to it if `backward`.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> hop_tree(check_graph("path:n=4"), 1).distance.tolist()
    [1, 0, 1, 2]
    """
    ahead, behind = (graph.reverse, graph) if backward else (graph, graph.reverse)
    return _search(ahead, behind, root, root + 1)


def component_trees(graph: Graph) -> HopTree:
    """Return shortest paths from the smallest id of each component of an undirected graph."""
    return _search(graph, graph, 0, graph.vertices)


def depth_of(graph: Graph) -> int | None:
    """Return the largest distance from the vertex with most out-edges.

    None if it reaches less than half of the vertices. The reverse of a directed graph, which may
    not exist yet, is not used.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> depth_of(check_graph("star:n=5")), depth_of(check_graph("path:n=9"))
    (1, 7)
    """
    if graph.vertices == 0:
        return None
    root = int(np.argmax(graph.out_degrees))
    tree = _search(graph, None if graph.directed else graph, root, root + 1)
    return tree.depth if 2 * np.count_nonzero(tree.reached) >= graph.vertices else None


def _search(ahead: Graph, behind: Graph | None, first: int, stop: int) -> HopTree:
    """Search along the rows of `ahead`, and in reverse along those of `behind` if given."""
    rows, known = ((each.indptr, each.indices) for each in (ahead, behind or ahead))
    return HopTree(*breadth_first(rows, known, first, stop, behind is not None))


@numba.njit(cache=True, nogil=True)
def add_paths(members: Any, parent: Any) -> None:
    """Add the vertices on the path from the root to each member to `members`, in place."""
    for v in np.flatnonzero(members):
        u = parent[v]
        while u >= 0 and not members[u]:
            members[u] = True
            u = parent[u]
