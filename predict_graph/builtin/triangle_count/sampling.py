"""Sampling for triangle counting, with a substitute for each neighbour outside the sample.

The iterations are fixed. Messages and look-ups depend on the degrees of vertices and of their
neighbours, so every vertex of a sample keeps all its edges: an edge to a vertex outside the sample
leads to a substitute of about the same degree and with about as many neighbours above it. Which
triangles exist does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.builtin.triangle_count.local import TriangleCountKernel
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges."""
    kernel = TriangleCountKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((kernel.above, graph.out_degrees))
    return Recipe(RepresentedSampler(graph, order), graph.edges)
