"""Graphs as a function's library wants them, made of ours; and graphs of the user, as ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from predict_graph.arrays import IndexArray
from predict_graph.errors import RequestError
from predict_graph.functions.child import called
from predict_graph.functions.naming import GraphFunction
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import READ_AS_DIRECTED, READ_AS_UNDIRECTED, as_asked


def as_graph(source: Any, function: GraphFunction, **reading: Any) -> Graph:
    """Return what the user gave as our graph.

    `reading` are options of :func:`~predict_graph.graph.check_graph`. Where nothing says whether
    edges are directed, they are read as the function's library reads edge lists.

    Raises
    ------
    RequestError
        If it is no graph, or has no edges.
    """
    graph = check_graph(source, **reading)
    if not graph.edges:
        raise RequestError(f"the graph {graph.name!r} has no edges; accepted: at least one")
    return for_functions(graph, [function])


def for_functions(graph: Graph, functions: Sequence[GraphFunction]) -> Graph:
    """Return a graph of undeclared direction as the libraries of all functions read it."""
    if READ_AS_DIRECTED not in graph.notes or any(map(_reads_directed, functions)):
        return graph
    made = as_asked(graph, False, None)
    return made.described_as(notes=(READ_AS_UNDIRECTED, *made.notes))


def failure(function: GraphFunction, graph: Graph, reason: str, where: str = "") -> str:
    """Return the sentence of a function that fails on a graph, with remedies and assumptions."""
    said = f"{function.name} fails on {where}{graph.name}: {reason}"
    if graph.directed and "not implemented for directed" in reason:
        said += "; accepted: the graph without directions (--undirected, directed=False)"
    if not function.library:
        said += f"; it was called with a graph of the form {function.form}, --as names another"
    return said + "".join(f"; {note}" for note in graph.notes)


def _reads_directed(function: GraphFunction) -> bool:
    """Whether a function gets an edge list as a directed graph.

    ``networkx.read_edgelist`` and ``networkit.EdgeListReader`` make undirected graphs by default;
    functions that refuse those need a directed one.
    """
    if function.form not in ("networkx", "networkit"):
        return True
    if any("DiGraph" in str(each.annotation) for each in function.parameters.values()):
        return True
    if function.library != "networkx":
        return False
    import networkx

    try:
        called(function, networkx.path_graph(3))
    except Exception as error:  # others are of arguments that do not fit so small a graph
        said = str(error) if isinstance(error, networkx.NetworkXException) else ""
        return re.search("undirected|digraph|directed graph", said, re.IGNORECASE) is not None
    return False


def build(graph: Graph, form: str) -> Any:
    """Return a graph in a form (:data:`~predict_graph.functions.naming.FORMS`).

    Raises
    ------
    RequestError
        If the library is not installed.
    """
    return _BUILDERS[form](graph)


def reorder_networkx(source: Any, nodes: list[Any]) -> Any:
    """Return a networkx graph with its vertices in another order, which shares what it holds.

    Takes time for each vertex, not for each edge. For a process of its own only: what a function
    does to the edges of this graph it does to `source`.
    """
    made = source.__class__()
    made.graph = source.graph
    made._node = {node: source._node[node] for node in nodes}
    made._adj = {node: source._adj[node] for node in nodes}
    if source.is_directed():
        made._succ = made._adj
        made._pred = {node: source._pred[node] for node in nodes}
    return made


def part_of_igraph(source: Any, vertices: IndexArray) -> Any:
    """Return the part of an igraph graph between some vertices, in their order, with attributes."""
    import igraph

    part, places = source.induced_subgraph(vertices.tolist()), np.argsort(vertices)
    # From igraph 1.0 on, a permutation says where each vertex comes from; before, where it goes.
    if (igraph.Graph(3, [(0, 1)]).permute_vertices([1, 2, 0])).get_edgelist() != [(1, 2)]:
        places = np.argsort(places)
    return part.permute_vertices(places.tolist())


def _networkx(graph: Graph) -> Any:
    import networkx

    made: Any = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.vertices))
    columns = [each.tolist() for each in graph.listed_edges() if each is not None]
    add = made.add_edges_from if graph.weights is None else made.add_weighted_edges_from
    add(zip(*columns, strict=True))
    return made


def _igraph(graph: Graph) -> Any:
    import igraph

    sources, targets, weights = graph.listed_edges()
    pairs = np.column_stack((sources, targets))
    made = igraph.Graph(n=graph.vertices, edges=pairs, directed=graph.directed)
    if weights is not None:
        made.es["weight"] = weights.tolist()
    return made


def _networkit(graph: Graph) -> Any:
    import networkit

    sources, targets, weights = graph.listed_edges()
    values = np.ones(len(sources)) if weights is None else weights.astype(np.float64)
    return networkit.GraphFromCoo(
        (values, (sources.astype(np.uint64), targets.astype(np.uint64))),
        n=graph.vertices,
        weighted=weights is not None,
        directed=graph.directed,
    )


_BUILDERS: dict[str, Callable[[Graph], Any]] = {
    "networkx": _networkx,
    "igraph": _igraph,
    "networkit": _networkit,
    "scipy": lambda graph: graph.to_scipy().astype(np.float64),
    "edges": lambda graph: np.column_stack(graph.listed_edges()[:2]),
    "graph": lambda graph: graph,
}
