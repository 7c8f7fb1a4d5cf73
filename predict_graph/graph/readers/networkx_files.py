"""Files read as graphs of networkx: GraphML, GEXF, GML, Pajek, JSON, adjacency lists.

The parsers are those of networkx, except for Pajek, where it accepts only one list of edges. Files
are read whole, so they have to be small; XML with a document type is refused, because its entities
can grow without end.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from xml.parsers import expat

from predict_graph.errors import RequestError, explained
from predict_graph.graph.build import READ_AS_DIRECTED
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.foreign import from_networkx
from predict_graph.graph.readers.layout import NUMBER
from predict_graph.graph.readers.streams import Content
from predict_graph.inputs import parse_json
from predict_graph.limits import check_limit, check_size, check_unpacked, whole_number
from predict_graph.stopwatch import imported


def _read(
    form: str, parse: Callable[[Any, bytes, str], Parsed], content: Content, wanted: EdgeList
) -> Graph:
    """Read a file whole and parse it into a graph of networkx.

    Raises
    ------
    RequestError
        If it is too large, or not of the format of its suffix.
    """
    networkx = imported("networkx")
    data = bytearray()
    for block in content.blocks():
        data += block
        # A graph takes up to 30 times the bytes of its file here, measured with 100,000 edges.
        said = f"{content.path} is too large for {form}, which may take a quarter of the limit"
        check_limit("document_bytes", 4 * len(data), said)
    with explained(f"{content.path} is not {form} that can be read"):
        made, notes = parse(networkx, bytes(data), str(content.path))
    vertices, edges = made.number_of_nodes(), made.number_of_edges()
    if edges == 0:
        raise RequestError(f"{content.path} has no edges")
    check_size(f"{content.path}: the graph", vertices=vertices, edges=edges)
    numbers = all(isinstance(node, str) and _PLAIN.fullmatch(node) for node in made)
    if numbers and wanted.ids != "string":
        made = networkx.relabel_nodes(made, int)
    if wanted.ids == "integer" and not all(isinstance(node, int) for node in made):
        raise RequestError(f"{content.path} has nodes that are no integers; accepted: --ids string")
    return from_networkx(made, str(content.path)).described_as(notes=notes)


_PLAIN = re.compile(r"0|[1-9][0-9]{0,17}")
Parsed = tuple[Any, tuple[str, ...]]  # a graph of networkx, and notes on it


_GRAPH = re.compile(r"\b(graph\s*\[)")


def _gml(networkx: Any, data: bytes, path: str) -> Parsed:
    """Parse GML; nodes are known by their labels, or by their ids where labels are no ids.

    Edges may come twice, as they do in files that declare no multigraph.
    """
    text = _GRAPH.sub(r"\1 multigraph 1 ", data.decode("utf-8-sig"), count=1)
    lines = text.splitlines()
    try:
        return networkx.parse_gml(lines), ()
    except networkx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return networkx.parse_gml(lines, label="id"), ()


def _node_link(networkx: Any, data: bytes, path: str) -> Parsed:
    """Parse JSON with lists of nodes and of links or edges."""
    found = parse_json(data, path)
    key = next((name for name in ("links", "edges") if name in found), None)
    if not isinstance(found, dict) or key is None or "nodes" not in found:
        raise ValueError("it has no 'nodes' and 'links' (or 'edges')")
    made = networkx.node_link_graph(found, directed=True, multigraph=True, edges=key)
    if made.number_of_nodes() > len(found["nodes"]):
        raise ValueError("an edge names a node that is not among the ids of 'nodes'")
    return made, () if "directed" in found else (READ_AS_DIRECTED,)


def _xml(reader: str, networkx: Any, data: bytes, path: str) -> Parsed:
    """Parse GraphML or GEXF without a document type by a function of networkx."""

    def refuse(*_: Any) -> None:
        raise ValueError("it declares a document type (DOCTYPE), which can hold entities")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(data, True)
    return getattr(networkx, reader)(io.BytesIO(data)), ()


_SECTION = re.compile(r"^\*(\w+)[ \t]*([^\n]*)\n", re.MULTILINE)
_VERTEX = re.compile(r'\s*(\d+)(?:\s+(?:"([^"]*)"|([^\s"]+)))?')


def _pajek(networkx: Any, data: bytes, path: str) -> Parsed:
    """Parse Pajek; where there are arcs too, an edge is an arc each way."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    _, *parts = _SECTION.split(re.sub(r"^%[^\n]*\n", "", text, flags=re.MULTILINE) + "\n")
    names, heads = map(str.lower, parts[::3]), map(str.strip, parts[1::3])
    sections = [*zip(names, heads, (part.strip().split("\n") for part in parts[2::3]), strict=True)]
    listed = [(whole_number(head), rows) for name, head, rows in sections if name == "vertices"]
    count, rows = listed[0] if len(listed) == 1 else (None, [])
    if count is None:
        raise ValueError("it does not say once how many vertices it has")
    check_unpacked(f"{path}: the network", 16 * count, len(data))
    labels = {str(number): str(number) for number in range(1, count + 1)}
    for number, quoted, plain in (found.groups() for found in map(_VERTEX.match, rows) if found):
        labels[number] = quoted or plain or number
    differ = len({*labels.values()})
    if not len(labels) == differ == count:
        raise ValueError(f"it says {count} vertices, but has {differ} labels that differ")
    arcs, edges = networkx.MultiDiGraph(), networkx.MultiGraph()
    for made in (arcs, edges):
        made.add_nodes_from(labels.values())  # vertices keep the order of the file
    for name, _, rows in sections:
        made = edges if name.startswith("edges") else arcs
        for row in _listed(name, rows):
            ends, weight = row[:2], "".join(row[2:3])
            if len(ends) < 2 or not labels.keys() >= {*ends}:
                raise ValueError(f"an edge joins {ends}; accepted: two vertices from 1 to {count}")
            # Without a weight, how to draw the edge may follow.
            known = {"weight": float(weight)} if NUMBER.fullmatch(weight) else {}
            made.add_edge(*map(labels.get, ends), **known)
    if arcs.size():
        arcs.update(edges.to_directed())
    return arcs if arcs.size() else edges, ()


def _listed(section: str, rows: list[str]) -> Iterator[list[str]]:
    """Yield the edges that a section of Pajek lists: two vertices and perhaps a weight."""
    for at, row in enumerate(map(str.split, rows), 1):
        if section == "matrix":
            yield from ([str(at), str(to), each] for to, each in enumerate(row, 1) if float(each))
        elif section in ("arcslist", "edgeslist"):
            yield from ([row[0], other] for other in row[1:])
        elif section in ("arcs", "edges"):
            yield from [row] if row else []
        elif section not in ("network", "vertices"):
            accepted = "*arcs, *edges, *arcslist, *edgeslist, *matrix"
            raise ValueError(f"it has a section *{section}; accepted: {accepted}")


def _adjlist(networkx: Any, data: bytes, path: str) -> Parsed:
    lines = map(str.strip, data.decode("utf-8-sig").split("\n"))
    # In lists of several lines, each neighbour has the attributes of its edge.
    parse = networkx.parse_multiline_adjlist if b" {" in data else networkx.parse_adjlist
    return parse(lines, create_using=networkx.DiGraph), (READ_AS_DIRECTED,)


open_graphml = partial(_read, "GraphML", partial(_xml, "read_graphml"))
open_gexf = partial(_read, "GEXF", partial(_xml, "read_gexf"))
open_gml = partial(_read, "GML", _gml)
open_node_link = partial(_read, "JSON of nodes and links", _node_link)
open_pajek = partial(_read, "Pajek", _pajek)
open_adjlist = partial(_read, "an adjacency list", _adjlist)
