"""How top-k ranking is sampled: from the highest ranks, and with ranks of the sampled vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.topk_ranking.ranks import first_ranks, sampled_ranks
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import hop_tree
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs, largest, middle_trees
from predict_graph.iterations.rooted.sample import RootedSample, RootedSampler

__all__ = ["recipe"]

FloatArray = npt.NDArray[np.float64]

_MOST_RANK_ROOTS = 5  # judgement: docs/studies/constants.md


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples rooted in the highest ranks, and what ranks the sampled vertices have.

    Ranks of the whole graph are not known before PageRank has run on it. Two of its iterations
    tell well enough which are the highest: one pass over the graph, and the inbound edges of the
    sampled vertices.
    """
    first = first_ranks(graph, algorithm.prior)
    top = largest(first, max(10 * algorithm.k, 50))  # judgement: far more than k
    second = sampled_ranks(graph, algorithm.prior, first, top)
    best = top[np.argsort(-second, kind="stable")]
    trees = [hop_tree(graph, int(root)) for root in best[: min(algorithm.k, _MOST_RANK_ROOTS)]]
    trees += middle_trees(graph)
    certain = np.concatenate((deepest(graph, trees[0]), hubs(graph), top))

    def inputs(sample: RootedSample) -> FloatArray:
        return sampled_ranks(graph, algorithm.prior, first, sample.vertices)

    visits = graph.edges + int(graph.in_degrees[top].sum())
    return Recipe(RootedSampler(graph, trees, certain), visits, inputs)
