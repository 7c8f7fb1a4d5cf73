"""Drivers: counts of a graph that the cost of a function may grow with.

The counts take some nanoseconds an edge, a hundredth of what a Python function takes.
Reach is estimated by breadth-first searches from some vertices: on a directed or disconnected graph
they visit far fewer vertices and edges than there are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from samplers.search import breadth_first

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
    degrees = _degrees(graph)
    vertices, edges = _mean_reach(graph, rng)
    return {
        "vertices": float(n),
        "edges": float(max(m, 1)),
        "squares": max(float(degrees @ degrees), 1.0),
        "two_hop": max(float(degrees @ neighbour_work(graph)), 1.0),
        "reached_vertices": n * vertices,
        "reached_edges": n * max(edges, 1.0),
        "vertices_squared": float(n) ** 2,
        "vertices_cubed": float(n) ** 3,
    }


def neighbour_work(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the sum of the degrees of each vertex's neighbours, shape (n,).

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> neighbour_work(check_graph("star:n=4")).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    sums, rows = np.zeros(graph.vertices), np.flatnonzero(graph.out_degrees)
    sums[rows] = np.add.reduceat(_degrees(graph)[graph.indices], graph.indptr[rows])
    return sums


def _degrees(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the degrees in both directions."""
    both = graph.out_degrees + graph.in_degrees if graph.directed else graph.out_degrees
    return both.astype(np.float64)


def _mean_reach(graph: Graph, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean number of vertices and of edges that a search from a vertex visits.

    Of 32 searches at most, and so many that they take about 0.1 s.
    """
    rows = (graph.indptr, graph.indices)
    allowed = max(20_000_000, 2 * graph.edges)
    vertices = edges = done = 0
    for root in rng.permutation(graph.vertices)[:32].tolist():
        if edges > allowed:
            break
        distance, _ = breadth_first(*rows, *rows, root, root + 1, not graph.directed)
        reached = distance >= 0
        vertices += int(np.count_nonzero(reached))
        edges += int(graph.out_degrees[reached].sum())
        done += 1
    return vertices / done, edges / done
