"""Edge lists as text: SNAP files, CSV and TSV; how lines are laid out is in :mod:`layout`."""

from __future__ import annotations

import re
from dataclasses import replace

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.blocks import scan_blocks
from predict_graph.graph.readers.layout import first_data, layout_of
from predict_graph.graph.readers.streams import Content

_PAGE = re.compile(rb"<(!doctype|html|[?]xml)\b", re.IGNORECASE)
_POINTER = b"version https://git-lfs."


def open_text(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open an edge list, or an adjacency list as networkx writes it.

    Raises
    ------
    RequestError
        If the file holds no line of data or its first lines are not those of an edge list.
    """
    if _PAGE.match(content.start) or content.start.startswith(_POINTER):
        kind = "a page of HTML or XML" if _PAGE.match(content.start) else "a pointer of Git LFS"
        raise RequestError(f"{content.path} holds {kind}; accepted: a list of edges")
    path, suffix, blocks = content.path, content.suffix, content.lines()
    if suffix == ".adjlist":
        blocks, wanted = map(_pairs, blocks), replace(wanted, header=False)
    elif b"{" in content.start:
        blocks = map(_without_attributes, blocks)
    found = first_data(blocks)
    if not found.text:
        raise RequestError(f"{path} {'has no edges' if found.comments else 'is empty'}")
    layout = layout_of(found, path, suffix, wanted)
    if layout.header:
        found.blank()
    return EdgeSource(
        scan_blocks(path, found.blocks(), layout, line=found.number - 1),
        directed=layout.directed,
        bipartite=layout.columns.bipartite,
        notes=layout.notes,
    )


_ATTRIBUTES = re.compile(rb"([,;\t]?)\{(['\"}][^\n]*)")
_WEIGHT = re.compile(rb"['\"]weight['\"]:[ ]*([^,}\s]+)")


def _pairs(block: bytearray) -> bytearray:
    """Return a line for each neighbour of a vertex; errors number these lines."""
    lines = []
    for row in block.split(b"\n"):
        fields = row.partition(b"#")[0].split()
        lines += [fields[0] + b" " + other for other in fields[1:]]
    return bytearray(b"\n".join([*lines, b""]))


def _without_attributes(block: bytearray) -> bytearray:
    """Return lines without the dictionaries that networkx writes after edges, but their weight."""

    def weight(found: re.Match[bytes]) -> bytes:
        if not found[2].rstrip().endswith(b"}"):
            return found[0]
        value = _WEIGHT.search(found[2])
        return b"" if value is None else found[1] + value[1]

    return bytearray(_ATTRIBUTES.sub(weight, block))
