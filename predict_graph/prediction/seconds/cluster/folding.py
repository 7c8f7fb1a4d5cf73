"""Folding: a smaller graph with the costs per edge and vertex of the whole one.

A walk sample is denser or sparser than its graph, so its run cannot separate costs of vertices from
costs of edges. Folding keeps their proportion: every f-th vertex keeps all its out-edges, and
groups of f target vertices are merged into one. Out-degrees stay the same but the structure does
not, so it only serves to measure algorithms whose supersteps all do the same work.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph


def folded(graph: AnyGraph, ratio: float, rng: np.random.Generator) -> Graph:
    """Return a graph with about `ratio` of the vertices and of the edges."""
    n = graph.vertices
    size = max(round(n * ratio), 1)
    kept = folded_vertices(graph.out_degrees, ratio)
    rows = graph.rows if isinstance(graph, ClusterGraph) else graph
    assert rows is not None  # fetched from the cluster before
    # Neighbouring ids stay neighbours, which matters for compression and caching.
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

    These are the medians of groups with about the same out-degree: a random choice would have many
    edges too many, or too few, where hubs have most of them.
    """
    n = len(out_degrees)
    size = max(round(n * ratio), 1)
    by_degree = np.argsort(out_degrees, kind="stable")
    return np.sort(by_degree[((np.arange(size) + 0.5) * n / size).astype(np.int64)])


def _distinct(places: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.integer]:
    """Return distinct places by moving duplicates to free ones."""
    result = places.copy()
    _, first = np.unique(places, return_index=True)
    moving = np.ones(len(places), bool)
    moving[first] = False
    free = np.ones(size, bool)
    free[places[first]] = False
    result[moving] = np.flatnonzero(free)[: int(moving.sum())]
    return result
