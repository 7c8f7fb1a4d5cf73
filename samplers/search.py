"""Searches: breadth-first, direction-optimizing [1]_; of marks; and for the largest values.

While few vertices are left to find, each of them searches its in-neighbours for a vertex of the
last level, and stops at the first.

References
----------
.. [1] S. Beamer, K. Asanović, D. Patterson: Direction-Optimizing Breadth-First Search, SC 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers.csr import IntArray

Rows = tuple[IntArray, IntArray]


@njit(cache=True, nogil=True)
def breadth_first(
    ahead: Rows, behind: Rows, first_root: int, stop_root: int, turns: bool, large: int = 100
) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Search along edges, and with `turns` also in reverse where this scans fewer of them.

    `ahead` and `behind` are the starts and the indices of out-rows and of in-rows. The direction
    changes at a frontier of n / `large` or more, which only affects the time.

    Returns the distance of each vertex from the first root that reaches it, and its parent (-1 for
    none).
    """
    out_indptr, out_indices = ahead
    in_indptr, in_indices = behind
    n = len(out_indptr) - 1
    distance, parent = np.full(n, -1, np.int32), np.full(n, -1, out_indices.dtype)
    queue = np.empty(n, out_indices.dtype)
    unexplored = len(out_indices)
    for root in range(first_root, stop_root):
        if distance[root] >= 0:
            continue
        distance[root] = 0
        queue[0] = root
        head, tail, level = 0, 1, 0
        may_turn = turns
        while head < tail:
            edges_ahead = 0
            for i in range(head, tail):
                edges_ahead += out_indptr[queue[i] + 1] - out_indptr[queue[i]]
            # Expected edges that the remaining vertices scan, if edges lead to random vertices.
            left = n - tail
            backwards = min(unexplored, left * (unexplored / max(edges_ahead, 1)))
            turned = may_turn and (tail - head) * large > n and 2.0 * backwards < edges_ahead
            unexplored -= edges_ahead
            if turned:
                looked = 0
                first_new = tail
                for v in range(n):
                    if distance[v] >= 0:
                        continue
                    for e in range(in_indptr[v], in_indptr[v + 1]):
                        looked += 1
                        u = in_indices[e]
                        if distance[u] == level:
                            distance[v] = level + 1
                            parent[v] = u
                            queue[tail] = v
                            tail += 1
                            break
                # Unreachable vertices would be scanned again on every level.
                may_turn = looked <= edges_ahead
                head = first_new
            else:
                stop = tail
                for i in range(head, stop):
                    v = queue[i]
                    for e in range(out_indptr[v], out_indptr[v + 1]):
                        w = out_indices[e]
                        if distance[w] < 0:
                            distance[w] = level + 1
                            parent[w] = v
                            queue[tail] = w
                            tail += 1
                head = stop
            level += 1
    return distance, parent


@njit(cache=True, nogil=True)
def spread_marks(indptr: Any, indices: Any, arrived: Any, arriving: Any, seen: Any) -> None:
    """Send marks, bits of each vertex, along the edges; `arrived` are then those that are new.

    All three are of shape (vertices, words); `arriving` is 0 before and after.
    """
    n, words = seen.shape
    for v in range(n):
        for k in range(words):
            if arrived[v, k] != 0:
                for e in range(indptr[v], indptr[v + 1]):
                    arriving[indices[e], k] |= arrived[v, k]
    for v in range(n):
        for k in range(words):
            arrived[v, k] = arriving[v, k] & ~seen[v, k]
            seen[v, k] |= arrived[v, k]
            arriving[v, k] = 0


def largest(values: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Return the positions of the largest values, descending; the first ones of equal values.

    Examples
    --------
    >>> largest(np.array([3, 9, 4, 9, 4]), 3).tolist()
    [1, 3, 2]
    """
    count = min(count, len(values))
    if count == 0:
        return np.empty(0, np.int64)
    chosen = np.flatnonzero(values >= np.partition(values, -count)[-count])
    return chosen[np.argsort(-values[chosen], kind="stable")[:count]]
