"""What comes in at the vertices of a graph."""

from __future__ import annotations

import numpy as np

from predict_graph.arrays import FloatArray, IndexArray
from predict_graph.graph.csr import Graph


def inbound_shares(graph: Graph) -> FloatArray:
    """Return what comes in if each vertex sends 1 in equal parts along its edges; and in how many.

    Parts are added in the order of the vertices that they come from.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The sum of the parts, and the number of inbound edges.
    """
    rows, degrees = graph.described_as(weights=None).to_scipy(np.int8), graph.out_degrees
    parts = np.divide(1.0, degrees, out=np.zeros(graph.vertices), where=degrees > 0)
    return np.column_stack([rows.T @ parts, graph.in_degrees])


def inbound_rows(graph: Graph, vertices: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return where the inbound neighbours of some vertices begin, and these, ascending in a row.

    One pass over the edges of a directed graph, which needs no reverse of it.
    """
    matrix = graph.to_scipy(np.int8)
    rows = matrix[:, vertices].tocsc() if graph.directed else matrix[vertices]
    return rows.indptr, rows.indices
