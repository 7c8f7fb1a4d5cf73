"""What comes in at the vertices of a graph."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Graph

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


def inbound_rows(graph: Graph, vertices: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return where the inbound neighbours of some vertices begin, and these, ascending in a row.

    One pass over the edges of a directed graph, which needs no reverse of it.
    """
    matrix = graph.to_scipy(np.int8)
    rows = matrix[:, vertices].tocsc() if graph.directed else matrix[vertices]
    return rows.indptr, rows.indices


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
