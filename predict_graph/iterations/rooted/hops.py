"""Trees of shortest paths, counted in edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IndexArray
from predict_graph.graph import Graph
from samplers.search import breadth_first


@dataclass(frozen=True)
class HopTree:
    """Trees of shortest paths from one root or several."""

    distance: npt.NDArray[np.int32]
    parent: IndexArray

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


def _search(ahead: Graph, behind: Graph | None, first: int, stop: int) -> HopTree:
    """Search along the rows of `ahead`, and in reverse along those of `behind` if given."""
    known = ahead if behind is None else behind
    rows = (ahead.indptr, ahead.indices, known.indptr, known.indices)
    return HopTree(*breadth_first(*rows, first, stop, behind is not None))


@numba.njit(cache=True, nogil=True)
def add_paths(members: Any, parent: Any) -> None:
    """Add the vertices on the path from the root to each member to `members`, in place."""
    for v in np.flatnonzero(members):
        u = parent[v]
        while u >= 0 and not members[u]:
            members[u] = True
            u = parent[u]
