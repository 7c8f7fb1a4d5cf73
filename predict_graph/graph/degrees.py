"""What the degrees of a graph say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from predict_graph.graph.csr import Graph


class DegreeFacts(NamedTuple):
    """What the degrees of a graph say of it; of a directed one, in and out are added up.

    Parameters
    ----------
    mean : float
    largest : int
    dust : float
        Vertices without neighbours, or whose only neighbour has no other, of all.
    """

    mean: float
    largest: int
    dust: float


def degree_facts(graph: Graph) -> DegreeFacts:
    """Return what the degrees of a graph say, made once.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> degree_facts(check_graph("grid:rows=3,columns=3"))
    DegreeFacts(mean=2.6666666666666665, largest=4, dust=0.0)
    """
    found = _KNOWN.get(graph)
    if found is None:
        out = graph.out_degrees
        degrees = out + graph.in_degrees if graph.directed else out
        lone = np.flatnonzero((degrees == 1) & (out == 1))
        other = graph.indices[graph.indptr[lone]]
        pairs = np.count_nonzero((degrees[other] == 1) & (other != lone))
        dust = np.count_nonzero(degrees == 0) + pairs * (2 if graph.directed else 1)
        found = _KNOWN[graph] = DegreeFacts(
            float(degrees.sum()) / max(graph.vertices, 1),
            int(degrees.max(initial=0)),
            float(dust / max(graph.vertices, 1)),
        )
    return found


_KNOWN: WeakKeyDictionary[Graph, DegreeFacts] = WeakKeyDictionary()


def counted_degrees(
    degrees: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the degrees that some vertex has, ascending, and how many vertices have each.

    Examples
    --------
    >>> [each.tolist() for each in counted_degrees(np.array([3, 0, 3]))]
    [[0, 3], [1, 2]]
    """
    counts = np.bincount(degrees)
    found = np.flatnonzero(counts)
    return found, counts[found]


def edge_weights(
    graph: Graph, vertices: npt.NDArray[np.integer], *, weighted: bool = True
) -> npt.NDArray[np.float64]:
    """Return the weight of the edges of some vertices to others; their number if not `weighted`."""
    weights = graph.weights if weighted and graph.weights is not None else _NO_WEIGHTS
    totals = np.zeros(len(vertices))
    _add_to_others(graph.indptr, graph.indices, weights, vertices, totals)
    return totals


_NO_WEIGHTS = np.empty(0, np.float32)


# Compiled because a list of the edges would take 16 bytes per edge, four times the graph.
@numba.njit(cache=True, nogil=True)
def _add_to_others(indptr: Any, indices: Any, weights: Any, vertices: Any, totals: Any) -> None:
    for i in range(len(vertices)):
        v = vertices[i]
        for e in range(indptr[v], indptr[v + 1]):
            if indices[e] != v:
                totals[i] += weights[e] if len(weights) else 1.0


# Compiled so that counting needs no memory: it is done for every graph that is read.
@numba.njit(cache=True, nogil=True)
def count_self_loops(indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.integer]) -> int:
    """Count the edges from a vertex to itself."""
    count = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            count += indices[e] == v
    return count


# Compiled because numpy would widen the targets, to twice the bytes of the graph.
@numba.njit(cache=True, nogil=True)
def counted_targets(indices: npt.NDArray[np.integer], n: int) -> npt.NDArray[np.int64]:
    """Return how many edges come in at each vertex, shape (n,)."""
    counts = np.zeros(n, np.int64)
    for e in range(len(indices)):
        counts[indices[e]] += 1
    return counts
