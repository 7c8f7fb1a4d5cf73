"""A vertex program for the study of memory: hops from vertex 0 and whether they changed."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import ALGORITHMS, VertexProgram


@ALGORITHMS.register("hops")
class Hops(VertexProgram):
    """Hops from vertex 0 along the edges."""

    name = "hops"
    summary = "hops from vertex 0"
    combiner = "min"

    def initial(self, graph):  # type: ignore[no-untyped-def]
        """Return 0 for vertex 0, and no path for the others."""
        state = np.full(graph.vertices, np.inf)
        state[0] = 0.0
        return state

    def message(self, state, graph):  # type: ignore[no-untyped-def]
        """Send one hop more."""
        return state + 1.0

    def update(self, state, combined, received):  # type: ignore[no-untyped-def]
        """Take the shorter way."""
        return np.minimum(state, combined)
