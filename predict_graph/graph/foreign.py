"""Graphs of other libraries, edges in tables of pandas and polars, and lists of edges.

None of these libraries is imported: an object is known by the module of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from predict_graph.arrays import IntArray
from predict_graph.errors import RequestError, explained
from predict_graph.graph.build import as_asked, check_weights, from_edges, weights_of
from predict_graph.graph.columns import declared_in, find_columns
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList, EdgeSource
from predict_graph.graph.readers import graph_of
from predict_graph.graph.readers.parquet import edge_block, ids_are_text
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
        return graph_of(_from_rows(wanted), "the list", directed, name or "list")
    for kind in type(source).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__name__ == "DataFrame" and library in ("pandas", "polars"):
            return graph_of(_from_table(wanted), "the table", directed, name or library)
        if made := _MAKERS.get((library, kind.__name__)):
            wanted.refuse_columns(f"a graph of {library}")
            return as_asked(made(source), directed, name)
    raise RequestError(
        f"a graph cannot be made of {type(source).__name__}; accepted: Graph, a text or path, a "
        "networkx, igraph or networkit graph, a scipy sparse array, a pandas or polars table of "
        "edges, a list of pairs"
    )


def _from_igraph(source: Any) -> Graph:
    edges = np.array(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    listed = _completed(source.es["weight"]) if "weight" in source.es.attributes() else None
    named = "name" in source.vs.attributes()
    return from_edges(
        *edges.T,
        vertices=source.vcount(),
        weights=None if listed is None else weights_of(listed, "the igraph graph"),
        directed=source.is_directed(),
        name="igraph",
        labels=labels_of(source.vs["name"]) if named else None,
    )


def _from_networkit(source: Any) -> Graph:
    nodes = np.fromiter(source.iterNodes(), np.int64)  # some may have been removed
    rows = np.array(list(source.iterEdgesWeights()), np.float64).reshape(-1, 3)
    return from_edges(
        *np.searchsorted(nodes, rows[:, :2].T),
        vertices=len(nodes),
        weights=weights_of(rows[:, 2], "the networkit graph") if source.isWeighted() else None,
        directed=source.isDirected(),
        name="networkit",
        labels=nodes if len(nodes) < source.upperNodeIdBound() else None,
    )


def _from_table(wanted: EdgeList) -> EdgeSource:
    source = wanted.edges
    names = [str(column) for column in source.columns]
    index = [str(row) for row in getattr(source, "index", ())[: len(names) + 1]]
    if names and index == names and (len(names) > 3 or not names[0].isdigit()):
        raise RequestError(
            "the table seems to be an adjacency matrix; accepted: a table of edges, or "
            "scipy.sparse.csr_array of the matrix"
        )
    return _edges("the table", names, *columns_of_table(source), wanted)


def columns_of_table(source: Any) -> tuple[list[Any], list[bool]]:
    """Return the columns of a table of pandas or polars, and whether each may hold ids."""
    columns = [  # polars takes them by name too
        (source.iloc[:, place] if hasattr(source, "iloc") else source[:, place]).to_numpy()
        for place in range(len(source.columns))
    ]
    return columns, [column.dtype.kind in "iufOSUT" for column in columns]


def _from_rows(wanted: EdgeList) -> EdgeSource:
    """Return the edges of pairs of ids, or of two ids and a weight."""
    rows = wanted.edges
    table = isinstance(rows, np.ndarray) and not isinstance(rows, np.matrix) and rows.ndim == 2
    if not (table and rows.dtype.isnative and rows.dtype != object):
        table, rows = False, rows.tolist() if hasattr(rows, "tolist") else list(rows)
    some = rows[:1] if table else rows
    lengths = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in some}
    if not lengths <= {2} and not lengths <= {3}:
        raise RequestError(
            "the edges are not all pairs of ids, or all two ids and a weight; accepted: a list "
            "such as [(0, 1), (1, 2)]"
        )
    number = max(lengths, default=2)
    columns = [*rows.T] if table else [[row[i] for row in rows] for i in range(number)]
    if number == 3 and not table:
        weights = [each.get("weight") if isinstance(each, dict) else each for each in columns.pop()]
        columns += filter(None, [_completed(weights)])
    return _edges("the list", ["source", "target", "weight"][: len(columns)], columns, [], wanted)


def _completed(weights: list[Any]) -> list[Any] | None:
    """Return weights with 1 for missing ones, as networkx takes them; None if all are missing."""
    if all(each is None for each in weights):
        return None
    return [1 if each is None else each for each in weights]


def _edges(
    where: str, names: list[str], columns: list[Any], usable: Sequence[bool], wanted: EdgeList
) -> EdgeSource:
    """Return the edges of two columns of ids and perhaps one of weights."""
    found = find_columns(names, where, wanted, usable)
    pa, arrays = imported("pyarrow"), []
    chosen = [names[place] for place in found.places]
    for name, place in zip(chosen, found.places, strict=True):
        with explained(f"{where}: the values of {name!r} are not all numbers, or all text"):
            arrays.append(pa.array(columns[place], from_pandas=True))
    if not len(arrays[0]):
        raise RequestError(f"{where} has no edges")
    texts = ids_are_text(where, chosen, [each.type for each in arrays], wanted)
    return EdgeSource(
        [edge_block(where, chosen, arrays, texts=texts)],
        directed=None if found.kind is None else declared_in(columns[found.kind]),
        bipartite=found.bipartite,
        notes=found.notes(names, wanted),
    )


def from_networkx(source: Any, where: str = "the networkx graph") -> Graph:
    """Return the graph of a networkx graph; its nodes become `labels` unless they are 0 … n - 1.

    Edges have weights when one has the attribute ``weight``; the others then weigh 1. Parallel
    edges of a multigraph count once, their weights added.

    Raises
    ------
    RequestError
        If a weight is not a finite number, or the graph has no vertices.
    """
    nodes = list(source.nodes())
    if not nodes:
        raise RequestError(f"{where} has no vertices")
    ordered = all(map(_is_whole, nodes))
    if ordered:
        nodes.sort()
    position = {node: i for i, node in enumerate(nodes)}
    plain = ordered and nodes[0] == 0 and nodes[-1] == len(nodes) - 1
    sources, targets, listed = _listed(source, None if plain else position)
    return from_edges(
        sources,
        targets,
        vertices=len(nodes),
        weights=weights_of(listed, where) if listed else None,
        name=str(getattr(source, "name", "")) or "networkx",
        labels=None if plain else labels_of(nodes),
    ).described_as(directed=source.is_directed())


def _listed(
    source: Any, position: dict[Any, int] | None
) -> tuple[IntArray, IntArray, list[Any] | None]:
    """Return the ends of edges, and their weights if one has one, row by row.

    An undirected edge is in two rows, as in ours. Nothing here is done edge by edge in Python, but
    for weights; vertices that are 0 … n - 1 need no position, which is most of the time.
    """

    def places(nodes: Iterable[Any], count: int) -> IntArray:
        found = nodes if position is None else map(position.__getitem__, nodes)
        return np.fromiter(found, np.int64, count)

    rows = source._adj
    counts = np.fromiter(map(len, rows.values()), np.int64, len(rows))
    targets = places(chain.from_iterable(rows.values()), int(counts.sum()))
    sources = np.repeat(places(rows, len(rows)), counts)
    copies = None
    if source.is_multigraph():
        copies = [len(edge) for row in rows.values() for edge in row.values()]
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)

    def edges() -> Iterator[Any]:
        found = chain.from_iterable(row.values() for row in rows.values())
        return found if copies is None else chain.from_iterable(each.values() for each in found)

    weights = [each.get("weight") for each in edges()] if any(edges()) else []
    return sources, targets, _completed(weights)


def from_scipy(source: Any) -> Graph:
    """Return the graph of a square scipy sparse array; stored elements are the edges.

    Copies of an element are added up. Values that are all one are no weights.

    Raises
    ------
    RequestError
        If the array is not square, or a value is not a finite real number.
    """
    if len(source.shape) != 2 or source.shape[0] != source.shape[1]:
        raise RequestError(f"the sparse array has the shape {source.shape}; accepted: square")
    if source.dtype.kind not in "biuf":
        raise RequestError(f"the sparse array has values of {source.dtype}; accepted: real numbers")
    if hasattr(source, "check_format"):  # compiled code of scipy believes its row pointers
        with explained("the sparse array is no matrix"):
            source.check_format(full_check=True)
    listed = source.tocoo()
    rows, columns = listed.coords
    values = np.asarray(listed.data, dtype=np.float64)
    check_weights(values, "the sparse array")
    n = source.shape[0]
    graph = from_edges(rows, columns, vertices=n, weights=values, name="sparse array")
    plain = source.dtype == np.bool_ or np.all(graph.weights == 1)  # copies are added up by now
    return graph.described_as(weights=None) if plain else graph


def _is_whole(node: Any) -> bool:
    return isinstance(node, int | np.integer) and not isinstance(node, bool)


def labels_of(nodes: list[Any]) -> np.ndarray[Any, Any]:
    """Return nodes as labels: an array of integers if all of them are, else of objects."""
    if all(map(_is_whole, nodes)):
        with suppress(OverflowError):
            return np.array(nodes, dtype=np.int64)
    labels = np.empty(len(nodes), dtype=object)
    labels[:] = nodes
    return labels


# By the library and the name of a class.
_MAKERS: dict[tuple[str, str], Callable[[Any], Graph]] = {
    ("networkx", "Graph"): from_networkx,
    ("scipy", "_spbase"): from_scipy,
    ("igraph", "Graph"): _from_igraph,
    ("networkit", "Graph"): _from_networkit,
}
