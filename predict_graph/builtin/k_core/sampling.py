"""Sampling for core numbers, with a substitute for each neighbour outside the sample.

An estimate depends on the estimates of enough neighbours, and a vertex of a subgraph has lost most
of its neighbours. Every vertex of the sample therefore keeps all its edges: an edge to a vertex
outside the sample leads to a substitute with the same estimate after the first superstep and about
the same degree. One pass over the edges finds these estimates.

A sample cannot show how a run ends: estimates of a few vertices keep decreasing along some chain,
long after all others have settled. The rounds of peeling, counted in one pass over the edges, are a
close lower bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.builtin.k_core.local import KCoreKernel
from predict_graph.builtin.k_core.peeling import peeling_rounds
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler

# Of log(true iterations / rounds of peeling), measured on 25 graphs: docs/iterations.md.
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
