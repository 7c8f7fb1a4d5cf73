"""The supersteps of core numbers, from a few linear passes that peel the graph.

After superstep t, the estimate of a vertex is at most k exactly if t rounds of peeling remove it,
where a round removes the vertices with at most k remaining neighbours [1]_. A run takes the largest
number of rounds over all k, and one superstep more. Rounds of each k after the removal of smaller
cores, which one pass finds for all k [2]_, are a lower bound; the k with the largest bounds are
peeled from the whole graph.

References
----------
.. [1] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley: The H-index of a network node and its relation to
   degree and coreness, Nature Communications 2016.
.. [2] V. Batagelj, M. Zaveršnik: An O(m) Algorithm for Cores Decomposition of Networks, 2003.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from predict_graph.arrays import IntArray
from predict_graph.graph import Graph


def supersteps_by_peeling(graph: Graph, peeled: int = 3) -> int:
    """Return the supersteps of core numbers, or slightly fewer.

    So many values of k are peeled from the whole graph: two are exact on all but one of 26 graphs.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> supersteps_by_peeling(check_graph("path:n=10"))
    5
    """
    edges = graph.indptr, graph.indices
    others = graph.out_degrees - graph.loops()
    bounds = _rounds_by_core(*edges, others.copy())
    cores = np.argsort(-bounds, kind="stable")[:peeled]
    return 1 + max(int(_rounds(*edges, others, int(k))) for k in cores if bounds[k] or k == 0)


@numba.njit(cache=True, nogil=True)
def _rounds_by_core(indptr: Any, indices: Any, degrees: IntArray) -> IntArray:
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
    rounds = np.zeros(degrees.max() + 1, np.int64)
    core = ends = 0
    for i in range(n):
        v = order[i]
        if degrees[v] > core or i == ends:
            core, ends = degrees[v], starts[degrees[v] + 1]
            rounds[core] += 1
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            d = degrees[w]
            if d > core:  # to the front of its degree, which then starts one later
                first = order[starts[d]]
                order[starts[d]], order[at[w]] = w, first
                at[first], at[w] = at[w], starts[d]
                starts[d] += 1
                degrees[w] = d - 1
    return rounds


@numba.njit(cache=True, nogil=True)
def _rounds(indptr: Any, indices: Any, others: IntArray, k: int) -> int:
    """Return the rounds that remove vertices with at most `k` neighbours, after the first.

    The first round counts self-loops as edges.
    """
    left, queue = others.copy(), np.empty(len(others), np.int64)
    tail = rounds = 0
    for looped in (False, True):
        stop = tail
        for v in range(len(left)):
            if left[v] <= k and (indptr[v + 1] - indptr[v] > k) == looped:
                queue[tail] = v
                tail += 1
    head = 0
    while head < tail:
        for i in range(head, stop):
            v = queue[i]
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if w != v:
                    left[w] -= 1
                    if left[w] == k:
                        queue[tail] = w
                        tail += 1
        rounds += tail > stop
        head, stop = stop, tail
    return rounds
