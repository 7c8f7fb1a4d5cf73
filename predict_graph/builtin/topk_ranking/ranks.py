"""The first two iterations of PageRank, where they are needed."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.graph import Graph

__all__ = ["first_ranks", "sampled_ranks"]

FloatArray = npt.NDArray[np.float64]


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
    """Return the rank of some vertices after one iteration more; cost: their inbound edges."""
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
