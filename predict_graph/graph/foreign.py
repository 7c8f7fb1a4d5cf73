"""Graphs of other libraries, edges in tables of pandas and polars, and lists of edges.

None of these libraries is imported: an object is known by the module of its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from predict_graph.errors import RequestError
from predict_graph.graph.build import as_asked, from_edges
from predict_graph.graph.columns import Columns, declared_in, find_columns
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.objects import from_networkx, from_scipy, labels_of, weights_of
from predict_graph.graph.readers import graph_of
from predict_graph.graph.tables import edge_block, ids_are_text
from predict_graph.stopwatch import imported


def from_library(wanted: EdgeList, *, directed: bool | None, name: str | None) -> Graph:
    """Return the graph of one of another library, or of a table or list of edges.

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
            return as_asked(made(source), directed, name)
    raise RequestError(
        f"a graph cannot be made of {type(source).__name__}; accepted: Graph, a text or path, a "
        "networkx, igraph or networkit graph, a scipy sparse array, a pandas or polars table of "
        "edges, a list of pairs"
    )


def _from_igraph(source: Any) -> Graph:
    edges = np.array(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights, labels = None, None
    if "weight" in source.es.attributes():
        weights = weights_of(source.es["weight"], "the igraph graph")
    if "name" in source.vs.attributes():
        labels = labels_of(source.vs["name"])
    return from_edges(
        *edges.T,
        vertices=source.vcount(),
        weights=weights,
        directed=source.is_directed(),
        name="igraph",
        labels=labels,
    )


def _from_networkit(source: Any) -> Graph:
    count = source.numberOfNodes()
    if count != source.upperNodeIdBound():
        raise RequestError(
            "the networkit graph has gaps between its node ids; accepted: ids from 0 on, as "
            "networkit.graphtools.getCompactedGraph gives"
        )
    rows = np.array(list(source.iterEdgesWeights()), np.float64).reshape(-1, 3)
    return from_edges(
        *rows[:, :2].T.astype(np.int64),
        vertices=count,
        weights=weights_of(rows[:, 2], "the networkit graph") if source.isWeighted() else None,
        directed=source.isDirected(),
        name="networkit",
    )


def _from_table(wanted: EdgeList, directed: bool | None, name: str | None) -> Graph:
    source = wanted.edges
    names = [str(column) for column in source.columns]
    index = [str(row) for row in getattr(source, "index", ())]
    if index == names and (len(names) > 3 or not names[0].isdigit()):
        raise RequestError(
            "the table seems to be an adjacency matrix; accepted: a table of edges, or "
            "scipy.sparse.csr_array of the matrix"
        )
    columns = [  # polars takes them by name too
        (source.iloc[:, place] if hasattr(source, "iloc") else source[:, place]).to_numpy()
        for place in range(len(names))
    ]
    usable = [column.dtype.kind in "iufOSUT" for column in columns]
    found = find_columns(names, "the table", wanted, usable)
    made = _edges("the table", names, columns, found, wanted)
    return graph_of(made, "the table", directed, name or type(source).__module__.partition(".")[0])


def _from_rows(wanted: EdgeList, directed: bool | None, name: str | None) -> Graph:
    """Return the graph of pairs of ids, or of two ids and a weight."""
    rows = wanted.edges.tolist() if hasattr(wanted.edges, "tolist") else list(wanted.edges)
    lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if not lengths <= {2} and not lengths <= {3}:
        raise RequestError(
            "the edges are not all pairs of ids, or all two ids and a weight; accepted: a list "
            "such as [(0, 1), (1, 2)]"
        )
    columns = [[row[i] for row in rows] for i in range(max(lengths, default=2))]
    if lengths == {3}:
        columns[2] = [each.get("weight") if isinstance(each, dict) else each for each in columns[2]]
        if set(columns[2]) - {None}:  # networkx: an edge without a weight weighs 1
            columns[2] = [1 if each is None else each for each in columns[2]]
    weight = 2 if lengths == {3} and None not in columns[2] else None
    found = Columns(0, 1, weight, bipartite=bool(wanted.bipartite))
    made = _edges("the list", ["source", "target", "weight"], columns, found, wanted)
    return graph_of(made, "the list", directed, name or "list")


def _edges(
    where: str, names: list[str], columns: list[Any], found: Columns, wanted: EdgeList
) -> EdgeSource:
    """Return the edges of two columns of ids and perhaps one of weights."""
    pa, arrays = imported("pyarrow"), []
    chosen = [names[place] for place in found.places]
    for name, place in zip(chosen, found.places, strict=True):
        try:
            arrays.append(pa.array(columns[place], from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise RequestError(
                f"{where}: the values of {name!r} are of several kinds, or of none that is read; "
                "accepted: integers, or text"
            ) from error
    if not len(arrays[0]):
        raise RequestError(f"{where} has no edges")
    texts = ids_are_text(where, chosen, [each.type for each in arrays], wanted)
    return EdgeSource(
        [edge_block(where, chosen, arrays, texts=texts)],
        directed=None if found.kind is None else declared_in(columns[found.kind]),
        bipartite=found.bipartite,
        notes=found.notes(names, wanted),
    )


_TABLES = ("pandas", "polars")
# By the library and the name of a class.
_MAKERS: dict[tuple[str, str], Callable[[Any], Graph]] = {
    ("networkx", "Graph"): from_networkx,
    ("scipy", "_spbase"): from_scipy,
    ("igraph", "Graph"): _from_igraph,
    ("networkit", "Graph"): _from_networkit,
}
