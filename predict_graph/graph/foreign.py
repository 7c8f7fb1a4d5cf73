"""Graphs of igraph and networkit, edges in tables of pandas and polars, and lists of edges.

None of these libraries is imported: an object is known by the module of its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.build import direction_of, from_edges
from predict_graph.graph.columns import find_columns
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.objects import check_weights, whole_numbers


def from_library(wanted: EdgeList, *, directed: bool | None, name: str | None) -> Graph:
    """Return the graph of an igraph or networkit graph, or of a table or list of edges.

    Raises
    ------
    RequestError
        If it is none of these, or is no graph.
    """
    source = wanted.edges
    if isinstance(source, list | tuple | set | frozenset | np.ndarray):
        return _from_rows(wanted, directed, name)
    for kind in type(source).__mro__:
        if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] in _TABLES:
            return _from_table(wanted, directed, name)
        library = kind.__module__.partition(".")[0]
        made = _MAKERS.get((library, kind.__name__))
        if made is not None:
            return made(source, directed, name)
    raise RequestError(
        f"a graph cannot be made of {type(source).__name__}; accepted: Graph, a text or path, a "
        "networkx, igraph or networkit graph, a scipy sparse array, a pandas or polars table of "
        "edges, a list of pairs"
    )


def _from_igraph(source: Any, directed: bool | None, name: str | None) -> Graph:
    edges = np.array(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if "weight" in source.es.attributes():
        weights = _weights(source.es["weight"], "the igraph graph")
    labels = None
    if "name" in source.vs.attributes():
        labels = np.empty(source.vcount(), dtype=object)
        labels[:] = source.vs["name"]
    return _made(
        edges,
        source.vcount(),
        weights,
        source.is_directed() if directed is None else directed,
        name or "igraph",
        labels,
    )


def _from_networkit(source: Any, directed: bool | None, name: str | None) -> Graph:
    count = source.numberOfNodes()
    if count != source.upperNodeIdBound():
        raise RequestError(
            "the networkit graph has gaps between its node ids; accepted: ids from 0 on, as "
            "networkit.graphtools.getCompactedGraph gives"
        )
    if source.isWeighted():
        rows = list(source.iterEdgesWeights())
        edges = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
        weights = _weights([row[2] for row in rows], "the networkit graph")
    else:
        edges = np.array(list(source.iterEdges()), dtype=np.int64).reshape(-1, 2)
        weights = None
    asked = source.isDirected() if directed is None else directed
    return _made(edges, count, weights, asked, name or "networkit", None)


def _from_table(wanted: EdgeList, directed: bool | None, name: str | None) -> Graph:
    source = wanted.edges
    names = [str(column) for column in source.columns]
    if len(names) < 2:
        raise RequestError(f"the table has {len(names)} columns; accepted: two ends of each edge")
    if len(names) > 3 and [str(row) for row in getattr(source, "index", ())] == names:
        raise RequestError(
            "the table seems to be an adjacency matrix; accepted: a table of edges, or "
            "scipy.sparse.csr_array of the matrix"
        )
    columns = [_column(source, place) for place in range(len(names))]
    usable = [column.dtype.kind in "iufOSUT" for column in columns]
    found = find_columns(names, "the table", wanted, usable)
    weights = None
    if found.weight is not None:
        weights = _weights(columns[found.weight], "the table")
    name = name or type(source).__module__.partition(".")[0]
    ends = [columns[found.source], columns[found.target]]
    return _from_columns(ends, weights, found.bipartite, directed, name)


def _from_rows(wanted: EdgeList, directed: bool | None, name: str | None) -> Graph:
    """Return the graph of pairs of ids, or of two ids and a weight."""
    rows = wanted.edges.tolist() if hasattr(wanted.edges, "tolist") else list(wanted.edges)
    lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if not lengths <= {2} and not lengths <= {3}:
        raise RequestError(
            "the edges are not all pairs of ids, or all two ids and a weight; accepted: a list "
            "such as [(0, 1), (1, 2)]"
        )
    ends = [_array([row[i] for row in rows]) for i in range(2)]
    weights = None
    if lengths == {3}:
        values = [row[2].get("weight") if isinstance(row[2], dict) else row[2] for row in rows]
        weights = None if None in values else _weights(values, "the list")
    return _from_columns(ends, weights, bool(wanted.bipartite), directed, name or "list")


def _array(values: list[Any]) -> npt.NDArray[Any]:
    """Return ids as an array: of numbers if they are numbers, else of objects."""
    array = np.empty(len(values), object)
    array[:] = values
    numbers = all(isinstance(value, int | float) for value in values)
    return np.array(values) if numbers and values else array


def _from_columns(
    ends: list[npt.NDArray[Any]],
    weights: npt.NDArray[np.float64] | None,
    bipartite: bool,
    directed: bool | None,
    name: str,
) -> Graph:
    """Return the graph of ids that are integers, or floating-point ones that are whole, or text."""
    ids = [whole_numbers(part) if part.dtype.kind in "iuf" else None for part in ends]
    if all(found is not None and not len(found[1]) for found in ids):
        ends = [found[0] for found in ids if found is not None]
    else:
        ends = [part.astype(object) for part in ends]
        if any(one is None or one != one for part in ends for one in part):
            raise RequestError("an end of an edge is missing; accepted: an id in each row")
        odd = next((one for part in ends for one in part if isinstance(one, float)), None)
        if odd is not None:
            raise RequestError(f"an end of an edge is {odd}; accepted: whole numbers, or texts")
    try:
        if bipartite:
            both = [np.unique(part, return_inverse=True) for part in ends]
            labels = np.concatenate([both[0][0], both[1][0]])
            edges = np.column_stack([both[0][1], both[1][1] + len(both[0][0])])
        else:
            labels, places = np.unique(np.concatenate(ends), return_inverse=True)
            edges = np.column_stack([places[: len(ends[0])], places[len(ends[0]) :]])
    except TypeError as error:
        raise RequestError(f"the ids of {name} are of several kinds: {error}") from error
    plain = labels.dtype.kind == "i" and np.array_equal(labels, np.arange(len(labels)))
    directed, notes = direction_of(None, directed)
    made = _made(edges, len(labels), weights, directed, name, None if plain else labels)
    return made.described_as(notes=notes)


def _column(source: Any, place: int) -> npt.NDArray[Any]:
    """Return a column of a pandas or polars table; polars takes them by name too."""
    column = source.iloc[:, place] if hasattr(source, "iloc") else source[:, place]
    found: npt.NDArray[Any] = np.asarray(column.to_numpy())
    return found


def _weights(values: Any, where: str) -> npt.NDArray[np.float64]:
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RequestError(f"a weight of {where} is not a number: {error}") from None
    check_weights(weights, where)
    return weights


def _made(
    edges: npt.NDArray[np.int64],
    vertices: int,
    weights: npt.NDArray[np.float64] | None,
    directed: bool,
    name: str,
    labels: npt.NDArray[Any] | None,
) -> Graph:
    if vertices == 0:
        raise RequestError(f"the graph {name!r} has no vertices")
    return from_edges(
        edges[:, 0],
        edges[:, 1],
        vertices=vertices,
        weights=weights,
        directed=bool(directed),
        name=name,
        labels=labels,
    )


_TABLES = ("pandas", "polars")
_MAKERS: dict[tuple[str, str], Callable[[Any, bool | None, str | None], Graph]] = {
    ("igraph", "Graph"): _from_igraph,
    ("networkit", "Graph"): _from_networkit,
}
