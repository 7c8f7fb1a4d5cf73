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
from itertools import chain
from pathlib import Path

import numpy as np

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import first_data, scan_error
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, whole_number
from predict_graph.stopwatch import imported

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
    step = 2 if form[2] == "1" else 1
    edge_blocks = _blocks(path, found.blocks(), line, vertices, edges, skipped, step)
    return EdgeSource(edge_blocks, vertices=vertices, directed=False, both_ends=True)


def _blocks(
    path: Path,
    blocks: Iterator[bytearray],
    line: int,
    vertices: int,
    edges: int,
    skipped: int,
    step: int,
) -> Iterator[EdgeBlock]:
    """Yield the edges of the vertices of a block of lines; each neighbour takes `step` fields."""
    pandas = imported("pandas")
    vertex = entries = loops = 0
    for block in blocks:
        lines = list(enumerate(map(bytes.split, bytes(block).split(b"\n")[:-1]), line + 1))
        line += len(lines)
        rows = [row for row in lines if not (row[1] and row[1][0].startswith(b"%"))]
        rows, further = rows[: vertices - vertex], rows[vertices - vertex :]
        counts = np.array([len(fields) for _, fields in rows], np.int64)
        owners = np.repeat(np.arange(len(rows)), counts)
        fields = list(chain.from_iterable(fields for _, fields in rows))
        values = np.asarray(pandas.to_numeric(np.array(fields, object), errors="coerce"), float)
        places = np.arange(len(fields)) - (np.cumsum(counts) - counts + skipped)[owners]
        target = (places >= 0) & (places % step == 0)
        known = (values >= 1) & (values <= vertices) & (values == np.floor(values))
        wrong = np.flatnonzero(~((np.abs(values) <= scan.LARGEST_WEIGHT) & (known | ~target)))
        if len(wrong):
            field = fields[wrong[0]].decode(errors="replace")[:40]
            place = rows[owners[wrong[0]]][0]
            raise scan_error(path, place, scan.OUT_OF_RANGE, field, 1, vertices)
        missing = np.flatnonzero((counts < skipped) | ((counts - skipped) % step != 0))
        if len(missing):
            number = rows[missing[0]][0]
            raise RequestError(f"{path}:{number}: a vertex or edge weight is missing")
        if number := next((number for number, other in further if other), None):
            raise RequestError(
                f"{path}:{number}: the header says {vertices} vertices, but a further line follows"
            )
        sources, targets = vertex + owners[target], values[target].astype(np.int64) - 1
        vertex += len(rows)
        entries += len(targets)
        loops += int(np.count_nonzero(sources == targets))
        if len(targets):
            weights = values[(places >= 0) & ~target].astype(np.float32) if step == 2 else None
            yield EdgeBlock(sources.astype(np.int32), targets.astype(np.int32), weights)
    if vertex != vertices:
        raise RequestError(
            f"{path}: the header says {vertices} vertices, but {vertex} lines follow"
        )
    if entries != 2 * edges and entries + loops != 2 * edges:
        raise RequestError(
            f"{path}: the header says {edges} edges, that is {2 * edges} neighbours, "
            f"but {entries} are listed"
        )
