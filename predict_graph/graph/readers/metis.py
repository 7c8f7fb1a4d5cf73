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
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import first_data, scan_error, wrong_field
from predict_graph.graph.readers.scan import parse_float, parse_integer
from predict_graph.graph.readers.streams import Content, line_blocks, read_ahead
from predict_graph.limits import check_size, whole_number

_NEWLINE, _PERCENT = 10, 37
_TOO_MANY_LINES = 20  # by definition: a code beside those of scan
_CAPACITY = 1 << 19  # limits the memory of edges at a time
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
    cursor = np.array([0, line, 0, 0, 0], np.int64)
    sources, targets = np.empty(_CAPACITY, np.int32), np.empty(_CAPACITY, np.int32)
    weights = np.empty(_CAPACITY if weighted else 0, np.float32)
    entries = loops = 0
    for block in blocks:
        cursor[:1] = 0
        code = scan.FULL
        while code == scan.FULL:
            cursor[scan.EDGES] = 0
            code = _scan(
                np.frombuffer(block, np.uint8), vertices, skipped, sources, targets, weights, cursor
            )
            found = int(cursor[scan.EDGES])
            if found:
                entries += found
                loops += int(np.count_nonzero(sources[:found] == targets[:found]))
                kept = weights[:found].copy() if weighted else None
                yield EdgeBlock(sources[:found].copy(), targets[:found].copy(), kept)
        if code != scan.DONE:
            raise _error(path, code, block, cursor, vertices)
    listed = int(cursor[3])
    if listed != vertices:
        raise RequestError(
            f"{path}: the header says {vertices} vertices, but {listed} lines follow"
        )
    if entries != 2 * edges and entries + loops != 2 * edges:
        raise RequestError(
            f"{path}: the header says {edges} edges, that is {2 * edges} neighbours, "
            f"but {entries} are listed"
        )


def _error(
    path: Path, code: int, block: bytearray, cursor: npt.NDArray[np.int64], vertices: int
) -> RequestError:
    line = int(cursor[scan.LINE]) + 1
    if code == _TOO_MANY_LINES:
        return RequestError(
            f"{path}:{line}: the header says {vertices} vertices, but a further line follows"
        )
    field = wrong_field(block, int(cursor[scan.AT]), 0)
    if code in (scan.NOT_INTEGER, scan.NEGATIVE, scan.TOO_LARGE):
        code = scan.OUT_OF_RANGE
    if code == scan.EMPTY:
        return RequestError(f"{path}:{line}: a vertex or edge weight is missing")
    return scan_error(path, line, code, field, 1, vertices)


@njit(cache=True, nogil=True)
def _scan(
    buffer: npt.NDArray[np.uint8],
    vertices: int,
    skipped: int,
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float32],
    cursor: npt.NDArray[np.int64],
) -> int:
    """Scan lines of neighbours; the cursor holds place, line, edges, vertices done, in a row."""
    at, line, edges, vertex = cursor[0], cursor[1], cursor[2], cursor[3]
    inside = cursor[4] != 0
    weighted = len(weights) > 0
    code = scan.DONE
    while at < len(buffer):
        while buffer[at] == 32 or buffer[at] == 9 or buffer[at] == 13:
            at += 1
        if not inside and buffer[at] == _PERCENT:
            while buffer[at] != _NEWLINE:
                at += 1
            at += 1
            line += 1
            continue
        if not inside:
            if vertex == vertices:
                if buffer[at] == _NEWLINE:
                    at += 1
                    line += 1
                    continue
                code = _TOO_MANY_LINES
                break
            inside = True
            for _ in range(skipped):
                _, at, code = parse_float(buffer, at, 0)
                if code != scan.DONE:
                    break
                while buffer[at] == 32 or buffer[at] == 9 or buffer[at] == 13:
                    at += 1
            if code != scan.DONE:
                code = scan.EMPTY
                break
        if buffer[at] == _NEWLINE:
            at += 1
            line += 1
            vertex += 1
            inside = False
            continue
        if edges == len(sources):
            code = scan.FULL
            break
        begin = at
        target, at, code = parse_integer(buffer, at, 0)
        if code == scan.DONE and not 1 <= target <= vertices:
            at, code = begin, scan.OUT_OF_RANGE
        if code != scan.DONE:
            break
        if weighted:
            while buffer[at] == 32 or buffer[at] == 9 or buffer[at] == 13:
                at += 1
            if buffer[at] == _NEWLINE:
                code = scan.EMPTY
                break
            weight, at, code = parse_float(buffer, at, 0)
            if code != scan.DONE:
                break
            weights[edges] = weight
        sources[edges] = vertex
        targets[edges] = target - 1
        edges += 1
    cursor[0], cursor[1], cursor[2], cursor[3] = at, line, edges, vertex
    cursor[4] = inside
    return code
