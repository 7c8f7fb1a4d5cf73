"""Recipes for rooted samples: the roots and certain vertices that an algorithm needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, IndexArray
from predict_graph.engines.local.kernel import WeightedSample
from predict_graph.graph import Graph
from predict_graph.graph.csr import edges_of
from predict_graph.iterations.rooted import sample
from samplers.search import largest

Inputs = Callable[[WeightedSample], Array]


@dataclass(frozen=True)
class Recipe:
    """How to sample a graph for one algorithm."""

    sampler: sample.RootedSampler
    inputs: Inputs | None = None
    level_std: float = 0.0
    iterations: int | None = None
    """Iterations that are known from passes over the graph."""


def recipe_of(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return the recipe of an algorithm: its own, or samples rooted in hubs, with paths from and to
    these roots.
    """
    own: Callable[[Algorithm, Graph], Recipe] | None = algorithm.part_of("rooted")
    return rooted(graph, middle_trees(graph)) if own is None else own(algorithm, graph)


def rooted(
    graph: Graph, trees: list[sample.HopTree], *certain: IndexArray, near: int = 0
) -> Recipe:
    """Return a recipe of trees, with the ends of the first one, hubs and some more vertices."""
    every = np.concatenate((deepest(graph, trees[0]), hubs(graph), *certain))
    return Recipe(sample.RootedSampler(graph, trees, every, near))


def middle_trees(
    graph: Graph, fewest: int = 2, most: int = 4, enough: float = 0.9
) -> list[sample.HopTree]:
    """Return shortest paths from, and to, hubs in the middle of the graph.

    Two roots where there are two, by the product of in- and out-degree: a sample of paths through
    one hub only would be a star. Then up to two that the root before does not reach, until nearly
    all vertices are reached: with at most four, two and one, 85, 92 and 98 iterations were
    estimated on a mesh for 84. Undirected trees serve both ways.
    """
    score = graph.out_degrees.astype(np.float64)
    score *= graph.in_degrees
    if not score.any():  # edges that lead nowhere: senders on one side, receivers on the other
        score = graph.out_degrees.astype(np.float64)
    trees: list[sample.HopTree] = []
    reached = np.zeros(graph.vertices, bool)
    for number in range(most):
        root = int(score.argmax())
        if trees and score[root] <= 0.0:
            break
        tree = sample.hop_tree(graph, root)
        trees.append(tree)
        reached |= tree.reached
        if graph.directed:
            trees.append(sample.hop_tree(graph, root, backward=True))
        if number + 1 < fewest:
            score[root] = 0.0
            continue
        score[tree.reached] = 0.0
        if np.count_nonzero(reached) > enough * graph.vertices:
            break
        if np.count_nonzero(score) < (1.0 - enough) * graph.vertices:
            break
    return trees


def deepest(
    graph: Graph, tree: sample.HopTree, share: float = 0.003, most: int = 1 << 16
) -> IndexArray:
    """Return the vertices that are farthest from the root, which are the last to change."""
    return largest(tree.distance, max(min(int(share * graph.vertices), most), 1))


def hubs(graph: Graph, share: float = 0.001, most: int = 1 << 13) -> IndexArray:
    """Return the vertices with most out-edges, which send most of the messages.

    All hubs of R-MAT 26 hold 10% of its edges among them; `most` hold 1%.
    """
    return largest(graph.out_degrees, max(min(int(share * graph.vertices), most), 1))


class RepresentedSampler(sample.RootedSampler):
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
