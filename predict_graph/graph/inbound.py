"""What comes in at the vertices of a graph."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Graph, edges_of

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]


def inbound_shares(graph: Graph) -> FloatArray:
    """Return what comes in if each vertex sends 1 in equal parts along its edges; and in how many.

    One pass over the edges, which needs no reverse of the graph. Parts are added in the order of
    the vertices that they come from. The graph knows its in-degrees afterwards.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The sum of the parts, and the number of inbound edges.
    """
    both = np.zeros((graph.vertices, 2))
    _share(graph.indptr, graph.indices, both)
    vars(graph).setdefault("in_degrees", both[:, 1].astype(np.int64))
    return both


def inbound_rows(graph: Graph, vertices: IntArray) -> tuple[IntArray, IndexArray]:
    """Return where the inbound neighbours of some vertices begin, and these, ascending in a row.

    One pass over the edges, unless the reverse of the graph is at hand.
    """
    starts = np.zeros(len(vertices) + 1, np.int64)
    if not graph.directed or "reverse" in vars(graph):
        reverse = graph.reverse
        degrees, places = edges_of(reverse.indptr, vertices)
        np.cumsum(degrees, out=starts[1:])
        return starts, reverse.indices[places]
    np.cumsum(graph.in_degrees[vertices], out=starts[1:])
    wanted = np.zeros(graph.vertices // 8 + 1, np.uint8)  # a bit a vertex stays in the cache
    np.bitwise_or.at(wanted, vertices >> 3, np.uint8(1) << (vertices & 7).astype(np.uint8))
    place = np.empty(graph.vertices, np.int64)
    place[vertices] = starts[:-1]
    sources = np.empty(starts[-1], graph.indices.dtype)
    _find(graph.indptr, graph.indices, wanted, place, sources)
    return starts, sources


@numba.njit(cache=True, nogil=True)
def _find(
    indptr: IntArray,
    indices: IndexArray,
    wanted: npt.NDArray[np.uint8],
    place: IntArray,
    sources: IndexArray,
) -> None:
    """Write the sources of the edges that end in a wanted vertex to the places of its row."""
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if (wanted[w >> 3] >> (w & 7)) & 1:
                sources[place[w]] = v
                place[w] += 1


@numba.njit(cache=True, nogil=True)
def _share(indptr: IntArray, indices: IndexArray, both: FloatArray) -> None:
    """Add up what comes in at each vertex, and count it: both are beside each other."""
    for v in range(len(indptr) - 1):
        start, stop = indptr[v], indptr[v + 1]
        if start == stop:
            continue
        part = 1.0 / (stop - start)
        for e in range(start, stop):
            both[indices[e], 0] += part
            both[indices[e], 1] += 1.0
