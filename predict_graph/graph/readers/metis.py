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

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import first_data, scan_error, wrong_field
from predict_graph.graph.readers.scan import parse_float
from predict_graph.graph.readers.streams import Content, line_blocks, read_ahead
from predict_graph.limits import check_size, whole_number

_NEWLINE, _PERCENT = 10, 37
_MOST_CONSTRAINTS = 1000  # limits what a header is believed


def open_metis(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a METIS file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If the header is wrong, the counts are, or an edge is listed at one of its ends only.
    """
    path = content.path
    found = first_data(line_blocks(read_ahead(content.blocks()), path), b"%")
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
    if constraints > _MOST_CONSTRAINTS:
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
    vertex = entries = loops = 0
    for block in blocks:
        values, counts = np.empty(len(block) // 2 + 1), np.empty(block.count(b"\n"), np.int64)
        at = _numbers(np.frombuffer(block, np.uint8), values, counts)
        if at >= 0:
            wrong = line + block.count(b"\n", 0, at) + 1
            field = wrong_field(block, at, 0)
            raise scan_error(path, wrong, scan.OUT_OF_RANGE, field, 1, vertices)
        places = np.flatnonzero(counts >= 0)  # of lines that are no comments
        counts, left = counts[places], vertices - vertex
        if counts[left:].any():
            wrong = line + places[left + counts[left:].argmax()] + 1
            raise RequestError(
                f"{path}:{wrong}: the header says {vertices} vertices, but a further line follows"
            )
        counts = counts[:left]
        missing = (counts < skipped) | (weighted & ((counts - skipped) % 2 == 1))
        if missing.any():
            wrong = line + places[missing.argmax()] + 1
            raise RequestError(f"{path}:{wrong}: a vertex or edge weight is missing")
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        kept = values[: len(begins)][np.arange(len(begins)) - begins >= skipped]
        rows, step = np.repeat(np.arange(len(counts)), counts - skipped), 1 + weighted
        targets, rows = kept[::step], rows[::step]
        outside = ~((targets >= 1) & (targets <= vertices) & (targets == np.floor(targets)))
        if outside.any():
            row = rows[outside.argmax()]
            place = int(outside.argmax() - np.searchsorted(rows, row))
            words = block.split(b"\n")[places[row]].split()
            field = words[skipped + step * place].decode(errors="replace")
            raise scan_error(
                path, line + places[row] + 1, scan.OUT_OF_RANGE, field[:40], 1, vertices
            )
        ends = (rows + vertex).astype(np.int32), (targets - 1).astype(np.int32)
        if len(rows):
            yield EdgeBlock(*ends, kept[1::2].astype(np.float32) if weighted else None)
        line += block.count(b"\n")
        vertex += len(counts)
        entries += len(rows)
        loops += int(np.count_nonzero(ends[0] == ends[1]))
    if vertex != vertices:
        raise RequestError(
            f"{path}: the header says {vertices} vertices, but {vertex} lines follow"
        )
    if entries != 2 * edges and entries + loops != 2 * edges:
        raise RequestError(
            f"{path}: the header says {edges} edges, that is {2 * edges} neighbours, "
            f"but {entries} are listed"
        )


@njit(cache=True, nogil=True)
def _numbers(
    buffer: npt.NDArray[np.uint8], values: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> int:
    """Read the numbers of lines, and how many each line has; -1 if it is a comment.

    Returns where a field that is no number begins, or -1.
    """
    at, found = 0, 0
    for line in range(len(counts)):
        begin = found
        while buffer[at] != _NEWLINE:
            if buffer[at] in (32, 9, 13):
                at += 1
            elif buffer[at] == _PERCENT and found == begin:
                begin = found + 1
                while buffer[at] != _NEWLINE:
                    at += 1
            else:
                values[found], stop, code = parse_float(buffer, at, 0)
                if code != scan.DONE:
                    return at
                at = stop
                found += 1
        counts[line] = found - begin
        at += 1
    return -1
