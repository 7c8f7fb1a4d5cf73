"""The graph that everything works on: immutable compressed sparse rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from predict_graph.arrays import Array, FloatArray, IndexArray, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.rows import checked_rows, checked_weights, is_symmetric
from predict_graph.stopwatch import Stopwatch
from samplers.csr import induced_csr, matrix_of


class Described:
    """A graph that can be described in a few facts."""

    def describe(self) -> dict[str, Any]:
        """Return name, size, direction, fingerprint and what was assumed, for JSON."""
        names = ("name", "vertices", "edges", "directed", "fingerprint")
        facts = {name: getattr(self, name) for name in names}
        return {**facts, "notes": list(getattr(self, "notes", ()))}


def plain_labels(labels: Array) -> Array:
    """Return labels as files may have them: numbers, or texts."""
    if labels.dtype != object:
        return labels
    return np.array([str(each) for each in labels.tolist()], dtype=object)


def edges_of(indptr: IndexArray, vertices: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the numbers of edges of some vertices, and the places of these edges, row by row.

    Examples
    --------
    >>> [each.tolist() for each in edges_of(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[3, 2], [2, 3, 4, 0, 1]]
    """
    lengths = indptr[vertices + 1] - indptr[vertices]
    begins = np.cumsum(lengths) - lengths
    return lengths, np.repeat(indptr[vertices] - begins, lengths) + np.arange(lengths.sum())


def edge_weights(graph: Graph, vertices: IndexArray) -> FloatArray:
    """Return the weight of the edges of some vertices to others; their number without weights."""
    if len(vertices) > 2**14:  # in parts: an edge takes 26 bytes here
        parts = np.array_split(vertices, len(vertices) // 2**13)
        return np.concatenate([edge_weights(graph, part) for part in parts])
    lengths, places = edges_of(graph.indptr, vertices)
    owners = np.repeat(np.arange(len(vertices)), lengths)
    other = graph.indices[places] != vertices[owners]
    weights = None if graph.weights is None else graph.weights[places[other]]
    return np.bincount(owners[other], weights, minlength=len(vertices)).astype(np.float64)


def inbound_shares(graph: Graph) -> FloatArray:
    """Return what comes in if each vertex sends 1 in equal parts along its edges; and in how many.

    Parts are added in the order of the vertices that they come from.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The sum of the parts, and the number of inbound edges.
    """
    rows, degrees = graph.described_as(weights=None).to_scipy(np.int8), graph.out_degrees
    parts = np.divide(1.0, degrees, out=np.zeros(graph.vertices), where=degrees > 0)
    return np.column_stack([rows.T @ parts, graph.in_degrees])


def inbound_rows(graph: Graph, vertices: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return where the inbound neighbours of some vertices begin, and these, ascending in a row.

    One pass over the edges of a directed graph, which needs no reverse of it.
    """
    matrix = graph.to_scipy(np.int8)
    rows = matrix[:, vertices].tocsc() if graph.directed else matrix[vertices]
    return rows.indptr, rows.indices


@dataclass(frozen=True, eq=False)
class Graph(Described):
    """An immutable graph in compressed sparse rows (CSR).

    Row *v* of the matrix holds the out-neighbours of vertex *v*, ascending and without duplicates
    if it is `ascending`. Arrays that are given become read-only; views of others should not be
    given, as what is checked could be changed there.

    An undirected graph stores each edge in both directions (a self-loop once), so `edges` counts
    stored directed edges: the messages that one superstep of PageRank sends.

    Parameters
    ----------
    indptr : ndarray of int64, shape (n + 1,)
        Start of each row in `indices`.
    indices : ndarray of int32, shape (m,)
        Out-neighbours, row after row; int64 only when there are 2**31 vertices or more.
    weights : ndarray of float32, shape (m,), optional
        Weight of each edge; None when the graph has none.
    directed : bool
        False when both directions of every edge are stored.
    name : str
        What reports call the graph.
    labels : ndarray, shape (n,), optional
        Original id (integer or text) of each vertex; None when the ids were 0 … n - 1.
    read_seconds : float
        How long reading and building took; 0 for a graph made in memory.
    read_bytes : tuple of (int, int, int)
        What the process held before, meanwhile at most, and after; likewise.
    notes : tuple of str
        What was assumed when the graph was read, because neither user nor source says it.

    Attributes
    ----------
    ascending : bool
        Whether each row ascends without duplicates, as the rows of every graph that was read do.

    Raises
    ------
    RequestError
        If the arrays are not those of a graph. Each is checked: compiled code reads and writes
        where they say.

    Examples
    --------
    >>> import numpy as np
    >>> graph = Graph(np.array([0, 2, 3, 3]), np.array([1, 2, 2], dtype=np.int32), name="tiny")
    >>> graph
    Graph('tiny', 3 vertices, 3 directed edges)
    >>> graph.out_degrees
    array([2, 1, 0])
    """

    indptr: IntArray
    indices: IndexArray
    weights: npt.NDArray[np.float32] | None = None
    directed: bool = True
    name: str = "graph"
    labels: npt.NDArray[np.generic] | None = field(default=None, repr=False)
    read_seconds: float = 0.0
    read_bytes: tuple[int, int, int] = field(default=(0, 0, 0), repr=False, compare=False)
    notes: tuple[str, ...] = ()
    ascending: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        indptr, indices, ascending = checked_rows(self.indptr, self.indices)
        weights = checked_weights(self.weights, len(indices))
        labels = None if self.labels is None else np.asarray(self.labels)
        if labels is not None and labels.shape != (len(indptr) - 1,):
            raise RequestError(f"there are {labels.size} labels, but {len(indptr) - 1} vertices")
        arrays = {"indptr": indptr, "indices": indices, "weights": weights, "labels": labels}
        if not (self.directed or is_symmetric(indptr, indices)):
            raise RequestError(
                "the graph is said to be undirected, but some edge is stored in one direction only"
            )
        self.__setstate__({**arrays, "ascending": ascending})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for array in state.values():  # a copy, or what was pickled, could be written to
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"Graph({self.name!r}, {self.vertices} vertices, {self.logical_edges} {kind} edges)"

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        """Number of stored directed edges, m."""
        return len(self.indices)

    @cached_property
    def self_loops(self) -> int:
        """Number of edges from a vertex to itself."""
        return int(self.loops().sum(dtype=np.int64))

    def loops(self) -> npt.NDArray[np.int8]:
        """Return the number of edges from each vertex to itself."""
        found: npt.NDArray[np.int8] = self.described_as(weights=None).to_scipy(np.int8).diagonal()
        return found

    @cached_property
    def logical_edges(self) -> int:
        """Number of edges as the user counts them: an undirected edge once."""
        return self.edges if self.directed else (self.edges + self.self_loops) // 2

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n)``, as a scipy sparse array has it."""
        return self.vertices, self.vertices

    @property
    def nbytes(self) -> int:
        """Bytes of the stored arrays, labels excluded."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    @property
    def out_degrees(self) -> IntArray:
        """Number of outbound edges of each vertex."""
        return np.diff(self.indptr)

    @cached_property
    def in_degrees(self) -> IntArray:
        """Number of inbound edges of each vertex."""
        if not self.directed:
            return self.out_degrees
        counts = np.zeros(self.vertices, np.int64)
        some = max(self.vertices, 1)  # not all at once: numpy widens them
        for begin in range(0, self.edges, some):
            counts += np.bincount(self.indices[begin : begin + some], minlength=self.vertices)
        return counts

    @property
    def degrees(self) -> IntArray:
        """Number of edges of each vertex, in both directions."""
        return self.out_degrees + self.in_degrees if self.directed else self.out_degrees

    @cached_property
    def has_hubs(self) -> bool:
        """Whether degrees spread as much as those of an exponential distribution: by their mean."""
        return bool(self.degrees.std() >= self.degrees.mean())

    @cached_property
    def in_degree_counts(self) -> tuple[IntArray, IntArray]:
        """In-degrees that some vertex has, ascending, and how many vertices have each."""
        return np.unique(self.in_degrees, return_counts=True)

    @cached_property
    def out_degree_counts(self) -> tuple[IntArray, IntArray]:
        """Out-degrees that some vertex has, ascending, and how many vertices have each."""
        return np.unique(self.out_degrees, return_counts=True)

    @cached_property
    def reverse(self) -> Graph:
        """The graph with every edge turned round; the graph itself when it is undirected."""
        if not self.directed:
            return self
        watch = Stopwatch()
        made = self.with_rows(self.to_scipy(np.int8).T.tocsr())
        vars(self)["reverse_seconds"] = watch.seconds
        return made

    def with_rows(self, rows: sparse.csr_array) -> Graph:
        """Return the graph with other rows, which are checked."""
        weights = None if self.weights is None else rows.data
        return replace(self, indptr=rows.indptr, indices=rows.indices, weights=weights)

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of structure, weights and direction: the same for the same graph."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.vertices} {self.edges} {self.directed}".encode())
        for array in (self.indptr, self.indices, self.weights):
            if array is not None:
                digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        return digest.hexdigest()

    def fresh(self) -> Graph:
        """Return the graph without anything computed from it so far, such as its reverse."""
        return self.described_as()

    def described_as(self, **changes: Any) -> Graph:
        """Return the graph with another name, direction or labels; its rows are the same."""
        other = object.__new__(Graph)
        vars(other).update({each.name: vars(self)[each.name] for each in fields(self)}, **changes)
        return other

    def neighbors(self, vertex: int) -> IndexArray:
        """Return the out-neighbours of `vertex`, a view."""
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    def listed_edges(self) -> tuple[IndexArray, IndexArray, npt.NDArray[np.float32] | None]:
        """Return the ends of all edges, and their weights; an undirected edge once."""
        sources = np.repeat(np.arange(self.vertices, dtype=np.int64), self.out_degrees)
        targets = self.indices.astype(np.int64)
        if self.directed:
            return sources, targets, self.weights
        once = sources <= targets
        weights = None if self.weights is None else self.weights[once]
        return sources[once], targets[once], weights

    def subgraph(self, vertices: npt.ArrayLike) -> Graph:
        """Return the subgraph that `vertices` induce.

        Cost: the out-edges of `vertices`, and one array of n integers.

        Parameters
        ----------
        vertices : array_like of int, shape (k,)
            Distinct vertices; vertex *i* of the subgraph is ``vertices[i]``.

        Raises
        ------
        RequestError
            If a vertex does not exist or comes twice.
        """
        chosen = np.asarray(vertices)
        if chosen.size == 0:
            chosen = chosen.astype(np.int64)
        try:
            indptr, indices, weights = induced_csr(self.indptr, self.indices, chosen, self.weights)
        except ValueError as error:
            raise RequestError(str(error)) from error
        labels = None if self.labels is None else self.labels[chosen]
        starts = indptr.astype(np.int64, copy=False)
        name = f"{self.name}[{len(chosen)}]"
        part = Graph(starts, indices, weights, name=name, labels=labels)
        return part.described_as(directed=self.directed)  # symmetric if the whole is

    def to_scipy(self, kind: Any = np.float32) -> sparse.csr_array:
        """Return the adjacency matrix as a scipy CSR array; values are weights, or ones."""
        values = np.ones(self.edges, kind) if self.weights is None else self.weights
        return matrix_of(self.indptr, self.indices, values)
