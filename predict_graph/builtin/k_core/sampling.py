"""How core numbers are sampled: with a vertex in place of each neighbour that is missing.

An estimate is what enough neighbours are at, and a vertex of a subgraph has lost most of its
neighbours. So every vertex of the sample keeps all its edges; one to a vertex that is not in the
sample leads to another that stands for it, of the same estimate after the first superstep, and of
about the same degree. Those estimates are known after one pass over the edges.

What a sample cannot show is how a run ends: estimates fall on in a handful of vertices, along some
chain, long after they have settled everywhere else. The share that falls is continued as it fell
while the sample had enough vertices to tell it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.builtin.k_core.local import KCoreKernel
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler

__all__ = ["recipe"]

# Of log(iterations as continued / true): 26 samples of 13 graphs (docs/iterations.md).
_TAIL_STD = 0.55


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and a run that goes on after theirs."""
    kernel = KCoreKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((graph.out_degrees, kernel.estimates, graph.out_degrees > 0))
    return Recipe(RepresentedSampler(graph, order), graph.edges, tail_std=_TAIL_STD)
