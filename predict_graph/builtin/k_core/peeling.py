"""Rounds of peeling, a bound on the supersteps of core numbers, from one linear pass."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph


def peeling_rounds(graph: Graph, most: int | None = None) -> int:
    """Return the largest number of rounds that removes the vertices of one core number.

    A round removes the vertices of the smallest degree; the next one removes those whose degree has
    dropped to it, until none of this core number is left. Each round takes at least one superstep
    of decreasing estimates [1]_; the removal is that of Batagelj and Zaveršnik [2]_.

    References
    ----------
    .. [1] A. E. Sarıyüce, C. Seshadhri, A. Pinar: Local Algorithms for Hierarchical Dense Subgraph
       Discovery, VLDB 2018, section 3.
    .. [2] V. Batagelj, M. Zaveršnik: An O(m) Algorithm for Cores Decomposition of Networks, 2003.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> peeling_rounds(check_graph("path:n=10"))
    5
    """
    if not graph.vertices:
        return 0
    limit = graph.vertices if most is None else most
    degrees = graph.out_degrees.astype(np.int64)
    return int(_peeled(graph.indptr, graph.indices, degrees, limit))


@numba.njit(cache=True, nogil=True)
def _peeled(indptr: Any, indices: Any, degrees: npt.NDArray[np.int64], limit: int) -> int:
    """Remove vertices in order of their remaining degree, first in first out within a core."""
    n = len(degrees)
    starts = np.zeros(degrees.max() + 2, np.int64)  # where each degree starts in the order
    for v in range(n):
        starts[degrees[v] + 1] += 1
    starts = np.cumsum(starts)
    order, at, free = np.empty(n, np.int64), np.empty(n, np.int64), starts.copy()
    for v in range(n):
        at[v] = free[degrees[v]]
        order[at[v]] = v
        free[degrees[v]] += 1
    most = rounds = core = ends = 0
    for i in range(n):
        v = order[i]
        if degrees[v] >= limit:
            break
        if degrees[v] > core or i == 0:
            core, rounds, ends = degrees[v], 1, starts[degrees[v] + 1]
        elif i == ends:
            rounds, ends = rounds + 1, starts[core + 1]
        most = max(most, rounds)
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            d = degrees[w]
            if d > core:  # to the front of its degree, which then starts one later
                first = order[starts[d]]
                order[starts[d]], order[at[w]] = w, first
                at[first], at[w] = at[w], starts[d]
                starts[d] += 1
                degrees[w] = d - 1
    return most
