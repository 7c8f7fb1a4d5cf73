"""Sampling for top-k ranking: from the highest ranks, and with ranks of the sampled vertices."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import hop_tree
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs, largest, middle_trees
from predict_graph.iterations.rooted.sample import RootedSample, RootedSampler

FloatArray = npt.NDArray[np.float64]

_MOST_RANK_ROOTS = 5  # limits overhead: docs/studies/constants.md


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples rooted in the highest ranks, with ranks of the sampled vertices.

    Ranks of the whole graph are unknown before PageRank has run on it. Two of its iterations
    approximate the highest ones: one pass over the graph, and the inbound edges of the sampled
    vertices.
    """
    first = first_ranks(graph, algorithm.prior)
    top = largest(first, max(10 * algorithm.k, 50))  # many more candidates than k
    second = sampled_ranks(graph, algorithm.prior, first, top)
    best = top[np.argsort(-second, kind="stable")]
    trees = [hop_tree(graph, int(root)) for root in best[: min(algorithm.k, _MOST_RANK_ROOTS)]]
    trees += middle_trees(graph)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph), top))

    def inputs(sample: RootedSample) -> FloatArray:
        return sampled_ranks(graph, algorithm.prior, first, sample.vertices)

    visits = graph.edges + int(graph.in_degrees[top].sum())
    return Recipe(RootedSampler(graph, trees, certain), visits, inputs)


def first_ranks(graph: Graph, algorithm: PageRank) -> FloatArray:
    """Return the rank of each vertex after one iteration, shape (n,); one pass over the edges."""
    n = graph.vertices
    degrees = graph.out_degrees
    offers = algorithm.damping / n / np.maximum(degrees, 1)
    reverse = graph.reverse
    received: FloatArray = _received(reverse.indptr, reverse.indices, np.arange(n), offers)
    return (1.0 - algorithm.damping) / n + received


def sampled_ranks(
    graph: Graph, algorithm: PageRank, ranks: FloatArray, vertices: npt.NDArray[np.integer]
) -> FloatArray:
    """Return the rank of some vertices after one more iteration; it reads their inbound edges."""
    offers = algorithm.damping * ranks / np.maximum(graph.out_degrees, 1)
    reverse = graph.reverse
    received: FloatArray = _received(reverse.indptr, reverse.indices, vertices, offers)
    return (1.0 - algorithm.damping) / graph.vertices + received


@numba.njit(cache=True, nogil=True)
def _received(indptr: Any, sources: Any, vertices: Any, offers: Any) -> FloatArray:
    received = np.zeros(len(vertices))
    for i in range(len(vertices)):
        v = vertices[i]
        total = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            total += offers[sources[e]]
        received[i] = total
    return received
