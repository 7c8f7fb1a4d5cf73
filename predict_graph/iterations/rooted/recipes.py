"""What a rooted sample needs to hold for an algorithm: roots, certain vertices, companions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.kernels.neighborhood import hashed
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import HopTree, component_trees, hop_tree
from predict_graph.iterations.rooted.ranks import first_ranks, sampled_ranks
from predict_graph.iterations.rooted.sample import RootedSample, RootedSampler, small_neighbours
from predict_graph.plugins import Registry

__all__ = ["RECIPES", "Recipe", "recipe_of"]

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]
Inputs = Callable[[RootedSample], FloatArray | None]

_FEWEST_ROOTS, _MOST_ROOTS = 2, 4
_ENOUGH = 0.9  # of the vertices: further roots would add little
_MOST_RANK_ROOTS = 5
_HUB_SHARE = 0.001  # of the vertices
_SEED_SHARE = 0.005  # of the vertices
_MOST_SEEDS = 0.05  # of the vertices
_HOLDERS = 4  # of large hashes, for each register
_TAIL_SHARE = 0.003  # of the vertices


def _no_input(sample: RootedSample) -> FloatArray | None:
    """Return nothing: the algorithm has no prior."""
    return None


@dataclass(frozen=True)
class Recipe:
    """How to sample a graph for one algorithm.

    Parameters
    ----------
    sampler : RootedSampler
    root_visits : int
        Edges that were looked at to find the roots.
    inputs : callable
        Gives the result of the algorithm's prior on a sample, or None.
    """

    sampler: RootedSampler
    root_visits: int = 0
    inputs: Inputs = field(default=_no_input)

    @property
    def edge_visits(self) -> int:
        """Edges that were looked at to find roots and paths."""
        return self.root_visits + sum(tree.edge_visits for tree in self.sampler.trees)


RECIPES: Registry[Callable[[Any, Graph], Recipe]] = Registry(
    "recipe of a rooted sample",
    "predict_graph.rooted_recipes",
    {
        "connected-components": "predict_graph.iterations.rooted.recipes:for_components",
        "neighborhood": "predict_graph.iterations.rooted.recipes:for_neighborhood",
        "topk-ranking": "predict_graph.iterations.rooted.recipes:for_topk_ranking",
        "semi-clustering": "predict_graph.iterations.rooted.recipes:for_semi_clustering",
    },
)


def recipe_of(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return the recipe of an algorithm: its own, or the one for any algorithm."""
    if algorithm.name in RECIPES.names():
        return RECIPES.get(algorithm.name)(algorithm, graph)
    return for_any(algorithm, graph)


def for_any(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return samples rooted in the middle of the graph: paths from there, and to there."""
    trees = middle_trees(graph)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph)))
    return Recipe(RootedSampler(graph, trees, certain))


def for_components(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return samples rooted in the smallest id of each component: labels come from there."""
    tree = component_trees(graph)
    certain = np.concatenate((deepest(graph, tree), hubs(graph)))
    return Recipe(RootedSampler(graph, [tree], certain))


def for_neighborhood(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples that hold the vertices which decide the counters: the largest hashes.

    A counter changes for the last time when the largest hash that can reach it has done so.
    """
    trees = middle_trees(graph)
    certain = np.concatenate(
        (deepest(graph, trees[0]), hubs(graph), _largest_hashes(algorithm, graph))
    )
    return Recipe(RootedSampler(graph, trees, certain))


def for_topk_ranking(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples rooted in the highest ranks, and what ranks the sampled vertices have.

    Ranks of the whole graph are not known before PageRank has run on it. Two of its iterations
    tell well enough which are the highest: one pass over the graph, and the inbound edges of the
    sampled vertices.
    """
    first = first_ranks(graph, algorithm.prior)
    top = np.argsort(-first, kind="stable")[: max(10 * algorithm.k, 50)]
    second = sampled_ranks(graph, algorithm.prior, first, top)
    best = top[np.argsort(-second, kind="stable")]
    trees = [hop_tree(graph, int(root)) for root in best[: min(algorithm.k, _MOST_RANK_ROOTS)]]
    trees += middle_trees(graph)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph), top))

    def inputs(sample: RootedSample) -> FloatArray:
        return sampled_ranks(graph, algorithm.prior, first, sample.vertices)

    visits = graph.edges + int(graph.in_degrees[top].sum())
    return Recipe(RootedSampler(graph, trees, certain), visits, inputs)


def for_semi_clustering(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples that hold what is around small vertices: that is where semi-clusters begin.

    The score of two joined vertices is positive only if they have few other edges (equation 2), so
    the best semi-clusters, which spread over the whole graph, begin at the edges between the
    smallest vertices. Those are in every sample.
    """
    trees = middle_trees(graph)
    factor = float(algorithm.parameters["boundary_factor"])
    small = int(3.0 / factor)
    seeds = _smallest_pairs(graph, most_edges=2.0 + 1.0 / factor)
    around = small_neighbours(graph, seeds, 2 * small)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph), seeds, around))
    return Recipe(RootedSampler(graph, trees, certain, near=small))


def middle_trees(graph: Graph) -> list[HopTree]:
    """Return shortest paths from, and to, hubs in the middle of the graph.

    Two roots at least, by the product of in- and out-degree: a sample of paths through one hub only
    would be a star. Further ones are vertices that no earlier root reaches, until nearly all are
    reached. Undirected trees serve both ways.
    """
    score = graph.out_degrees.astype(np.float64) * graph.in_degrees
    if not score.any():  # edges that lead nowhere: senders on one side, receivers on the other
        score = graph.out_degrees.astype(np.float64)
    trees: list[HopTree] = []
    reached = np.zeros(graph.vertices, bool)
    for number in range(_MOST_ROOTS):
        root = int(score.argmax())
        if trees and score[root] <= 0.0:
            break
        tree = hop_tree(graph, root)
        trees.append(tree)
        reached |= tree.reached
        if graph.directed:
            trees.append(hop_tree(graph, root, backward=True))
        if number + 1 < _FEWEST_ROOTS:
            score[root] = 0.0
            continue
        score[tree.reached] = 0.0
        if np.count_nonzero(reached) > _ENOUGH * graph.vertices:
            break
        if np.count_nonzero(score) < (1.0 - _ENOUGH) * graph.vertices:
            break
    return trees


def deepest(graph: Graph, tree: HopTree) -> IntArray:
    """Return the vertices that are farthest from the root: they are the last to change."""
    count = max(int(_TAIL_SHARE * graph.vertices), 1)
    order: IntArray = np.argsort(-tree.distance, kind="stable")[:count]
    return order


def hubs(graph: Graph) -> IntArray:
    """Return the vertices with most out-edges: they send most of the messages."""
    count = max(int(_HUB_SHARE * graph.vertices), 1)
    order: IntArray = np.argsort(-graph.out_degrees, kind="stable")[:count]
    return order


def _smallest_pairs(graph: Graph, most_edges: float) -> IntArray:
    """Return the vertices with an edge whose ends have few edges together.

    All with less than `most_edges`, if those are few; otherwise the first of them.
    """
    together = _edges_of_smallest_pair(graph.indptr, graph.indices)
    order = np.argsort(together, kind="stable")
    able = int(np.count_nonzero(together < most_edges))
    if able > _MOST_SEEDS * graph.vertices:
        able = int(_SEED_SHARE * graph.vertices)
    chosen: IntArray = order[: max(able, 1)]
    return chosen


@numba.njit(cache=True, nogil=True)
def _edges_of_smallest_pair(indptr: Any, indices: Any) -> IntArray:
    """Return, for each vertex, its edges and those of its smallest neighbour together."""
    n = len(indptr) - 1
    together = np.full(n, np.iinfo(np.int64).max)
    for v in range(n):
        own = indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if w != v:
                together[v] = min(together[v], own + indptr[w + 1] - indptr[w])
    return together


def _largest_hashes(algorithm: Any, graph: Graph) -> IntArray:
    """Return the vertices with the largest hashes in each register of a counter."""
    counters = hashed(np.arange(graph.vertices), algorithm.registers)
    most = np.argsort(-counters.max(axis=1).astype(np.int64), kind="stable")
    return most[: _HOLDERS * algorithm.registers]
