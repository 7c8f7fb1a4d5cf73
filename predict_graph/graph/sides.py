"""The two sides of a bipartite graph, by the parity of distances."""

from __future__ import annotations

import numpy as np

from predict_graph.arrays import BoolArray
from predict_graph.graph.csr import Graph
from samplers.search import breadth_first


def two_sides(graph: Graph) -> BoolArray | None:
    """Return which of two sides each vertex is on; None if an edge stays within a side.

    Parameters
    ----------
    graph : Graph
        Undirected.

    Returns
    -------
    ndarray of bool, shape (n,), or None

    Examples
    --------
    >>> from predict_graph.graph import Graph
    >>> path = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), directed=False)
    >>> two_sides(path).tolist()
    [False, True, False]
    """
    rows = graph.indptr, graph.indices
    sides: BoolArray = breadth_first(*rows, *rows, 0, graph.vertices, True)[0] % 2 == 1
    within = np.repeat(sides, graph.out_degrees) == sides[graph.indices]
    return None if within.any() else sides
