"""The two sides of a bipartite graph, found by breadth-first colouring."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Graph


def two_sides(graph: Graph) -> npt.NDArray[np.bool_] | None:
    """Return which of two sides each vertex is on; None if an edge stays within a side.

    The search stops at the first odd cycle, so that it costs next to nothing on most graphs.

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
    sides = _coloured(graph.indptr, graph.indices)
    return None if sides[0] < 0 else sides == 1


@numba.njit(cache=True, nogil=True)
def _coloured(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.integer]
) -> npt.NDArray[np.int8]:
    """Return 0 or 1 for each vertex; -1 for the first one if there is an odd cycle."""
    n = len(indptr) - 1
    sides = np.full(max(n, 1), -1, np.int8)
    queue = np.empty(n, indices.dtype)
    for root in range(n):
        if sides[root] >= 0:
            continue
        sides[root] = 0
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if sides[w] < 0:
                    sides[w] = 1 - sides[v]
                    queue[tail] = w
                    tail += 1
                elif sides[w] == sides[v]:
                    sides[0] = -1
                    return sides
    return sides
