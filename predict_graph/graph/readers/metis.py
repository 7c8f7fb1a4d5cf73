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
from predict_graph.graph.readers.streams import Content
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
    wrong = {
        scan.EXTRA: f"the header says {vertices} vertices, but a further line follows",
        scan.MISSING_WEIGHT: "a vertex or edge weight is missing",
    }
    vertex = entries = loops = 0
    for block in blocks:
        buffer = np.frombuffer(block, np.uint8)
        ends = np.empty((2, len(block) // 2 + 1), np.int32)
        weights = np.empty(ends.shape[1] if weighted else 0, np.float32)
        found, code, lines, at, vertex = _scan(buffer, vertex, vertices, skipped, ends, weights)
        line += lines
        if code in wrong:
            raise RequestError(f"{path}:{line + 1}: {wrong[code]}")
        if code != scan.DONE:
            raise scan_error(path, line + 1, code, wrong_field(block, at, 0), 1, vertices)
        entries += found
        loops += int(np.count_nonzero(ends[0, :found] == ends[1, :found]))
        if found:
            kept = weights[:found].copy() if weighted else None
            yield EdgeBlock(ends[0, :found].copy(), ends[1, :found].copy(), kept)
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
def _scan(
    buffer: scan.Bytes,
    vertex: int,
    vertices: int,
    skipped: int,
    ends: npt.NDArray[np.int32],
    weights: scan.Floats,
) -> tuple[int, int, int, int, int]:
    """Fill the edges of whole lines, each of a vertex or a comment, from a vertex on.

    Weights are read if there is room for them. Return the number of edges, a code as a scan does,
    the line, where the field in it begins, and the vertex.
    """
    step = 2 if len(weights) > 0 else 1
    at, line, edges = 0, 0, 0
    while at < len(buffer):
        place = 0
        while buffer[at] != _NEWLINE:
            if buffer[at] in (32, 9, 13):
                at += 1
                continue
            if buffer[at] == _PERCENT and place == 0:
                place = -1
                while buffer[at] != _NEWLINE:
                    at += 1
                break
            if vertex == vertices:
                return edges, scan.EXTRA, line, at, vertex
            begin = at
            value, at, code = parse_float(buffer, at)
            own = place - skipped
            target = own >= 0 and own % step == 0
            known = 1 <= value <= vertices and value == np.floor(value)
            ended = buffer[at] in (32, 9, 13, _NEWLINE)
            if code != scan.DONE or not ended or (target and not known):
                return edges, scan.OUT_OF_RANGE, line, begin, vertex
            if target:
                ends[0, edges], ends[1, edges] = vertex, np.int64(value) - 1
                edges += 1
            elif own > 0:
                weights[edges - 1] = value
            place += 1
        if place >= 0 and vertex < vertices:
            if place < skipped or (place - skipped) % step != 0:
                return edges, scan.MISSING_WEIGHT, line, at, vertex
            vertex += 1
        line += 1
        at += 1
    return edges, scan.DONE, line, at, vertex
