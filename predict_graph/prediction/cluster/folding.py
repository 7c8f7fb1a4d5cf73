"""A smaller graph that costs as much an edge and a vertex as the whole one.

A walk sample is denser or sparser than its graph, so that costs of vertices and costs of edges,
which its run shows together, are hard to tell apart. Folding keeps their proportion: every f-th
vertex keeps all its out-edges, and the vertices that they lead to are laid on top of each other, f
to one. Out-degrees stay as they are; the structure does not, so it serves only to measure what a
superstep costs of an algorithm whose supersteps all do the same work.
"""

from __future__ import annotations

import numpy as np

from predict_graph.graph import Graph

__all__ = ["folded"]


def folded(graph: Graph, ratio: float, rng: np.random.Generator) -> Graph:
    """Return a graph with about `ratio` of the vertices and of the edges.

    Parameters
    ----------
    graph : Graph
    ratio : float
        In (0, 1].
    rng : Generator
        Chooses which vertices come to lie on each other.
    """
    n = graph.vertices
    size = max(round(n * ratio), 1)
    order = rng.permutation(n)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) % size
    kept = np.sort(order[:size])
    lengths = graph.out_degrees[kept]
    starts = np.cumsum(lengths) - lengths
    positions = np.repeat(graph.indptr[kept] - starts, lengths) + np.arange(int(lengths.sum()))
    by_place = np.argsort(place[kept], kind="stable")
    rows = np.repeat(place[kept], lengths)
    in_order = np.argsort(rows, kind="stable")
    degrees = np.zeros(size, np.int64)
    degrees[place[kept][by_place]] = lengths[by_place]
    targets = place[graph.indices[positions[in_order]]].astype(graph.indices.dtype)
    weights = None if graph.weights is None else graph.weights[positions[in_order]]
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    return Graph(indptr, targets, weights, directed=True, name=f"{graph.name} folded {ratio:g}")
