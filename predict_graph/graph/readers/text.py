"""Edge lists as text: SNAP files, CSV and TSV; how lines are laid out is in :mod:`layout`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.fields import open_fields
from predict_graph.graph.readers.layout import (
    LARGEST_ID,
    FirstData,
    declared_direction,
    first_data,
    layout_of,
    scan_error,
    wrong_field,
)
from predict_graph.graph.readers.streams import Content, line_blocks, read_ahead


def open_text(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open an edge list.

    Raises
    ------
    RequestError
        If the file holds no line of data or its first lines are not those of an edge list.
    """
    blocks = line_blocks(read_ahead(content.blocks()), content.path)
    if b"{" in content.start:
        blocks = map(_without_attributes, blocks)
    return _opened(content, blocks, wanted)


def open_adjacency(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open an adjacency list: a vertex and its neighbours in each line, as networkx writes it.

    Raises
    ------
    RequestError
        As of an edge list.
    """
    blocks = line_blocks(read_ahead(content.blocks()), content.path)
    return _opened(content, map(_pairs, blocks), replace(wanted, header=False))


def _pairs(block: bytearray) -> bytearray:
    """Return a line for each neighbour; errors number these lines."""
    lines = []
    for row in block.split(b"\n"):
        fields = row.partition(b"#")[0].split()
        lines += [fields[0] + b" " + other for other in fields[1:]]
    return bytearray(b"\n".join([*lines, b""]))


def _opened(content: Content, blocks: Iterator[bytearray], wanted: EdgeList) -> EdgeSource:
    path, suffix = content.path, content.suffix
    found = first_data(blocks)
    if found.text is None:
        raise RequestError(f"{path} {'has no edges' if found.comments else 'is empty'}")
    while len(found.block) < _SAMPLE and (more := next(found.rest, None)):
        found.block += more
    place = f"{path}:{found.number}"
    layout = layout_of(_first_lines(found), suffix, wanted, place, found.block)
    if layout.hash_ids and _HASH_ID.search(found.comments):
        raise RequestError(
            f"{path}: a line before the first one of data begins with '#' and no blank, which may "
            "be a comment or an id; accepted: a header before it, or a blank after the '#'"
        )
    if layout.header:
        found.blank()
    blocks, line = found.blocks(), found.number - 1
    konect = found.comments.startswith(b"% bip") and wanted.bipartite is None
    simple = (layout.source, layout.target) == (0, 1) and layout.weight in (None, 2)
    if layout.ids == "integer" and simple and b'"' not in found.block:
        columns = 3 if layout.weight is not None else 2 if layout.exact else 0
        source = EdgeSource(scan_blocks(path, blocks, layout.delimiter, columns, line=line))
    else:
        source = open_fields(path, blocks, layout, line, check=wanted.ids is None)
    declared = declared_direction(found.comments)
    source.directed = layout.directed if declared is None else declared
    source.bipartite, source.notes = layout.bipartite or konect, layout.notes
    return source


_SAMPLE = 1 << 16  # a choice: bytes that are looked at to find out how lines are laid out
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


def _without_attributes(block: bytearray) -> bytearray:
    """Return lines without the dictionaries that networkx writes after edges, but their weight."""

    def weight(found: re.Match[bytes]) -> bytes:
        if not found[2].rstrip().endswith(b"}"):
            return found[0]
        value = _WEIGHT.search(found[2])
        return b"" if value is None else found[1] + value[1]

    return bytearray(_ATTRIBUTES.sub(weight, block))


def scan_blocks(
    path: Path,
    blocks: Iterator[bytearray],
    delimiter: int,
    columns: int,
    *,
    lowest: int = 0,
    highest: int = LARGEST_ID,
    line: int = 0,
) -> Iterator[EdgeBlock]:
    """Yield the edges of blocks of whole lines; see :func:`scan.scan_integers`."""
    cursor = np.array([0, line, 0], np.int64)
    capacity = 1 << 19
    sources, targets = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    weights = np.empty(capacity if columns == 3 else 0, np.float32)
    for block in blocks:
        buffer = np.frombuffer(block, np.uint8)
        cursor[scan.AT] = 0
        code = scan.FULL
        while code == scan.FULL:
            cursor[scan.EDGES] = 0
            code = scan.scan_integers(
                buffer, delimiter, columns, lowest, highest, sources, targets, weights, cursor
            )
            if code not in (scan.DONE, scan.FULL):
                at, wrong = int(cursor[scan.AT]), int(cursor[scan.LINE]) + 1
                raise scan_error(
                    path, wrong, code, wrong_field(block, at, delimiter), lowest, highest
                )
            edges = int(cursor[scan.EDGES])
            if edges:
                yield EdgeBlock(
                    _narrow(sources[:edges]),
                    _narrow(targets[:edges]),
                    weights[:edges].copy() if columns == 3 else None,
                )


def _narrow(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
    """Copy ids into 32 bits if they fit."""
    fits = int(ids.max()) < 2**31
    return ids.astype(np.int32 if fits else np.int64)
