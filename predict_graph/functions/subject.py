"""The graph that a function is called on: as the user gave it, in new orders, and samples of it.

It is a graph of ours, which is built for the function's library, or the user's own of that.

A walk keeps triangles and communities and is denser or sparser than the graph; a completed sample
has the density and the degrees of the graph, and few triangles. Growth that holds on both holds on
the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from importlib import import_module
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from predict_graph.algorithms.naming import vertex_of
from predict_graph.arrays import IndexArray, IntArray
from predict_graph.errors import RequestError
from predict_graph.functions import naming
from predict_graph.functions.child import called
from predict_graph.functions.growth import drivers_of, neighbour_work
from predict_graph.functions.naming import TABLES, GraphFunction, form_of
from predict_graph.graph import EdgeList, Graph, check_graph
from predict_graph.graph.build import READ_AS_DIRECTED, READ_AS_UNDIRECTED, as_asked, from_edges
from predict_graph.graph.columns import find_columns
from predict_graph.graph.foreign import columns_of_table
from predict_graph.iterations import draw_sample
from predict_graph.iterations.completion.completed import Completer
from predict_graph.iterations.completion.profiles import vertex_profiles

WALKS = ("mhrw", "rj")
_SEVERAL = (list, tuple, set, frozenset, dict)
_KEPT = ("networkx", "igraph", *TABLES)  # forms whose samples keep what else a graph holds


@lru_cache(maxsize=2)
def load_compiled(directed: bool) -> None:
    """Draw small samples: loading compiled code is no part of what a prediction takes."""
    graph, rng = check_graph("cycle:n=60", directed=directed), np.random.default_rng(0)
    drivers_of(graph, rng)
    completed_sample(graph, 20, rng)
    for sampler in WALKS:
        draw_sample(graph, sampler, 1 / 3, rng)


def spread_order(graph: Graph, rng: np.random.Generator, part: float = 1.0) -> IntArray:
    """Return the vertices in an order in which the first ones are always like the whole.

    Only a part of them is reordered; the others follow as they are, because iterations get slower
    where neighbours in memory are separated (by a third for closeness in igraph, by a tenth where
    nine in ten stay).

    Vertices are ranked by the degrees of their neighbours, and taken in the order of their ranks'
    reversed bits, from a random rank on: the first k of them are spread evenly over the ranks
    (van der Corput's sequence), so their mean cost varies less than that of k random vertices.
    """
    n = graph.vertices
    work = neighbour_work(graph) + rng.random(n)
    ranked = np.argsort(work, kind="stable")
    shifted, bits = (np.arange(n, dtype=np.int64) + int(rng.integers(n))) % n, n.bit_length()
    reversed_bits = sum((shifted >> bit & 1) << (bits - bit) for bit in range(bits))
    order = ranked[np.argsort(reversed_bits, kind="stable")].astype(np.int64)
    order[int(part * n) :].sort()
    return order


def connected_vertices(graph: Graph, connection: str) -> IntArray:
    """Return the vertices of the largest connected part, by a connection as scipy names it."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(graph.to_scipy(), graph.directed, connection)
    return np.flatnonzero(labels == np.bincount(labels).argmax())


def completed_sample(graph: Graph, size: int, rng: np.random.Generator) -> Graph:
    """Return a sample whose vertices keep their degrees: cut edges are joined, like with like."""
    completer = Completer(graph, vertex_profiles(graph), np.empty(0, np.int64))  # no hubs
    drawn = next(completer.draw_all(max(size, 2), 1, rng))
    targets, sources = drawn.operator.nonzero()
    if not graph.directed:
        once = sources <= targets
        sources, targets = sources[once], targets[once]
    weights = None if graph.weights is None else rng.choice(graph.weights, len(sources))
    return from_edges(
        sources,
        targets,
        vertices=len(drawn.vertices),
        weights=weights,
        directed=graph.directed,
        name=f"{graph.name}, completed",
    )


def _renumbered(value: Any, numbers: list[int]) -> Any:
    """Return an argument with its vertices under other numbers; of None, the one vertex."""
    if isinstance(value, dict):
        return dict(zip(numbers, value.values(), strict=True))
    return numbers[0] if value is None else type(value)(numbers)


@dataclass(frozen=True)
class Case:
    """A graph, and how to build it and call the function on it in a child process."""

    graph: Graph
    build: Callable[[], Any]
    call: GraphFunction


class Subject:
    """The graph of a prediction, for one function.

    Of a graph of networkx or igraph that the function takes as it is, parallel edges, and
    attributes of vertices and edges, are kept in samples and in the whole run.

    Parameters
    ----------
    function : GraphFunction
    source : object
        The graph as the user gave it.
    **reading
        Options of :func:`~predict_graph.graph.check_graph`.

    Attributes
    ----------
    given : object
        The source, if the function takes it as it is; else None.
    converted : bool
        Whether the run has to build the library's graph first.

    Raises
    ------
    RequestError
        If the source is no graph.
    """

    def __init__(self, function: GraphFunction, source: Any, **reading: Any) -> None:
        self.function = function
        self.graph = as_graph(source, function, **reading)
        own = form_of(source) == function.form
        if own and function.form not in TABLES:  # whose columns may have any name
            directed = getattr(source, "is_directed", getattr(source, "isDirected", lambda: True))
            own = directed() == self.graph.directed
        self.given: Any = source if own and function.form in _KEPT else None
        self.converted = not own

    @property
    def samplers(self) -> tuple[str, ...]:
        """The samplers that can be used: a completed sample has edges of its own."""
        return WALKS if self._vertex_arguments or self._needs_own_edges else ("completed", *WALKS)

    def whole(self, order: IndexArray | None = None) -> Case:
        """Return the whole graph with its vertices as they were read, or in another order."""
        vertices = np.arange(self.graph.vertices)
        return self._ordered(self.graph, vertices if order is None else order, vertices)

    def sample(self, sampler: str, size: int, rng: np.random.Generator) -> Case:
        """Return a sample of about so many vertices.

        If the graph is connected, samples of the first sampler are, too, but for vertices that are
        arguments: functions refuse other graphs, or return at once. Those of other samplers are as
        they are drawn, or what can be reached would grow with the vertices in all of them.
        """
        case, drawn = self._drawn(sampler, size, rng), size
        while 2 * case.graph.vertices < size and drawn < self.graph.vertices:
            drawn *= 2
            case = self._drawn(sampler, drawn, rng)
        return case

    def _drawn(self, sampler: str, size: int, rng: np.random.Generator) -> Case:
        """Return a sample, or its largest connected part."""
        connected = self._connection if sampler == self.samplers[0] else ""
        if sampler == "completed":
            graph = completed_sample(self.graph, size, rng)
            if connected:
                graph = graph.subgraph(connected_vertices(graph, connected))
            return self._ordered(graph, spread_order(graph, rng), None)
        ratio = min(size / self.graph.vertices, 1.0)
        vertices = draw_sample(self.graph, sampler, ratio, rng).vertices
        named = chain.from_iterable(numbers for _, numbers in self._vertex_arguments.values())
        wanted = np.array(sorted({*named}), dtype=vertices.dtype)
        vertices = np.concatenate((vertices, wanted[~np.isin(wanted, vertices)]))
        graph = self.graph.subgraph(vertices)
        if connected:
            kept = np.isin(vertices, wanted)
            kept[connected_vertices(graph, connected)] = True
            vertices, graph = vertices[kept], graph.subgraph(np.flatnonzero(kept))
        return self._ordered(graph, spread_order(graph, rng), vertices)

    def _ordered(self, graph: Graph, order: IndexArray, vertices: IndexArray | None) -> Case:
        """Return a graph with its vertices in an order; they are these of the whole."""
        form, given = self.function.form, self.given
        own, labels = None if given is None else vertices, self._labels

        def made() -> Any:
            if own is None:
                # Built in the order of the run, then reordered: neighbours in memory stay
                # neighbours, without which iterations take up to a quarter longer.
                if form == "networkx":
                    return reorder_networkx(build(graph, form), order.tolist())
                return build(graph if order is vertices else graph.subgraph(order), form)
            if form == "igraph":
                return part_of_igraph(given, own[order])
            nodes = [labels[vertex] for vertex in own[order].tolist()]
            whole = len(nodes) == self.graph.vertices
            if form in TABLES:
                return given if whole else part_of_table(given, {*nodes})
            return reorder_networkx(given if whole else given.subgraph(nodes).copy(), nodes)

        if vertices is None or (own is not None and form != "igraph"):
            return Case(graph, made, self.function)
        place = np.full(self.graph.vertices, -1, np.int64)
        place[vertices] = np.arange(graph.vertices) if form == "networkx" else np.argsort(order)
        return Case(graph, made, self._moved(place))

    def _moved(self, place: IndexArray) -> GraphFunction:
        """Return the function with arguments that are vertices under their new numbers."""
        function, given = self.function, self._vertex_arguments.items()
        moved = {key: _renumbered(value, place[at].tolist()) for key, (value, at) in given}
        positional = tuple(moved.pop(at, value) for at, value in enumerate(function.positional))
        return replace(function, positional=positional, keywords={**function.keywords, **moved})

    @cached_property
    def _connection(self) -> str:
        """How all of the graph is connected: strongly or weakly; empty if it is not."""
        for connection in ("strong", "weak") if self.graph.directed else ("weak",):
            if len(connected_vertices(self.graph, connection)) == self.graph.vertices:
                return connection
        return ""

    @cached_property
    def _labels(self) -> list[Any]:
        labels = self.graph.labels
        return list(range(self.graph.vertices)) if labels is None else list(labels.tolist())

    @cached_property
    def _vertex_arguments(self) -> dict[Any, tuple[Any, list[int]]]:
        """Return the arguments, by name or place, that are vertices: several, else None; numbers.

        The numbers are those of our graph.
        """
        found: dict[Any, tuple[Any, list[int]]] = {}
        both = {"s", "t"}  # one without the other is a time or a scale
        alone = both - self.function.parameters.keys()
        names = naming.VERTEX_PARAMETERS - (both if alone else set())
        for place, name, value in self.function.given:
            one = self._vertex(name, value) if name in names else None
            if one is not None:
                found[place] = None, [one]
            elif name in naming.VERTEX_LISTS and isinstance(value, _SEVERAL):
                several = [self._vertex(name, each) for each in value]
                if several and None not in several:
                    found[place] = value, [each for each in several if each is not None]
        return found

    def _vertex(self, name: str, value: Any) -> int | None:
        """Return the number of a vertex that is an argument; None if it is not known to be one."""
        if isinstance(value, bool | float):
            return None
        number, kept = isinstance(value, Integral), self.given is not None
        labels, form = self.graph.labels, self.function.form
        if labels is None or (number and kept and form == "igraph"):
            return int(value) if number and 0 <= value < self.graph.vertices else None
        asked = name, str(value), labels, self.graph
        # Of a graph that is converted, a wrong number is that of another vertex.
        with suppress(*([] if number and self.function.library and not kept else [ValueError])):
            return self._labels.index(value) if kept else vertex_of(*asked)
        return None

    @cached_property
    def _needs_own_edges(self) -> bool:
        """Whether the graph has its own class, parallel edges, or attributes other than weights."""
        given, weighted = self.given, self.graph.weights is not None
        if given is None or self.function.form in TABLES:
            return given is not None
        if self.function.form == "igraph":
            own = {*given.vs.attributes(), *given.es.attributes(), *given.attributes()}
            return bool(given.has_multiple() or own - ({"weight"} if weighted else set()))
        about = (value for name, value in given.graph.items() if name != "name")
        users = not type(given).__module__.startswith("networkx.")
        if users or any(about) or given.is_multigraph() or any(given._node.values()):
            return True
        rows = chain.from_iterable(row.values() for row in given._adj.values())
        return any(data for data in rows if not (weighted and data.keys() == {"weight"}))


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
    annotated = any("DiGraph" in str(each.annotation) for each in function.parameters.values())
    if annotated or function.form not in ("networkx", "networkit"):
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
    """Return a graph in a form (:data:`~predict_graph.functions.naming.FORMS`)."""
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


def part_of_table(source: Any, vertices: Set[Any]) -> Any:
    """Return the rows of a table of edges between some vertices, with all columns."""
    columns, usable = columns_of_table(source)
    found = find_columns([*map(str, source.columns)], "the table", EdgeList.of(source), usable)
    ends = (columns[place].tolist() for place in (found.source, found.target))
    kept = [u in vertices and v in vertices for u, v in zip(*ends, strict=True)]
    return source[kept] if hasattr(source, "iloc") else source.filter(kept)


def _table(library: str, graph: Graph) -> Any:
    columns = zip(("source", "target", "weight"), graph.listed_edges(), strict=True)
    known = {name: column for name, column in columns if column is not None}
    return import_module(library).DataFrame(known)


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
    held = {} if weights is None else {"weight": weights.tolist()}
    return igraph.Graph(graph.vertices, pairs, graph.directed, edge_attrs=held)


def _networkit(graph: Graph) -> Any:
    import networkit

    sources, targets, weights = graph.listed_edges()
    ends: Any = sources.astype(np.uint64), targets.astype(np.uint64)
    held = ends if weights is None else (weights.astype(np.float64), ends)
    kind = {"weighted": weights is not None, "directed": graph.directed}
    return networkit.GraphFromCoo(held, n=graph.vertices, **kind)


_BUILDERS: dict[str, Callable[[Graph], Any]] = {
    "networkx": _networkx,
    "igraph": _igraph,
    "networkit": _networkit,
    "scipy": lambda graph: graph.to_scipy().astype(np.float64),
    "edges": lambda graph: np.column_stack(graph.listed_edges()[:2]),
    **{library: partial(_table, library) for library in TABLES},
    "graph": lambda graph: graph,
}
