"""Inbound edges of a few ranges of vertices, with or without the reverse graph."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

IntArray = npt.NDArray[np.int64]


def inbound_rows(
    graph: Graph, ranges: IntArray, bits: int, threads: int = 1
) -> tuple[IntArray, IntArray, npt.NDArray[Any]]:
    """Return the inbound edges of the vertices of some ranges.

    Without a reverse graph, two passes over all edges stream ``indices`` and look up a table of
    ranges that fits in a cache; this takes less time than transposing the graph.

    Examples
    --------
    >>> import numpy as np
    >>> graph = Graph(np.array([0, 1, 2, 3]), np.array([1, 2, 1], dtype=np.int32))
    >>> vertices, indptr, sources = inbound_rows(graph, np.array([0]), bits=2)
    >>> vertices.tolist(), indptr.tolist(), sources.tolist()
    ([0, 1, 2], [0, 0, 2, 3], [0, 2, 1])
    """
    n = graph.vertices
    size = 1 << bits
    wanted = np.zeros((n >> bits) + 1, np.uint8)
    wanted[ranges] = 1
    place = np.cumsum(wanted, dtype=np.int64) * size - size
    vertices = (ranges[:, None] * size + np.arange(size)).ravel()
    vertices = vertices[vertices < n]
    if not graph.directed or "reverse" in vars(graph):
        return vertices, *_rows_of(graph.reverse, ranges, bits)
    targets = graph.indices.view(np.dtype(f"u{graph.indices.itemsize}"))
    share = np.linspace(0, graph.edges, threads + 1)
    cuts = np.searchsorted(graph.indptr, share)
    cuts[0], cuts[-1] = 0, n
    with ThreadPoolExecutor(threads) as pool:
        parts = list(
            pool.map(
                lambda span: _scan(graph.indptr, targets, wanted, place, bits, *span),
                zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True),
            )
        )
    rows = np.concatenate([part[0] for part in parts])
    found = np.concatenate([part[1] for part in parts]).astype(graph.indices.dtype, copy=False)
    indptr, sources = _sorted_by_row(rows, found, len(vertices))
    return vertices, indptr, sources


def _rows_of(reverse: Graph, ranges: IntArray, bits: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return the rows of the ranges from an existing reverse graph."""
    bounds = reverse.indptr
    firsts = ranges << bits
    lasts = np.minimum(firsts + (1 << bits), reverse.vertices)
    pairs = list(zip(firsts.tolist(), lasts.tolist(), strict=True))
    degrees = np.concatenate([np.diff(bounds[first : last + 1]) for first, last in pairs])
    sources = np.concatenate(
        [reverse.indices[bounds[first] : bounds[last]] for first, last in pairs]
    )
    return np.concatenate([[0], np.cumsum(degrees)]), sources


@numba.njit(cache=True, nogil=True)
def _scan(
    indptr: Any, targets: Any, wanted: Any, place: Any, bits: int, first: int, last: int
) -> tuple[Any, Any]:
    """Count, then collect the edges of vertices first … last - 1 that end in a requested range."""
    within = (1 << bits) - 1
    hits = 0
    for e in range(indptr[first], indptr[last]):
        if wanted[targets[e] >> bits]:
            hits += 1
    rows = np.empty(hits, np.int64)
    found = np.empty(hits, np.int64)
    at = 0
    v = first
    for e in range(indptr[first], indptr[last]):
        target = targets[e]
        if wanted[target >> bits]:
            while indptr[v + 1] <= e:
                v += 1
            rows[at] = place[target >> bits] + np.int64(target & within)
            found[at] = v
            at += 1
    return rows, found


@numba.njit(cache=True, nogil=True)
def _sorted_by_row(rows: Any, found: Any, k: int) -> tuple[Any, Any]:
    """Stable counting sort: sources were found in ascending order."""
    indptr = np.zeros(k + 1, np.int64)
    for row in rows:
        indptr[row + 1] += 1
    for row in range(k):
        indptr[row + 1] += indptr[row]
    place = indptr[:-1].copy()
    sources = np.empty_like(found)
    for i in range(len(rows)):
        sources[place[rows[i]]] = found[i]
        place[rows[i]] += 1
    return indptr, sources
