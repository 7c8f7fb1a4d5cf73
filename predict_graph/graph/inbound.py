"""What comes in at the vertices of a graph, without turning the whole graph round.

A reversed graph takes as much memory as the graph, and twice that while it is made. How many edges
come in, what comes in along them, or which come in at a few vertices, is each found in one pass
over the edges as they are.
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="assignment, arg-type"

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph.counting_sort import in_threads, reached, target_ranges
from predict_graph.graph.csr import Graph

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]


def inbound_shares(graph: Graph) -> FloatArray:
    """Return what comes in if each vertex sends 1 in equal parts along its edges; and in how many.

    In-degrees are found in the same pass: the graph knows them afterwards. Parts are added in the
    order of the vertices that they come from.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The sum of the parts, and the number of inbound edges.
    """
    both = np.zeros((graph.vertices, 2))
    rows = (graph.indptr, graph.indices, graph.ascending)
    cuts = target_ranges(graph.indices, graph.vertices)
    in_threads(
        lambda i: _share(*rows, cuts[i], cuts[i + 1], both), range(len(cuts) - 1), graph.edges
    )
    if graph.directed:
        vars(graph).setdefault("in_degrees", both[:, 1].astype(np.int64))
    return both


def inbound_rows(graph: Graph, vertices: IntArray) -> tuple[IntArray, IndexArray]:
    """Return the vertices that some vertices hear from, ascending, one row after the other.

    One pass over the edges, unless the reverse of the graph is at hand.

    Parameters
    ----------
    graph : Graph
    vertices : ndarray of int64, shape (k,)
        Distinct, ascending.

    Returns
    -------
    starts : ndarray of int64, shape (k + 1,)
    sources : ndarray of int
    """
    if not graph.directed or "reverse" in vars(graph):
        reverse = graph.reverse
        rows: tuple[IntArray, IndexArray] = _rows(reverse.indptr, reverse.indices, vertices)
        return rows
    starts = np.zeros(len(vertices) + 1, np.int64)
    np.cumsum(graph.in_degrees[vertices], out=starts[1:])
    wanted = np.zeros(graph.vertices // 8 + 1, np.uint8)
    np.bitwise_or.at(wanted, vertices >> 3, np.uint8(1) << (vertices & 7).astype(np.uint8))
    place = np.empty(graph.vertices, np.int32)
    place[vertices] = np.arange(len(vertices), dtype=np.int32)
    parts = numba.get_num_threads()
    marks = np.linspace(0, graph.edges, parts + 1)
    bounds = np.searchsorted(graph.indptr, marks, side="left")
    bounds[0], bounds[-1] = 0, graph.vertices
    found: list[Any] = [None] * parts

    def look(part: int) -> None:
        # As long as all of them: what is not written takes no memory.
        hit = np.empty(starts[-1], np.int32)
        sources = np.empty(starts[-1], graph.indices.dtype)
        ends = (bounds[part], bounds[part + 1])
        hits = _find(graph.indptr, graph.indices, *ends, wanted, place, hit, sources)
        found[part] = hit[:hits], sources[:hits]

    in_threads(look, range(parts), graph.edges)
    result, ends = np.empty(starts[-1], graph.indices.dtype), starts[:-1].copy()
    for hit, sources in found:
        _file(hit, sources, ends, result)
    return starts, result


@numba.njit(cache=True, nogil=True)
def _share(
    indptr: IntArray, indices: IndexArray, ascending: bool, low: int, high: int, both: FloatArray
) -> None:
    """Add up what comes in at a range of vertices, and count it: both are beside each other."""
    for v in range(len(indptr) - 1):
        start, stop = indptr[v], indptr[v + 1]
        if start == stop:
            continue
        part = 1.0 / (stop - start)
        if ascending and low > 0:
            start = reached(indices, start, stop, low)
        for e in range(start, stop):
            w = indices[e]
            if w >= low and w < high:
                both[w, 0] += part
                both[w, 1] += 1.0
            elif ascending:
                break


@numba.njit(cache=True, nogil=True)
def _rows(indptr: IntArray, indices: IndexArray, vertices: IntArray) -> tuple[IntArray, IndexArray]:
    starts = np.zeros(len(vertices) + 1, np.int64)
    for i in range(len(vertices)):
        starts[i + 1] = starts[i] + indptr[vertices[i] + 1] - indptr[vertices[i]]
    found = np.empty(starts[-1], indices.dtype)
    for i in range(len(vertices)):
        first = indptr[vertices[i]]
        for e in range(starts[i + 1] - starts[i]):
            found[starts[i] + e] = indices[first + e]
    return starts, found


@numba.njit(cache=True, nogil=True)
def _find(
    indptr: IntArray,
    indices: IndexArray,
    first: int,
    last: int,
    wanted: npt.NDArray[np.uint8],
    place: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    sources: IndexArray,
) -> int:
    """Note the edges of a range of vertices that end in a wanted one; return how many they are."""
    hits = 0
    for v in range(first, last):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if (wanted[w >> 3] >> (w & 7)) & 1:
                rows[hits] = place[w]
                sources[hits] = v
                hits += 1
    return hits


@numba.njit(cache=True, nogil=True)
def _file(
    rows: npt.NDArray[np.int32], sources: IndexArray, place: IntArray, result: IndexArray
) -> None:
    for i in range(len(rows)):
        result[place[rows[i]]] = sources[i]
        place[rows[i]] += 1
