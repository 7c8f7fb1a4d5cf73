"""METIS graph files: a header ``n m [fmt [ncon]]``, then one line a vertex with its neighbours.

Vertices count from 1; lines that begin with ``%`` are comments; a blank line is a vertex without
neighbours. The format is undirected, lists each edge at both its ends, and m counts it once. Vertex
sizes and vertex weights (`fmt` 100 and 10) are passed over; edge weights (`fmt` 1) are kept.

References
----------
.. [1] G. Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", version 5.1,
   2013, section 4.1.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from predict_graph.arrays import Array, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers.blocks import shortened, whole_rows
from predict_graph.graph.readers.layout import first_data
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, whole_number

_FIELD, _COMMENT = re.compile(rb"[^ \t\r]+"), re.compile(rb"[ \t\r]*%")


def open_metis(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a METIS file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If the header is wrong, the counts are, or an edge is listed at one of its ends only.
    """
    path = content.path
    found = first_data(content.lines(), b"%")
    header, line = (found.text or b"").split(), found.number
    numbers = [whole_number(field, 2**62) for field in header]
    if not 2 <= len(header) <= 4 or None in numbers:
        raise RequestError(
            f"{path}:{line}: the header of a METIS file is 'n m [fmt [ncon]]', "
            f"not {b' '.join(header).decode(errors='replace')[:60]!r}"
        )
    vertices, edges = numbers[0] or 0, numbers[1] or 0
    form = header[2].decode().zfill(3) if len(header) > 2 else "000"
    if len(form) != 3 or set(form) - {"0", "1"}:
        raise RequestError(f"{path}:{line}: fmt is {form[:40]}; accepted: three digits of 0 and 1")
    constraints = (numbers[3] or 0) if len(header) > 3 else 1
    if constraints > 1000:
        raise RequestError(f"{path}:{line}: ncon is {constraints}; accepted: 0 to 1000")
    if vertices >= 2**31:
        raise RequestError(f"{path}:{line}: n is {vertices}; accepted: up to {2**31 - 1}")
    check_size(f"{path}: the graph", vertices=vertices, edges=2 * edges)
    skipped = (form[0] == "1") + (constraints if form[1] == "1" else 0)
    del found.block[: found.block.index(b"\n") + 1]
    edge_blocks = _blocks(path, found.blocks(), line, vertices, edges, skipped, form[2] == "1")
    return EdgeSource(edge_blocks, vertices=vertices, directed=False, both_ends=True)


def _blocks(
    path: Path,
    blocks: Iterator[bytearray],
    line: int,
    vertices: int,
    edges: int,
    skipped: int,
    weighted: bool,
) -> Iterator[EdgeBlock]:
    step = 2 if weighted else 1
    vertex = entries = loops = 0
    for block in blocks:
        at, lengths, values = _numbers(block)
        at, left = at + line + 1, vertices - vertex
        line += block.count(b"\n")
        if lengths[left:].any():
            further = at[left:][lengths[left:] > 0][0]
            raise RequestError(
                f"{path}:{further}: the header says {vertices} vertices, but a further line follows"
            )
        at, lengths = at[:left], lengths[:left]
        missing = (lengths < skipped) | ((lengths - skipped) % step != 0)
        if missing.any():
            raise RequestError(f"{path}:{at[missing][0]}: a vertex or edge weight is missing")
        owners = np.repeat(np.arange(len(lengths)), lengths)
        # Each line has `skipped` numbers before the neighbours.
        place = np.arange(len(values)) - (np.cumsum(lengths) - lengths + skipped)[owners]
        is_target = (place >= 0) & (place % step == 0)
        wrong = ~(np.abs(values) <= np.finfo(np.float32).max)
        wrong |= is_target & ~((values >= 1) & (values <= vertices) & (values == np.floor(values)))
        if wrong.any():
            first = int(np.argmax(wrong))
            field = shortened(_fields(block)[first].decode("utf-8", errors="replace"))
            raise RequestError(
                f"{path}:{at[owners[first]]}: the id {field} is out of range; accepted: 1 to "
                f"{vertices}"
            )
        sources = (vertex + owners[is_target]).astype(np.int32)
        targets = values[is_target].astype(np.int32) - np.int32(1)
        weights = values[(place > 0) & ~is_target].astype(np.float32) if weighted else None
        vertex += len(lengths)
        entries += len(sources)
        loops += int(np.count_nonzero(sources == targets))
        if len(sources):
            yield EdgeBlock(sources, targets, weights)
    if vertex != vertices:
        raise RequestError(
            f"{path}: the header says {vertices} vertices, but {vertex} lines follow"
        )
    if entries != 2 * edges and entries + loops != 2 * edges:
        raise RequestError(
            f"{path}: the header says {edges} edges, that is {2 * edges} neighbours, "
            f"but {entries} are listed"
        )


def _numbers(block: bytearray) -> tuple[IntArray, IntArray, Array]:
    """Return of each line of a vertex its place and how many numbers it has; and all numbers."""
    if found := whole_rows(block, 0):
        return np.arange(len(found[0])), *found
    lines = enumerate(block.split(b"\n")[:-1])
    counts = [(at, len(_FIELD.findall(row))) for at, row in lines if not _COMMENT.match(row)]
    at, lengths = np.array(counts, np.int64).reshape(-1, 2).T
    return at, lengths, np.array([_number(field) for field in _fields(block)])


def _fields(text: bytearray) -> list[bytearray]:
    """Return the numbers of a block as they are written, without comments."""
    rows = (row for row in text.split(b"\n") if not _COMMENT.match(row))
    return [field for row in rows for field in _FIELD.findall(row)]


def _number(field: bytearray) -> float:
    try:
        return math.nan if b"_" in field else float(field)
    except ValueError:
        return math.nan
