"""A smaller graph that costs as much an edge and a vertex as the whole one.

A walk sample is denser or sparser than its graph, so that costs of vertices and costs of edges,
which its run shows together, are hard to tell apart. Folding keeps their proportion: every f-th
vertex keeps all its out-edges, and the vertices that they lead to are laid on top of each other, f
to one. Out-degrees stay as they are; the structure does not, so it serves only to measure what a
superstep costs of an algorithm whose supersteps all do the same work.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph

__all__ = ["folded", "folded_vertices"]


def folded(graph: AnyGraph, ratio: float, rng: np.random.Generator) -> Graph:
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
    kept = folded_vertices(graph.out_degrees, ratio)
    rows = graph.rows if isinstance(graph, ClusterGraph) else graph
    assert rows is not None  # fetched before the cluster was left
    # Neighbouring ids stay neighbours, as they compress and as they lie in memory.
    place = (np.arange(n) + rng.integers(size)) % size
    place[kept] = _distinct(place[kept], size)
    lengths = rows.out_degrees[kept]
    in_order = np.argsort(place[kept])
    kept, lengths = kept[in_order], lengths[in_order]
    starts = np.cumsum(lengths) - lengths
    positions = np.repeat(rows.indptr[kept] - starts, lengths) + np.arange(int(lengths.sum()))
    targets = place[rows.indices[positions]].astype(rows.indices.dtype)
    weights = None if rows.weights is None else rows.weights[positions]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return Graph(indptr, targets, weights, directed=True, name=f"{graph.name} folded {ratio:g}")


def folded_vertices(out_degrees: npt.NDArray[np.integer], ratio: float) -> npt.NDArray[np.integer]:
    """Return the vertices that keep their edges in a folded graph, ascending.

    One of each group with about the same out-degree, the one in the middle: a random choice would
    have many edges too many, or too few, where hubs have most of them.
    """
    n = len(out_degrees)
    size = max(round(n * ratio), 1)
    by_degree = np.argsort(out_degrees, kind="stable")
    return np.sort(by_degree[((np.arange(size) + 0.5) * n / size).astype(np.int64)])


def _distinct(places: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.integer]:
    """Return places of which no two are the same: where two are, one moves to a free one."""
    result = places.copy()
    _, first = np.unique(places, return_index=True)
    moving = np.ones(len(places), bool)
    moving[first] = False
    free = np.ones(size, bool)
    free[places[first]] = False
    result[moving] = np.flatnonzero(free)[: int(moving.sum())]
    return result
