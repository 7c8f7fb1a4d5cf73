"""Uniform vertices: the baseline that ignores the edges."""

from __future__ import annotations

import numpy as np
from numba import njit

from samplers._random import State
from samplers.base import Sampler, Visits
from samplers.csr import CSRArrays, IntArray
from samplers.walk import Marks, unvisited


class UniformVertices(Sampler):
    """Vertices drawn uniformly without replacement.

    Keeps no connectivity, so it shows what the walks gain (Leskovec and Faloutsos, KDD 2006,
    section 3.1: random node).
    """

    name = "uniform"

    def __init__(self) -> None:
        pass

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        vertices = np.empty(target, dtype=graph.indices.dtype)
        found, edges, capped = _draw(
            graph.indptr, max_edges, state, np.zeros(graph.vertices, dtype=np.uint8), vertices
        )
        return Visits(vertices[:found], steps=found, edges_scanned=edges, capped=capped)


@njit(cache=True, nogil=True)
def _draw(
    indptr: IntArray, max_edges: int, state: State, visited: Marks, vertices: IntArray
) -> tuple[int, int, bool]:
    edges = 0
    for found in range(vertices.size):
        v = unvisited(state, visited)
        degree = indptr[v + 1] - indptr[v]
        if found > 0 and edges + degree > max_edges:
            return found, edges, True
        visited[v] = 1
        vertices[found] = v
        edges += degree
    return vertices.size, edges, False
