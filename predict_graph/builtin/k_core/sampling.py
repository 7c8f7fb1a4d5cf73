"""How core numbers are sampled: with a vertex in place of each neighbour that is missing.

An estimate is what enough neighbours are at, and a vertex of a subgraph has lost most of its
neighbours. So every vertex of the sample keeps all its edges; one to a vertex that is not in the
sample leads to another that stands for it, of the same estimate after the first superstep, and of
about the same degree. Those estimates are known after one pass over the edges.

What a sample cannot show is how a run ends: estimates fall on in a handful of vertices, along some
chain, long after they have settled everywhere else. The rounds of peeling, counted in one pass over
the edges, are a lower bound that is near.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.builtin.k_core.local import KCoreKernel
from predict_graph.builtin.k_core.peeling import peeling_rounds
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler

__all__ = ["recipe"]

# Of log(true iterations / rounds of peeling), over 25 graphs: docs/iterations.md.
_PEELING_BIAS, _PEELING_STD = 0.19, 0.19


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and the iterations by peeling."""
    kernel = KCoreKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((graph.out_degrees, kernel.estimates, graph.out_degrees > 0))
    return Recipe(
        RepresentedSampler(graph, order),
        graph.edges,
        fewest=peeling_rounds(graph, algorithm.most),
        fewest_bias=_PEELING_BIAS,
        fewest_std=_PEELING_STD,
    )
