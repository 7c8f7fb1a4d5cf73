"""Building graphs: from the ids of a file, from edges, and in the direction that is asked for.

Rules, the same for every source:

- An edge that comes twice counts once; the weights of its copies are added.
- Self-loops stay. An undirected self-loop is stored once.
- An undirected graph stores each edge in both directions, whether the source lists one or both: an
  edge listed in both directions is one edge (its weight is the larger of the two).
- The vertices of a file are the ids that occur in an edge, in ascending order. When they are
  0 … n - 1 already, nothing changes and nothing is stored; otherwise the original ids are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from predict_graph.arrays import Array, FloatArray, IndexArray
from predict_graph.errors import RequestError, explained
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeBlock
from predict_graph.limits import check_size
from predict_graph.stopwatch import imported

READ_AS_DIRECTED = "read as directed (not declared; --undirected or directed=False changes that)"
READ_AS_UNDIRECTED = "read as undirected (not declared; --directed or directed=True changes that)"


def weights_of(values: Any, where: str) -> FloatArray:
    """Return the weights that another library holds.

    Raises
    ------
    RequestError
        If one is no finite number.
    """
    with explained(f"a weight of {where} is not a number"):
        weights = np.array(values, dtype=np.float64)
    check_weights(weights, where)
    return weights


def check_weights(weights: np.ndarray[Any, Any], where: str) -> None:
    """Check that weights are finite, and as numbers of 32 bits, too.

    Raises
    ------
    RequestError
        If one is not.
    """
    most = np.finfo(np.float32).max
    wrong = np.flatnonzero(~(np.abs(weights) <= most))
    if len(wrong):
        raise RequestError(
            f"the weight of edge {wrong[0]} of {where} is {weights[wrong[0]]}; "
            f"accepted: finite numbers up to {most:.3g}"
        )


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
    if any(ends.ndim != 1 or ends.dtype.kind not in "iub" for ends in (sources, targets)):
        raise RequestError("the ends of edges are no vectors of integers; accepted: such vectors")
    if len(sources) != len(targets) or (weights is not None and len(weights) != len(sources)):
        raise RequestError("sources, targets and weights of the edges differ in length")
    extremes = [
        int(end) for ends in (sources, targets) if len(ends) for end in (ends.min(), ends.max())
    ]
    n = max(extremes, default=-1) + 1 if vertices is None else int(vertices)
    for wrong in extremes:
        if not 0 <= wrong < n:
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

    Parameters
    ----------
    blocks : list of EdgeBlock
        At least one. Emptied on the way, so that the memory of the blocks can be used again.
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
    weighted = blocks[0].weights is not None
    rows = _joined(blocks, vertices, weighted)
    if weighted:
        check_weights(rows.data, f"{name}, added to those of its copies,")
    if not directed:
        rows = _in_both_directions(rows)
    kept = rows.data if weighted else None
    graph = Graph(rows.indptr, rows.indices, kept, name=name, labels=labels)
    return graph.described_as(directed=directed)  # symmetric by now


def _joined(blocks: list[EdgeBlock], n: int, weighted: bool) -> Any:
    """Return the rows of all edges, as scipy makes them; without weights, values of one byte."""
    kind = np.int32 if n < 2**31 else np.int64
    columns: list[Any] = [*zip(*blocks, strict=True)]
    ends = [np.concatenate(parts, dtype=kind, casting="same_kind") for parts in columns[:2]]
    values = np.ones(len(ends[0]), np.int8)
    if weighted:
        values = np.concatenate(columns[2], dtype=np.float32, casting="same_kind")
    blocks.clear()
    del columns
    rows = sparse.coo_array((values, tuple(ends)), shape=(n, n)).tocsr()
    if not weighted:
        rows.data[:] = 1  # of 256 copies of an edge the sum would be 0
    return rows


def direction_of(declared: bool | None, asked: bool | None) -> tuple[bool, tuple[str, ...]]:
    """Return whether to read edges as directed, and the note on that where nobody says so.

    Examples
    --------
    >>> direction_of(False, None), direction_of(None, True)
    ((False, ()), (True, ()))
    """
    if asked is None and declared is None:
        return True, (READ_AS_DIRECTED,)
    return bool(declared if asked is None else asked), ()


def as_asked(graph: Graph, directed: bool | None, name: str | None) -> Graph:
    """Return the graph with the direction and the name asked for; None leaves them as they are.

    Its rows are in order then, and an edge that comes twice counts once.
    """
    if not graph.ascending:
        rows = graph.to_scipy().copy()
        rows.sum_duplicates()
        graph = graph.with_rows(rows)
    if directed is not None and READ_AS_DIRECTED in graph.notes:
        rest = tuple(note for note in graph.notes if note != READ_AS_DIRECTED)
        graph = graph.described_as(notes=rest)
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
    both = graph.with_rows(_in_both_directions(graph.to_scipy(np.int8)))
    return both.described_as(directed=False)


def _in_both_directions(rows: Any) -> Any:
    """Return rows and columns together; of two weights of an edge the larger one holds."""
    values = rows.data
    if len(values) and not values.min() > 0:  # scipy takes what is not stored as a 0
        values, places = np.unique(values, return_inverse=True)
        rows.data = places + 1
        both = rows.maximum(rows.T.tocsr())
        both.data = values[both.data - 1]
    else:
        both = rows.maximum(rows.T.tocsr())
    both.sort_indices()
    return both


def relabel(
    blocks: list[EdgeBlock], *, apart: bool = False
) -> tuple[list[EdgeBlock], int, Array | None]:
    """Return the edges between vertices 0 … n - 1, n, and the original ids unless they are those.

    `blocks` is emptied on the way, so that the edges are never stored twice. With `apart`, sources
    and targets are of two kinds: the same id in both is two vertices, and sources come first.

    Examples
    --------
    >>> edges, n, labels = relabel([EdgeBlock(np.array([1, 1]), np.array([1, 2]))], apart=True)
    >>> n, edges[0].targets.tolist(), labels.tolist()
    (3, [1, 2], [1, 1, 2])
    """
    sources: list[Any] = [block.sources for block in blocks]
    targets: list[Any] = [block.targets for block in blocks]
    weights = [block.weights for block in blocks]
    blocks.clear()
    if apart:
        own, other = _numbered(sources), _numbered(targets)
        targets = [part + len(own) for part in targets]
        labels = np.concatenate([own, other])
    else:
        ends = sources + targets
        del sources, targets
        labels = _numbered(ends)
        sources, targets = ends[: len(weights)], ends[len(weights) :]
    plain = not apart and labels.dtype != object and int(labels[-1]) == len(labels) - 1
    edges = [EdgeBlock(*each) for each in zip(sources, targets, weights, strict=True)]
    return edges, len(labels), None if plain else labels


def _numbered(parts: list[Any], dense: int = 1 << 22) -> Array:
    """Replace ids by their places among all of them, in ascending order; return them so.

    If the largest id is below `dense`, or below twice their number, by a table of all ids.
    """
    if not isinstance(parts[0], np.ndarray):
        return _numbered_sparse(parts)
    largest = max(int(part.max()) for part in parts)
    if largest >= max(dense, 2 * sum(map(len, parts))):
        return _numbered_sparse(parts)
    present = np.zeros(largest + 1, np.bool_)
    for part in parts:
        present[part] = True
    ids = np.flatnonzero(present)
    if len(ids) < largest + 1:
        rank = np.zeros(largest + 1, np.int32 if len(ids) < 2**31 else np.int64)
        rank[ids] = np.arange(len(ids))
        parts[:] = [rank[part] for part in parts]
    return ids


def _numbered_sparse(parts: list[Any]) -> Array:
    """Do the same with texts, or numbers far apart; texts are in the order of their UTF-8 bytes."""
    pa, pc = imported("pyarrow"), imported("pyarrow.compute")
    if isinstance(parts[0], np.ndarray):
        encoded = pa.chunked_array(parts, pa.int64()).dictionary_encode()
    else:
        encoded = pa.chunked_array(parts).unify_dictionaries()
    ids = encoded.chunk(0).dictionary
    order = pc.sort_indices(ids)
    rank = np.empty(len(ids), np.int32)
    rank[order.to_numpy()] = np.arange(len(ids))
    parts[:] = [rank[chunk.indices.to_numpy()] for chunk in encoded.chunks]
    labels: Array = ids.take(order).to_numpy(zero_copy_only=False)
    return labels
