"""Shortest-path trees by a direction-optimizing breadth-first search [1].

While few vertices are left to find, each of them searches its in-neighbours for a vertex of the
last level, and stops at the first.

References
----------
.. [1] S. Beamer, K. Asanović, D. Patterson: Direction-Optimizing Breadth-First Search, SC 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

IntArray = npt.NDArray[np.integer]

_LARGE = 100  # the direction may change at a frontier of n / 100: only affects time, not tuned


@dataclass(frozen=True)
class HopTree:
    """Trees of shortest paths from one root or several."""

    distance: npt.NDArray[np.int32]
    parent: IntArray
    edge_visits: int

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """Whether a root reaches each vertex."""
        return self.distance >= 0

    @property
    def depth(self) -> int:
        """Largest distance."""
        return int(self.distance.max())


def hop_tree(graph: Graph, root: int, *, backward: bool = False) -> HopTree:
    """Return shortest paths from `root` along the edges, or to it if `backward`.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> hop_tree(check_graph("path:n=4"), 1).distance.tolist()
    [1, 0, 1, 2]
    """
    ahead, behind = (graph.reverse, graph) if backward else (graph, graph.reverse)
    return _search(ahead, behind, root, root + 1)


def component_trees(graph: Graph) -> HopTree:
    """Return shortest paths from the smallest id of each component of an undirected graph."""
    return _search(graph, graph, 0, graph.vertices)


def depth_of(graph: Graph) -> int | None:
    """Return the largest distance from the vertex with most out-edges.

    None if it reaches less than half of the vertices. The reverse of a directed graph, which may
    not exist yet, is not used.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> depth_of(check_graph("star:n=5")), depth_of(check_graph("path:n=9"))
    (1, 7)
    """
    if graph.vertices == 0:
        return None
    root = int(np.argmax(graph.out_degrees))
    tree = _search(graph, None if graph.directed else graph, root, root + 1)
    return tree.depth if 2 * np.count_nonzero(tree.reached) >= graph.vertices else None


def add_paths(members: npt.NDArray[np.bool_], tree: HopTree) -> None:
    """Add the vertices on the path from the root to each member to `members`, in place."""
    _add_paths(members, tree.parent)


def _search(ahead: Graph, behind: Graph | None, first: int, stop: int) -> HopTree:
    """Search along the rows of `ahead`, and in reverse along those of `behind` if given."""
    n = ahead.vertices
    distance = np.full(n, -1, np.int32)
    parent = np.full(n, -1, ahead.indices.dtype)
    known = ahead if behind is None else behind
    rows = (ahead.indptr, ahead.indices, known.indptr, known.indices)
    visits = _search_all(*rows, first, stop, behind is not None, distance, parent)
    return HopTree(distance, parent, int(visits))


@numba.njit(cache=True, nogil=True)
def _search_all(
    out_indptr: Any,
    out_indices: Any,
    in_indptr: Any,
    in_indices: Any,
    first_root: int,
    stop_root: int,
    turns: bool,
    distance: Any,
    parent: Any,
) -> int:
    """Search from each root that no earlier one has reached; return the scanned edges."""
    n = len(distance)
    queue = np.empty(n, out_indices.dtype)
    unexplored = len(out_indices)
    visits = 0
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
            turned = may_turn and (tail - head) * _LARGE > n and 2.0 * backwards < edges_ahead
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
                visits += looked
                # Unreachable vertices would be scanned again on every level.
                may_turn = looked <= edges_ahead
                head = first_new
            else:
                visits += edges_ahead
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
    return visits


@numba.njit(cache=True, nogil=True)
def _add_paths(members: Any, parent: Any) -> None:
    for v in np.flatnonzero(members):
        u = parent[v]
        while u >= 0 and not members[u]:
            members[u] = True
            u = parent[u]
