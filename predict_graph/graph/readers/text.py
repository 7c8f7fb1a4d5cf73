"""Edge lists as text: SNAP files, CSV and TSV; how lines are laid out is in :mod:`layout`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import (
    FirstData,
    Layout,
    first_data,
    layout_of,
    scan_error,
    wrong_field,
)
from predict_graph.graph.readers.scan import LARGEST_ID
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, check_unpacked
from predict_graph.stopwatch import imported

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
    if found.text is None:
        raise RequestError(f"{path} {'has no edges' if found.comments else 'is empty'}")
    while len(found.block) < _SAMPLE and (more := next(found.rest, None)):
        found.block += more
    place = f"{path}:{found.number}"
    layout = layout_of(_first_lines(found), suffix, wanted, place, found.block, found.comments)
    if layout.hash_ids and _HASH_ID.search(found.comments):
        raise RequestError(
            f"{path}: a line before the first one of data begins with '#' and no blank, which may "
            "be a comment or an id; accepted: a header before it, or a blank after the '#'"
        )
    if layout.header:
        found.blank()
    blocks, line = found.blocks(), found.number - 1
    if layout.ids == "string":
        blocks = _checked(path, blocks, line, control=wanted.ids is None)
    return EdgeSource(
        scan_blocks(path, blocks, layout, line=line),
        directed=layout.directed,
        bipartite=layout.columns.bipartite,
        notes=layout.notes,
    )


_SAMPLE = 1 << 16  # limits what is searched for the layout: bytes, see docs/graphs.md
_PLAIN = re.compile(rb"(?:[0-9]+[ \t,;][0-9]+\r?\n)+")
_HASH_ID = re.compile(rb"^[#%][^\s#%][^\n]*[,;\t]", re.MULTILINE)
_ATTRIBUTES = re.compile(rb"([,;]?)\{(['\"}][^\n]*)")
_WEIGHT = re.compile(rb"['\"]weight['\"]:[ ]*([^,}\s]+)")


def _first_lines(found: FirstData) -> list[bytes]:
    """Return lines of data that show how all of them are laid out: one if they are plain."""
    sample = bytes(found.block[:_SAMPLE])
    sample = sample[: sample.rfind(b"\n") + 1] or bytes(found.block)
    if _PLAIN.fullmatch(sample):
        return [found.text or b""]
    lines = [line.strip() for line in sample.split(b"\n")]
    return [line for line in lines if line and (line == found.text or not _COMMENT.match(line))]


_COMMENT = re.compile(rb"[#%](?:[\s#%]|$|[^,;\t]*$)")


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


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def _checked(
    path: Path, blocks: Iterator[bytearray], line: int, *, control: bool
) -> Iterator[bytearray]:
    """Pass blocks of text on, if they are UTF-8 and, with `control`, without control characters."""
    for block in blocks:
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line += 1 + block.count(b"\n", 0, error.start)
            raise RequestError(f"{path}:{line}: the text is not UTF-8: {error.reason}") from None
        if control and (found := _CONTROL.search(block)):
            line += 1 + block.count(b"\n", 0, found.start())
            raise RequestError(
                f"{path}:{line}: the line holds the control character {found[0]!r}; accepted: "
                "text, or anything with --ids string"
            )
        line += block.count(b"\n")
        yield block


def scan_blocks(
    path: Path,
    blocks: Iterator[bytearray],
    layout: Layout,
    *,
    lowest: int = 0,
    highest: int = LARGEST_ID,
    line: int = 0,
) -> Iterator[EdgeBlock]:
    """Yield the edges of blocks of whole lines; see :func:`scan.scan_lines`."""
    columns, texts = layout.columns, layout.ids == "string"
    weighted = columns.weight is not None
    places = (columns.source, columns.target, -1 if columns.weight is None else columns.weight)
    how = (layout.delimiter, ord(layout.point), places, layout.exact, layout.hash_ids)
    for block in blocks:
        room = len(block) // 4 + 1  # an edge takes four bytes at least: 0 1 and the line end
        ends = np.empty((2, 0 if texts else room), np.int64)
        weights = np.empty(room if weighted else 0, np.float32)
        spans = np.empty((2, room if texts else 0, 2), np.int64)
        buffer = np.frombuffer(block, np.uint8)
        edges, code, at = scan.scan_lines(buffer, *how, (lowest, highest), ends, weights, spans)
        line += block.count(b"\n", 0, at)
        if code != scan.DONE:
            field = wrong_field(block, at, layout.delimiter)
            raise scan_error(path, line + 1, code, field, lowest, highest)
        if edges:
            kept = weights[:edges].copy() if weighted else None
            if texts:
                both = [_texts(block, each[:edges]) for each in spans]
            else:
                both = [_narrow(each[:edges]) for each in ends]
            yield EdgeBlock(both[0], both[1], kept)


def edges_below_header(
    content: Content,
    found: FirstData,
    layout: Layout,
    vertices: int,
    edges: int,
    times: tuple[int, ...] = (1,),
) -> Iterator[EdgeBlock]:
    """Yield the edges between vertices from 1 on, below the line that says how many there are.

    Their number, or a multiple of it, has to be that of the line.

    Raises
    ------
    RequestError
        If there are more than the limits say, or as many as the line does not say.
    """
    path = content.path
    if vertices < 1:
        raise RequestError(f"{path} has no edges")
    check_size(f"{path}: the graph", vertices=vertices, edges=edges)
    check_unpacked(f"{path}: the graph", 16 * vertices, content.packed_bytes)
    found.blank()
    line, listed = found.number - 1, 0
    blocks = found.blocks()
    for block in scan_blocks(path, blocks, layout, lowest=1, highest=vertices, line=line):
        listed += len(block.sources)
        yield block
    if edges not in [listed * each for each in times]:
        raise RequestError(f"{path}: the file says {edges} edges, but holds {listed}")


def _texts(block: bytearray, spans: npt.NDArray[np.int64]) -> Any:
    """Return fields of a block as a dictionary array of pyarrow."""
    pa = imported("pyarrow")
    # Fields and what is between them, in turn, are texts one after the other.
    buffers = [None, pa.py_buffer(spans.ravel()), pa.py_buffer(bytes(block))]
    fields = pa.Array.from_buffers(pa.large_string(), 2 * len(spans) - 1, buffers)
    return fields.take(pa.array(np.arange(0, len(fields), 2))).dictionary_encode()


def _narrow(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
    """Copy ids into 32 bits if they fit."""
    fits = int(ids.max()) < 2**31
    return ids.astype(np.int32 if fits else np.int64)
