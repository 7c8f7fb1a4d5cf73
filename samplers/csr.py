"""Rows of graphs: one coercion for all that a sampler accepts, reversed rows, and subgraphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

IntArray = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class CSRArrays:
    """The adjacency of a graph: read-only, contiguous, checked."""

    # shape (n + 1,): Start of each row in `indices`.
    indptr: IntArray
    # shape (m,): Out-neighbours, row after row.
    indices: IntArray
    # False when every edge is known to be stored in both directions.
    directed: bool
    # What the arrays were taken from; its ``reverse``, if it has one, is read when needed.
    source: Any = None

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        """Number of stored edges, m."""
        return len(self.indices)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n)``."""
        return self.vertices, self.vertices

    def reverse(self) -> CSRArrays:
        """Return the graph with every edge turned round; itself when it is undirected.

        The ``reverse`` attribute of the source if it fits, else one that is built, which takes as
        much memory as the graph.
        """
        if not self.directed:
            return self
        found = getattr(self.source, "reverse", None)
        if hasattr(found, "indptr"):
            reverse = check_csr(found)
            if (reverse.vertices, reverse.edges) == (self.vertices, self.edges):
                return reverse
        return owned(*reverse_csr(self.indptr, self.indices), directed=True)


def check_csr(graph: Any) -> CSRArrays:
    """Return the adjacency arrays of any graph that a sampler accepts.

    Arrays in compressed sparse rows are taken as they are, without a copy. The ids of a networkx
    graph become its positions, in the order of ``graph.nodes``; its undirected edges are stored in
    both directions. A sparse matrix of another format is converted. Every index is checked.

    Parameters
    ----------
    graph : object
        Something with ``indptr``, ``indices`` and ``shape``, a scipy sparse array, or a networkx
        graph. A ``directed`` attribute that is False means that both directions of each edge are
        stored.

    Raises
    ------
    ValueError
        If `graph` is none of these, not square, without a vertex, or has a wrong index.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> arrays = check_csr(csr_array([[0, 1], [0, 0]]))
    >>> arrays.vertices, arrays.edges, arrays.directed
    (2, 1, True)
    """
    if isinstance(graph, CSRArrays):
        return graph
    directed = True
    source = graph
    if hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        from networkx import to_scipy_sparse_array

        directed = bool(graph.is_directed())
        source = None
        if len(graph) == 0:
            raise ValueError("the graph has no vertices; at least one is needed")
        to_sparse: Any = to_scipy_sparse_array
        graph = to_sparse(graph, weight=None, dtype=np.int8, format="csr")
    elif hasattr(graph, "tocsr") and getattr(graph, "format", None) != "csr":
        graph, source = graph.tocsr(), None
    elif not all(hasattr(graph, name) for name in ("indptr", "indices", "shape")):
        raise ValueError(
            f"a {type(graph).__name__} is not a graph; accepted: something with indptr, indices "
            "and shape, a scipy sparse array, a networkx graph"
        )
    directed = getattr(graph, "directed", directed) is not False

    if len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"the matrix has shape {tuple(graph.shape)}; it must be square")
    n = int(graph.shape[0])
    if n == 0:
        raise ValueError("the graph has no vertices; at least one is needed")
    if n >= 2**32:
        raise ValueError(f"the graph has {n} vertices; fewer than 2**32 are accepted")
    if len(graph.indptr) != n + 1:
        raise ValueError(f"indptr has {len(graph.indptr)} elements; {n + 1} are needed")
    indptr = read_only(graph.indptr, "indptr")
    indices = read_only(graph.indices[: indptr[-1]], "indices")  # those of scipy may be longer
    check_rows(indptr, indices)
    return CSRArrays(indptr, indices, directed, source)


def read_only(array: Any, name: str) -> IntArray:
    """Return integers as a read-only contiguous array of 32 or 64 bits, a view if they are one."""
    values = np.asarray(array)
    if not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"{name} has type {values.dtype}; integers are needed")
    if values.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        values = values.astype(np.int64)
    return frozen(values)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only contiguous view, so that one compiled version serves all callers."""
    view = np.ascontiguousarray(array).view(np.ndarray)[:]
    view.flags.writeable = False
    return view


def reverse_csr(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the arrays of the reversed graph (the transpose); rows come out ascending.

    Takes the memory of its result, and a byte for each edge of both.

    Parameters
    ----------
    indptr : ndarray of int, shape (n + 1,)
    indices : ndarray of int, shape (m,)

    Returns
    -------
    indptr : ndarray of int64, shape (n + 1,)
    indices : ndarray, shape (m,), dtype of the input's `indices`

    Examples
    --------
    >>> reverse_csr(np.array([0, 2, 2, 3]), np.array([1, 2, 1], dtype=np.int32))
    (array([0, 0, 2, 3]), array([0, 2, 0], dtype=int32))
    """
    turned = matrix_of(indptr, indices).T.tocsr()
    return turned.indptr.astype(np.int64), turned.indices.astype(indices.dtype, copy=False)


def induced_csr(
    indptr: IntArray,
    indices: IntArray,
    vertices: npt.ArrayLike,
    weights: npt.NDArray[Any] | None = None,
) -> tuple[IntArray, IntArray, npt.NDArray[Any] | None]:
    """Return the CSR arrays of the subgraph that `vertices` induce.

    Vertex *i* of the subgraph is ``vertices[i]``, and an edge is kept when both its ends are.
    Parallel edges and self-loops are kept. Costs two passes over the rows of `vertices`, and a
    byte an edge of the whole graph.

    Parameters
    ----------
    indptr : ndarray of int, shape (n + 1,)
        Start of each row of the whole graph.
    indices : ndarray of int, shape (m,)
        Out-neighbours, row after row.
    vertices : array_like of int, shape (k,)
        Distinct vertices of the whole graph, in any order.
    weights : ndarray, shape (m,), optional
        Weight of each edge.

    Returns
    -------
    indptr : ndarray of int64, shape (k + 1,)
    indices : ndarray, shape (m_kept,), dtype of the input's `indices`
        Ascending in each row.
    weights : ndarray, shape (m_kept,), or None
        Weights of the edges kept; None when none were given.

    Raises
    ------
    ValueError
        If a vertex does not exist or comes twice, or if `weights` has another length than
        `indices`.

    Examples
    --------
    >>> indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 2, 0], dtype=np.int32)
    >>> induced_csr(indptr, indices, [2, 0])
    (array([0, 1, 2]), array([1, 0], dtype=int32), None)
    """
    indptr, indices = read_only(indptr, "indptr"), read_only(indices, "indices")
    chosen = np.asarray(vertices)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise ValueError(
            f"vertices must be a vector of integers, not {chosen.ndim}-dimensional {chosen.dtype}"
        )
    n = len(indptr) - 1
    chosen = chosen.astype(np.int64, copy=False)
    if chosen.size and not (int(chosen.min()) >= 0 and int(chosen.max()) < n):
        wrong = int(chosen[(chosen < 0) | (chosen >= n)][0])
        raise ValueError(f"vertex {wrong} does not exist; vertices are 0 to {n - 1}")
    if weights is not None and len(weights) != len(indices):
        raise ValueError(f"there are {len(weights)} weights, but {len(indices)} edges")
    twice = np.sort(chosen)
    twice = twice[1:][twice[1:] == twice[:-1]]
    if len(twice):
        raise ValueError(f"vertex {twice[0]} comes twice; vertices must be distinct")
    rows = matrix_of(indptr, indices, weights)[chosen][:, chosen]
    rows.sort_indices()
    starts, targets = rows.indptr.astype(np.int64), rows.indices.astype(indices.dtype, copy=False)
    return starts, targets, None if weights is None else rows.data


def matrix_of(
    indptr: IntArray, indices: IntArray, values: npt.NDArray[Any] | None = None
) -> sparse.csr_array:
    """Return rows as a square sparse array of scipy; ones of a byte stand for missing values."""
    if len(indices) <= np.iinfo(indices.dtype).max:  # scipy makes both arrays of one type
        indptr = indptr.astype(indices.dtype, copy=False)
    data = np.ones(len(indices), np.int8) if values is None else values
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1,) * 2)


def owned(indptr: IntArray, indices: IntArray, *, directed: bool) -> CSRArrays:
    """Return arrays that were made here, and so need no check."""
    return CSRArrays(read_only(indptr, "indptr"), read_only(indices, "indices"), directed)


def check_rows(indptr: IntArray, indices: IntArray) -> None:
    """Raise ValueError unless vectors of integers are the rows of a graph.

    Examples
    --------
    >>> check_rows(np.array([0, 1, 1]), np.array([2]))
    Traceback (most recent call last):
    ValueError: edge 0 leads to the vertex 2; accepted: 0 to 1
    """
    n, falls = len(indptr) - 1, np.flatnonzero(indptr[1:] < indptr[:-1])
    if indptr[:1].tolist() != [0]:
        raise ValueError(f"indptr of a graph begins with {indptr[:1]}; accepted: [0]")
    if len(falls):
        before, after = (int(indptr[falls[0] + each]) for each in (0, 1))
        raise ValueError(
            f"indptr of a graph falls from {before} to {after} at vertex {falls[0]}; accepted: "
            "starts of rows, in order"
        )
    if indptr[n] != len(indices):
        raise ValueError(f"indptr ends at {int(indptr[n])}, but there are {len(indices)} edges")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < n:
        place = int(np.argmax((indices < 0) | (indices >= n)))
        raise ValueError(
            f"edge {place} leads to the vertex {int(indices[place])}; accepted: 0 to {n - 1}"
        )
