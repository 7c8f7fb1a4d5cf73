"""Building compressed sparse rows: from edges, by transposing, by taking a subgraph.

Rules, the same for every source:

- An edge that comes twice counts once; the weights of its copies are added.
- Self-loops stay. An undirected self-loop is stored once.
- An undirected graph stores each edge in both directions, whether the source lists one or both: an
  edge listed in both directions is one edge (its weight is the larger of the two).
"""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.counting_sort import sorted_by_target, transposed
from predict_graph.graph.csr import Graph
from predict_graph.graph.edges import EdgeBlock
from predict_graph.limits import check_size
from samplers.induced import induced_csr

__all__ = [
    "as_asked",
    "count_self_loops",
    "from_blocks",
    "from_edges",
    "induced_subgraph",
    "merge_duplicates",
    "symmetric",
    "transpose",
    "union_of_rows",
    "without_self_loops",
]

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
WeightArray = npt.NDArray[np.float32]
_NO_WEIGHTS = np.empty(0, np.float32)


def from_edges(
    sources: IndexArray,
    targets: IndexArray,
    *,
    vertices: int | None = None,
    weights: npt.NDArray[np.floating] | None = None,
    directed: bool = True,
    name: str = "graph",
    labels: npt.NDArray[np.generic] | None = None,
) -> Graph:
    """Return the graph of a list of edges.

    Parameters
    ----------
    sources, targets : ndarray of int, shape (k,)
        Vertices, 0 … n - 1.
    vertices : int, optional
        n; the largest vertex + 1 when it is not given.
    weights : ndarray of float, shape (k,), optional
    directed : bool
    name : str
    labels : ndarray, shape (n,), optional

    Raises
    ------
    RequestError
        If a vertex is out of range or the lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> graph = from_edges(np.array([0, 0, 1]), np.array([2, 2, 0]), vertices=3)
    >>> graph.edges, graph.neighbors(0).tolist()
    (2, [2])
    """
    sources, targets = np.asarray(sources), np.asarray(targets)
    for ends in (sources, targets):
        if ends.ndim != 1 or ends.dtype.kind not in "iub":
            raise RequestError(
                f"ends of edges are {ends.ndim}-dimensional {ends.dtype}; accepted: vectors of "
                "integers"
            )
    if len(sources) != len(targets) or (weights is not None and len(weights) != len(sources)):
        raise RequestError("sources, targets and weights of the edges differ in length")
    lowest = min(_extreme(np.min, sources, 0), _extreme(np.min, targets, 0))
    highest = max(_extreme(np.max, sources, -1), _extreme(np.max, targets, -1))
    n = highest + 1 if vertices is None else int(vertices)
    if lowest < 0 or highest >= n:
        wrong = lowest if lowest < 0 else highest
        raise RequestError(f"an edge names the vertex {wrong}; accepted: 0 to {n - 1}")
    values = None if weights is None else np.asarray(weights, dtype=np.float32)
    block = EdgeBlock(sources, targets, values)
    return from_blocks([block], n, directed=directed, name=name, labels=labels)


def from_blocks(
    blocks: list[EdgeBlock],
    vertices: int,
    *,
    directed: bool = True,
    name: str = "graph",
    labels: npt.NDArray[np.generic] | None = None,
) -> Graph:
    """Return the graph of blocks of edges between the vertices 0 … `vertices` - 1.

    Two counting sorts, by target and then by source: linear in vertices and edges, with about 15
    bytes an edge in use at the same time.

    Parameters
    ----------
    blocks : list of EdgeBlock
        Emptied on the way, so that the memory of the blocks can be used again.
    vertices : int
        n; the ids must be below it.
    directed, name, labels
        See :class:`Graph`.

    Raises
    ------
    RequestError
        If there are more vertices or edges than the limits say.
    """
    check_size(
        f"the graph {name!r}",
        vertices=vertices,
        edges=sum(len(block.sources) for block in blocks) * (1 if directed else 2),
    )
    weighted = bool(blocks) and blocks[0].weights is not None
    # Sorted by target first, so that the second, stable sort leaves each row ascending.
    indptr, indices, values = transposed(*sorted_by_target(blocks, vertices), vertices)
    indptr, indices, values = merge_duplicates(indptr, indices, values)
    if not directed:
        indptr, indices, values = _in_both_directions(indptr, indices, values)
    kept = values if weighted else None
    return Graph(indptr, indices, kept, directed=directed, name=name, labels=labels)


def transpose(graph: Graph) -> Graph:
    """Return the graph with every edge turned round; rows come out ascending.

    Examples
    --------
    >>> import numpy as np
    >>> graph = from_edges(np.array([0, 2]), np.array([1, 1]), vertices=3)
    >>> transpose(graph).neighbors(1).tolist()
    [0, 2]
    """
    values = _NO_WEIGHTS if graph.weights is None else graph.weights
    indptr, indices, values = transposed(graph.indptr, graph.indices, values, graph.vertices)
    kept = None if graph.weights is None else values
    return replace(graph, indptr=indptr, indices=indices, weights=kept)


def induced_subgraph(graph: Graph, vertices: IndexArray, name: str | None = None) -> Graph:
    """Return the subgraph that `vertices` induce; its vertex *i* is ``vertices[i]``.

    Cost: the out-edges of `vertices`, and one array of n integers.

    Raises
    ------
    RequestError
        If a vertex does not exist or comes twice.
    """
    chosen = np.asarray(vertices)
    if chosen.size == 0:
        chosen = chosen.astype(np.int64)
    try:
        rows, indices, weights = induced_csr(graph.indptr, graph.indices, chosen, graph.weights)
    except ValueError as error:
        raise RequestError(str(error)) from error
    return Graph(
        rows.astype(np.int64, copy=False),
        indices,
        weights,
        directed=graph.directed,
        name=name or f"{graph.name}[{len(chosen)}]",
        labels=None if graph.labels is None else graph.labels[chosen],
    )


def without_self_loops(graph: Graph) -> Graph:
    """Return the graph without edges from a vertex to itself."""
    rows = np.repeat(np.arange(graph.vertices, dtype=graph.indices.dtype), graph.out_degrees)
    kept = rows != graph.indices
    indptr = np.zeros(graph.vertices + 1, np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=graph.vertices), out=indptr[1:])
    weights = None if graph.weights is None else graph.weights[kept]
    return replace(graph, indptr=indptr, indices=graph.indices[kept], weights=weights)


def as_asked(graph: Graph, directed: bool | None, name: str | None) -> Graph:
    """Return the graph with the direction and the name asked for; None leaves them as they are."""
    if directed is False and graph.directed:
        graph = symmetric(graph)
    elif directed is True and not graph.directed:
        graph = graph.described_as(directed=True)
    return graph.described_as(name=name) if name and name != graph.name else graph


def symmetric(graph: Graph) -> Graph:
    """Return the undirected graph of a directed one: every edge in both directions.

    The weight of an edge that had both directions is the larger of the two.

    Examples
    --------
    >>> import numpy as np
    >>> symmetric(from_edges(np.array([0, 1, 1]), np.array([1, 0, 2])))
    Graph('graph', 3 vertices, 2 undirected edges)
    """
    values = _NO_WEIGHTS if graph.weights is None else graph.weights
    indptr, indices, values = _in_both_directions(graph.indptr, graph.indices, values)
    kept = None if graph.weights is None else values
    return replace(graph, indptr=indptr, indices=indices, weights=kept, directed=False)


def _in_both_directions(
    indptr: IntArray, indices: IndexArray, values: WeightArray
) -> tuple[IntArray, IndexArray, WeightArray]:
    other = transposed(indptr, indices, values, len(indptr) - 1)
    merged: tuple[IntArray, IndexArray, WeightArray] = union_of_rows(
        indptr, indices, values, *other
    )
    return merged


def _extreme(function: object, array: IndexArray, empty: int) -> int:
    return int(function(array)) if len(array) else empty  # type: ignore[operator]


@numba.njit(cache=True, nogil=True)
def count_self_loops(indptr: IntArray, indices: IndexArray) -> int:
    """Count the edges from a vertex to itself."""
    count = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            count += indices[e] == v
    return count


@numba.njit(cache=True, nogil=True)
def merge_duplicates(
    indptr: IntArray, indices: IndexArray, weights: WeightArray
) -> tuple[IntArray, IndexArray, WeightArray]:
    """Drop repeated targets of ascending rows, in place; weights of the copies are added."""
    n = len(indptr) - 1
    merged = np.zeros(n + 1, np.int64)
    weighted = len(weights) > 0
    kept = 0
    for v in range(n):
        start = kept
        for e in range(indptr[v], indptr[v + 1]):
            if kept > start and indices[kept - 1] == indices[e]:
                if weighted:
                    weights[kept - 1] += weights[e]
                continue
            indices[kept] = indices[e]
            if weighted:
                weights[kept] = weights[e]
            kept += 1
        merged[v + 1] = kept
    if kept == len(indices):
        return merged, indices, weights
    return merged, indices[:kept].copy(), weights[:kept].copy() if weighted else weights


@numba.njit(cache=True, nogil=True)
def union_of_rows(
    indptr: IntArray,
    indices: IndexArray,
    weights: WeightArray,
    other_indptr: IntArray,
    other_indices: IndexArray,
    other_weights: WeightArray,
) -> tuple[IntArray, IndexArray, WeightArray]:
    """Merge the ascending rows of two graphs; of two weights of an edge the larger one holds."""
    n = len(indptr) - 1
    weighted = len(weights) + len(other_weights) > 0  # one side may have no edges
    merged = np.zeros(n + 1, np.int64)
    result, values = np.empty(0, indices.dtype), np.empty(0, np.float32)
    for filling in range(2):
        if filling:
            result = np.empty(merged[n], indices.dtype)
            values = np.empty(merged[n] if weighted else 0, np.float32)
        kept = 0
        for v in range(n):
            a, a_stop = indptr[v], indptr[v + 1]
            b, b_stop = other_indptr[v], other_indptr[v + 1]
            while a < a_stop or b < b_stop:
                from_first = b == b_stop or (a < a_stop and indices[a] <= other_indices[b])
                both = from_first and b < b_stop and indices[a] == other_indices[b]
                if filling:
                    result[kept] = indices[a] if from_first else other_indices[b]
                    if weighted:
                        values[kept] = weights[a] if from_first else other_weights[b]
                        if both:
                            values[kept] = max(weights[a], other_weights[b])
                kept += 1
                if both or from_first:
                    a += 1
                if both or not from_first:
                    b += 1
            if not filling:
                merged[v + 1] = kept
    return merged, result, values
