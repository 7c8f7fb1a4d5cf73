"""Edge lists as text: SNAP files, CSV and TSV; how lines are laid out is in :mod:`layout`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.fields import open_fields
from predict_graph.graph.readers.layout import (
    LARGEST_ID,
    declared_direction,
    first_data,
    layout_of,
    scan_error,
    wrong_field,
)
from predict_graph.graph.readers.streams import Content, line_blocks, read_ahead, suffixes_of

__all__ = ["open_text", "scan_blocks"]


def open_text(content: Content, ids: str) -> EdgeSource:
    """Open an edge list of integer ids, or of text ids when `ids` is ``"string"``.

    Raises
    ------
    RequestError
        If the file holds no line of data or its first lines are not those of an edge list.
    """
    path = content.path
    found = first_data(line_blocks(read_ahead(content.blocks()), path))
    if found.text is None:
        raise RequestError(f"{path} {'has no edges' if found.comments else 'is empty'}")
    layout = layout_of(found.text, suffixes_of(path)[0], ids, f"{path}:{found.number}")
    directed = declared_direction(found.comments)
    if layout.header:
        found.blank()
    blocks, line = found.blocks(), found.number - 1
    simple = (layout.source, layout.target) == (0, 1) and layout.weight in (None, 2)
    if ids == "integer" and simple and b'"' not in found.block:
        columns = 3 if layout.weight is not None else 2 if layout.exact else 0
        edges = scan_blocks(path, blocks, layout.delimiter, columns, line=line)
        return EdgeSource(edges, directed=directed)
    source = open_fields(path, blocks, layout, ids, line)
    source.directed = directed
    return source


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
