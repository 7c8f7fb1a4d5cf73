"""Graphs of igraph and networkit, and edges in tables of pandas and polars.

None of these libraries is imported: an object is known by the module of its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.build import direction_of, from_edges
from predict_graph.graph.csr import Graph
from predict_graph.graph.objects import check_weights

__all__ = ["from_library"]

_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))


def from_library(source: Any, *, directed: bool | None, name: str | None) -> Graph:
    """Return the graph of an igraph or networkit graph, or of a pandas or polars table of edges.

    Raises
    ------
    RequestError
        If `source` is none of these, or is no graph.
    """
    for kind in type(source).__mro__:
        library = kind.__module__.partition(".")[0]
        made = _MAKERS.get((library, kind.__name__))
        if made is not None:
            return made(source, directed, name)
    raise RequestError(
        f"a graph cannot be made of {type(source).__name__}; accepted: Graph, a text or path, a "
        "networkx, igraph or networkit graph, a scipy sparse array, a pandas or polars table of "
        "edges"
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


def _from_table(source: Any, directed: bool | None, name: str | None) -> Graph:
    columns = [str(column) for column in source.columns]
    ends = next((pair for pair in _ENDS if set(pair) <= set(columns)), None)
    places = [0, 1] if ends is None else [columns.index(end) for end in ends]
    if len(columns) < 2:
        raise RequestError(f"the table has {len(columns)} columns; accepted: two ends of each edge")
    parts = [_column(source, place) for place in places]
    whole = all(part.dtype.kind in "iu" for part in parts)
    where = "the table"
    weights = None
    if "weight" in columns:
        weights = _weights(_column(source, columns.index("weight")), where)
    if whole and all(len(part) == 0 or int(part.min()) >= 0 for part in parts):
        joined = np.concatenate(parts).astype(np.int64)
    else:
        joined = np.concatenate([part.astype(object) for part in parts])
    if joined.dtype.kind == "O" and any(one is None or one != one for one in joined):
        raise RequestError(f"an end of an edge of {where} is missing; accepted: an id in each row")
    try:
        labels, ids = np.unique(joined, return_inverse=True)
    except TypeError as error:
        raise RequestError(f"the ids of {where} are of several kinds: {error}") from error
    plain = labels.dtype.kind == "i" and len(labels) > 0 and int(labels[-1]) == len(labels) - 1
    count = len(parts[0])
    edges = np.column_stack([ids[:count], ids[count:]])
    directed, notes = direction_of(None, directed)
    graph = _made(
        edges,
        len(labels),
        weights,
        directed,
        name or type(source).__module__.partition(".")[0],
        None if plain else labels,
    )
    return graph.described_as(notes=notes)


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


_MAKERS: dict[tuple[str, str], Callable[[Any, bool | None, str | None], Graph]] = {
    ("igraph", "Graph"): _from_igraph,
    ("networkit", "Graph"): _from_networkit,
    ("pandas", "DataFrame"): _from_table,
    ("polars", "DataFrame"): _from_table,
}
