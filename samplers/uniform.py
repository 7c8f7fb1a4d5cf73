"""Uniform vertices: the baseline that ignores the edges."""

from __future__ import annotations

import numpy as np

from samplers.base import Sampler, Visits
from samplers.csr import CSRArrays
from samplers.splitmix import State


class UniformVertices(Sampler):
    """Vertices drawn uniformly without replacement.

    Keeps no connectivity, so it shows what the walks gain (Leskovec and Faloutsos, KDD 2006,
    section 3.1: random node).
    """

    name = "uniform"

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        generator = np.random.default_rng(int(state[0]))
        vertices = generator.choice(graph.vertices, target, replace=False)
        edges = np.cumsum(graph.indptr[vertices + 1] - graph.indptr[vertices])
        found = max(int(np.searchsorted(edges, max_edges, side="right")), 1)
        return Visits(
            vertices[:found].astype(graph.indices.dtype),
            steps=found,
            edges_scanned=int(edges[found - 1]),
            capped=found < target,
        )
