"""Drivers: counts of a graph that the cost of a function may grow with.

The compiled counts take some nanoseconds an edge, a hundredth of what a Python function takes.
Reach is estimated by breadth-first searches from some vertices: on a directed or disconnected graph
they visit far fewer vertices and edges than there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph import Graph

_SEARCHES = 32  # limits the searches whose mean is taken
_MOST_STEPS = 20_000_000  # limits the edges that all searches together visit: about 0.1 s

DRIVERS = (
    *("vertices", "edges", "squares", "two_hop", "reached_vertices", "reached_edges"),
    *("vertices_squared", "vertices_cubed"),
)
"""Their names. ``squares`` sums squared degrees; ``two_hop`` sums over vertices the degree times
those of the neighbours; ``reached_…`` are visited by searches from all vertices."""


def drivers_of(graph: Graph, rng: np.random.Generator) -> dict[str, float]:
    """Return the drivers of a graph; `rng` chooses the starts of searches.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> found = drivers_of(check_graph("grid:rows=3,columns=4"), np.random.default_rng(0))
    >>> found["vertices"], found["edges"], found["reached_vertices"]
    (12.0, 34.0, 144.0)
    """
    n, m = graph.vertices, graph.edges
    degrees = graph.out_degrees + (graph.in_degrees if graph.directed else 0)
    squares, two_hop = _degree_sums(graph.indptr, graph.indices, degrees)
    vertices, edges = _mean_reach(graph, rng)
    return {
        "vertices": float(n),
        "edges": float(max(m, 1)),
        "squares": max(squares, 1.0),
        "two_hop": max(two_hop, 1.0),
        "reached_vertices": n * vertices,
        "reached_edges": n * max(edges, 1.0),
        "vertices_squared": float(n) ** 2,
        "vertices_cubed": float(n) ** 3,
    }


def neighbour_work(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the sum of the degrees of each vertex's neighbours, shape (n,)."""
    degrees = graph.out_degrees + (graph.in_degrees if graph.directed else 0)
    return np.asarray(_neighbour_sums(graph.indptr, graph.indices, degrees))


def _mean_reach(graph: Graph, rng: np.random.Generator) -> tuple[float, float]:
    n = graph.vertices
    starts = rng.permutation(n)[:_SEARCHES].astype(np.int64)
    allowed = max(_MOST_STEPS, 2 * graph.edges)
    done, vertices, edges = searches(graph.indptr, graph.indices, starts, allowed)
    return vertices / done, edges / done


@njit(cache=True, nogil=True)
def _degree_sums(indptr: Any, indices: Any, degrees: Any) -> tuple[float, float]:
    squares = two_hop = 0.0
    for v in range(len(indptr) - 1):
        own = float(degrees[v])
        squares += own * own
        around = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            around += float(degrees[indices[e]])
        two_hop += own * around
    return squares, two_hop


@njit(cache=True, nogil=True)
def _neighbour_sums(indptr: Any, indices: Any, degrees: Any) -> Any:
    sums = np.zeros(len(indptr) - 1, np.float64)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            sums[v] += degrees[indices[e]]
    return sums


@njit(cache=True, nogil=True)
def searches(indptr: Any, indices: Any, starts: Any, allowed: int) -> tuple[int, float, float]:
    """Search a graph in compressed rows from each start, until `allowed` edges are visited.

    Returns the searches done, and the vertices and edges that they have visited in all.
    """
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int64)
    vertices = edges = 0.0
    done = 0
    for number in range(len(starts)):
        if edges > allowed:
            break
        queue[0] = starts[number]
        seen[starts[number]] = number
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if seen[w] != number:
                    seen[w] = number
                    queue[tail] = w
                    tail += 1
            edges += indptr[v + 1] - indptr[v]
        vertices += tail
        done += 1
    return done, vertices, edges
