"""How triangle counting is sampled: with a vertex in place of each neighbour that is missing.

Its iterations are known. What it sends and how much there is to look up hangs on the degrees of
vertices and of their neighbours, so that every vertex of a sample keeps all its edges; one to a
vertex that is not in the sample leads to another of about the same degree, and with about as many
neighbours above it. Which triangles there are is of no matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.builtin.triangle_count.local import TriangleCountKernel
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler

__all__ = ["recipe"]


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges."""
    kernel = TriangleCountKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((kernel.above, graph.out_degrees))
    return Recipe(RepresentedSampler(graph, order), graph.edges)
