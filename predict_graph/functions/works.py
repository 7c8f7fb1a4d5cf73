"""Guesses of the work of each round of a loop.

Those of a loop over the vertices of a graph, in the graph's order, are made beside a function that
runs: up to a microsecond an end of an edge, once.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

__all__ = ["SECONDS_OF_ONE", "changing_rounds", "light_graph", "size_of", "works_of"]

FloatArray = npt.NDArray[np.float64]

SECONDS_OF_ONE = 1e-6  # judgement
"""Of a vertex or an end of an edge, about, in Python: what decides whether it is worth it."""


def size_of(graph: Any) -> int:
    """Return vertices and ends of edges; 0 of what :func:`works_of` cannot take."""
    if isinstance(graph, Graph):
        return int(graph.vertices + graph.edges)
    if not hasattr(graph, "_adj") or graph.is_multigraph():
        return 0
    return len(graph._adj) + sum(map(len, graph._adj.values()))


def light_graph(graph: Any) -> Graph:
    """Return the edges of a networkx graph as ours, its vertices in the order that it has.

    For counts of degrees and searches: rows are not sorted, and there are no weights or labels.
    """
    if isinstance(graph, Graph):
        return graph
    adjacency = graph._adj
    place = {node: number for number, node in enumerate(adjacency)}
    counts = np.fromiter(map(len, adjacency.values()), np.int64, len(adjacency))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    ends = chain.from_iterable(adjacency.values())
    indices = np.fromiter(map(place.__getitem__, ends), np.int32, int(indptr[-1]))
    return Graph(indptr, indices, directed=graph.is_directed())


def works_of(graph: Graph) -> dict[str, FloatArray]:
    """Return the work that is done after each vertex, 0 to 1, by several estimates.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    dict of ndarray, shape (n + 1,)
        ``degree``; ``around``, the degrees of the neighbours; ``squares`` of degrees; ``two_hop``,
        degree times the degrees of the neighbours; ``reach``, the edges that a search visits.

    Examples
    --------
    >>> import networkx
    >>> works_of(light_graph(networkx.star_graph(3)))["degree"].round(3).tolist()
    [0.0, 0.5, 0.667, 0.833, 1.0]
    """
    indptr, indices = graph.indptr, graph.indices
    out = np.diff(indptr).astype(np.float64)
    around = np.concatenate(([0.0], np.cumsum(out[indices])))
    around = around[indptr[1:]] - around[indptr[:-1]]
    works = {
        "degree": out,
        "around": around,
        "squares": out**2,
        "two_hop": out * around,
        "reach": _reach(indptr, indices, out, around),
    }
    done = {name: np.concatenate(([0.0], np.cumsum(work))) for name, work in works.items()}
    return {name: each / each[-1] for name, each in done.items() if each[-1] > 0.0}


def changing_rounds(rounds: int) -> dict[str, FloatArray]:
    """Return the work that is done after each round, 0 to 1, where it goes with what is used up.

    Parameters
    ----------
    rounds : int

    Returns
    -------
    dict of ndarray, shape (rounds + 1,)
        ``left``, where a round goes through what is left; ``gone``, through what is gone.

    Examples
    --------
    >>> changing_rounds(2)["left"].tolist()
    [0.0, 0.75, 1.0]
    """
    places = np.linspace(0.0, 1.0, rounds + 1)
    return {"left": places * (2.0 - places), "gone": places**2}


def _reach(
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    out: FloatArray,
    around: FloatArray,
) -> FloatArray:
    """Return the edges that a search from each vertex visits, about.

    From a vertex that leads into the largest strong part it is what a search from there visits;
    from any other, the edges of the vertex and of its neighbours.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    n = len(out)
    rows = csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(n, n))
    _, labels = connected_components(rows, directed=True, connection="strong")
    start = int(np.argmax(labels == np.bincount(labels).argmax()))
    reached = breadth_first_order(rows, start, return_predecessors=False)
    leading = breadth_first_order(rows.T.tocsr(), start, return_predecessors=False)
    work: FloatArray = 1.0 + out + around
    work[leading] = 1.0 + len(reached) + float(out[reached].sum())
    return work
