"""Rooted samples: uniform vertices, and the shortest paths that join them to roots.

The subgraph of a tenth of the vertices does not preserve distances. A rooted sample adds the
vertices on a shortest path from a root, a hub in the middle of the graph, to each drawn vertex, so
that its distance from the root is that of the whole graph. Added vertices have weight 0; results
are observed at the drawn vertices, which represent all others. A recipe says which roots, and which
vertices in any case, an algorithm needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, BoolArray, FloatArray, IndexArray, IntArray
from predict_graph.engines.local.kernel import WeightedSample
from predict_graph.graph.csr import Graph, edge_weights, edges_of
from samplers.search import breadth_first, largest


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


class RepresentedSampler(RootedSampler):
    """Draws samples in which an edge to a missing neighbour leads to a similar vertex.

    `order` lists all vertices with similar ones next to each other.
    """

    def __init__(self, graph: Graph, order: IndexArray, near: int = 0) -> None:
        super().__init__(graph, [], hubs(graph), near)
        is_other = np.ones(graph.vertices, bool)
        is_other[self.certain] = False
        self._order = order[is_other[order]]

    def draw(self, size: int, rng: np.random.Generator) -> WeightedSample:
        """Return a sample of the hubs and of `size` vertices, one from each stratum of the order.

        Its graph has the edges of the whole graph in each row, but since some lead to substitutes,
        it is not symmetric.
        """
        graph, order = self.graph, self._order
        size = min(max(size, 1), len(order))
        cuts = np.linspace(0, len(order), size + 1).astype(np.int64)
        drawn = order[rng.integers(cuts[:-1], cuts[1:])]
        members, weights = self._members(drawn, np.diff(cuts))
        vertices = np.flatnonzero(members)
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
        return self._sample(rows, vertices, weights[vertices])


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
    >>> import networkx
    >>> apart = networkx.disjoint_union(networkx.star_graph(5), networkx.path_graph(100))
    >>> depth_of(check_graph(apart)) is None
    True
    """
    if graph.vertices == 0:
        return None
    root = int(np.argmax(graph.out_degrees))
    tree = _search(graph, None if graph.directed else graph, root, root + 1)
    reaches_most = 2 * np.count_nonzero(tree.reached) >= graph.vertices
    return int(tree.distance.max()) if reaches_most else None


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


@dataclass(frozen=True)
class Recipe:
    """How to sample a graph for one algorithm."""

    sampler: RootedSampler
    inputs: Callable[[WeightedSample], Array] | None = None
    level_std: float = 0.0
    std: float = 0.0
    """Of log(predicted / true), if that is more than of most graphs."""
    fewest: int = 0
    """Iterations that passes over the graph show: at least so many, or `exact`."""
    exact: bool = False


def recipe_of(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return the recipe of an algorithm: its own, or samples rooted in hubs, with paths from and to
    these roots.
    """
    own: Callable[[Algorithm, Graph], Recipe] | None = algorithm.part_of("rooted")
    return by_trees(graph, middle_trees(graph)) if own is None else own(algorithm, graph)


def by_trees(graph: Graph, trees: list[HopTree], *certain: IndexArray, near: int = 0) -> Recipe:
    """Return a recipe of trees, with the ends of the first one, hubs and some more vertices."""
    every = np.concatenate((deepest(graph, trees[0]), hubs(graph), *certain))
    return Recipe(RootedSampler(graph, trees, every, near))


def middle_trees(
    graph: Graph, fewest: int = 2, most: int = 4, enough: float = 0.9
) -> list[HopTree]:
    """Return shortest paths from, and to, hubs in the middle of the graph.

    Two roots where there are two, by the product of in- and out-degree: a sample of paths through
    one hub only would be a star. Then up to two that those before do not reach, until nearly
    all vertices are reached: with at most four, two and one, 85, 92 and 98 iterations were
    estimated on a mesh for 84. Undirected trees serve both ways; if two do not reach nearly all
    vertices that have edges, a tree of each component follows.
    """
    score = graph.out_degrees.astype(np.float64) * graph.in_degrees
    if not score.any():  # edges that lead nowhere: senders on one side, receivers on the other
        score = graph.out_degrees.astype(np.float64)
    trees: list[HopTree] = []
    reached = np.zeros(graph.vertices, bool)
    for number in range(most):
        root = int(score.argmax())
        if trees and score[root] <= 0.0:
            break
        tree = hop_tree(graph, root)
        trees.append(tree)
        reached |= tree.reached
        if graph.directed:
            trees.append(hop_tree(graph, root, backward=True))
        if number + 1 < fewest:
            score[root] = 0.0
            continue
        score[reached] = 0.0
        if np.count_nonzero(score) < (1.0 - enough) * graph.vertices:
            break
        if not graph.directed:
            return [*trees, component_trees(graph)]
    return trees


def deepest(graph: Graph, tree: HopTree, share: float = 0.003, most: int = 1 << 16) -> IndexArray:
    """Return the vertices that are farthest from the root, which are the last to change."""
    return largest(tree.distance, max(min(int(share * graph.vertices), most), 1))


def hubs(graph: Graph, share: float = 0.001, most: int = 1 << 13) -> IndexArray:
    """Return the vertices with most out-edges, which send most of the messages.

    All hubs of R-MAT 26 hold 10% of its edges among them; `most` hold 1%.
    """
    return largest(graph.out_degrees, max(min(int(share * graph.vertices), most), 1))
