"""Sampling for semi-clustering: the surroundings of its smallest vertices."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs, middle_trees
from predict_graph.iterations.rooted.sample import RootedSampler, small_neighbours

IntArray = npt.NDArray[np.integer]

_SEED_SHARE = 0.005  # of the vertices: trades off overhead for error (docs/studies/constants.md)
_MOST_SEEDS = 0.05  # of the vertices: limits overhead (docs/studies/constants.md)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples of the surroundings of small vertices, where semi-clusters start.

    The score of two joined vertices is positive only if they have few other edges (equation 2), so
    the best semi-clusters, which spread over the whole graph, start at the edges between the
    smallest vertices. Those are in every sample.
    """
    trees = middle_trees(graph)
    factor = float(algorithm.parameters["boundary_factor"])
    small = int(3.0 / factor)
    seeds = _smallest_pairs(graph, most_edges=2.0 + 1.0 / factor)
    around = small_neighbours(graph, seeds, 2 * small)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph), seeds, around))
    return Recipe(RootedSampler(graph, trees, certain, near=small))


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
    """Return, for each vertex, the degree of it and its smallest neighbour together."""
    n = len(indptr) - 1
    together = np.full(n, np.iinfo(np.int64).max)
    for v in range(n):
        own = indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if w != v:
                together[v] = min(together[v], own + indptr[w + 1] - indptr[w])
    return together
