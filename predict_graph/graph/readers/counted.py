"""Text formats whose header counts vertices and edges: Matrix Market, DIMACS and METIS.

Ids count from 1. Entry (i, j) of a matrix is the edge i → j; a ``symmetric`` matrix is an
undirected graph, a ``pattern`` matrix has no weights. Dense (``array``), complex and skew-symmetric
matrices are no graphs and are refused. DIMACS has arcs ``a`` in shortest-path and flow problems,
and edges ``e`` in colouring problems.

A METIS file has a header ``n m [fmt [ncon]]``, then one line a vertex with its neighbours. Lines
that begin with ``%`` are comments; a blank line is a vertex without neighbours. The format is
undirected, lists each edge at both its ends, and m counts it once. Vertex sizes and vertex weights
(`fmt` 100 and 10) are passed over; edge weights (`fmt` 1) are kept.

References
----------
.. [1] R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial
   Design", NISTIR 5935, 1996.
.. [2] "Clique and Coloring Problems Graph Format", DIMACS, 1993.
.. [3] "9th DIMACS Implementation Challenge: Shortest Paths. File formats", 2006.
.. [4] G. Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", version 5.1,
   2013, section 4.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from predict_graph.arrays import Array, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.columns import Columns
from predict_graph.graph.edge_list import EdgeBlock, EdgeList, EdgeSource
from predict_graph.graph.readers.layout import FirstData, Layout, first_data
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.readers.text import scan_blocks, whole_rows
from predict_graph.limits import check_size, check_unpacked
from predict_graph.stopwatch import imported

_BANNER = ["%*matrixmarket", "matrix", "coordinate"]
_BANNER += ["(pattern|real|integer|double)", "(general|symmetric)"]
_COUNT = r"(\d{1,18})"
# Whether edges are directed and have weights.
_PROBLEMS = {"sp": True, "max": True, "edge": False, "col": False}
_MARK = re.compile(rb"^[ \t]*[ae][ \t]+", re.MULTILINE)
_OTHER = re.compile(rb"^[ \t]*[cndvx]\b[^\n]*", re.MULTILINE)


def open_matrix_market(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a Matrix Market file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If it is no square coordinate matrix of real numbers, or the number of entries is wrong.
    """
    found = first_data(content.lines())
    banner, where = found.comments.partition(b"\n")[0].lower(), f"{content.path}:{found.number}"
    accepted = (
        "'%%MatrixMarket matrix coordinate FIELD SYMMETRY', of pattern, real, integer, double; "
        "general, symmetric"
    )
    field, symmetry = _fields(f"{content.path}:1: a Matrix Market file", banner, _BANNER, accepted)
    accepted = "'rows columns entries', whole numbers below 10**18"
    sizes = _fields(f"{where}: the line of sizes", found.text, [_COUNT] * 3, accepted)
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise RequestError(f"{where}: the matrix is {rows} by {columns}; accepted: square")
    pattern = field == b"pattern"
    places = Columns(0, 1, None if pattern else 2)
    layout = Layout(0, places, width=2 if pattern else 0, lowest=1, highest=rows)
    blocks = _edges(content, found, layout, entries)
    return EdgeSource(blocks, vertices=rows, directed=symmetry == b"general")


def open_dimacs(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a DIMACS file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If it is none, or the number of edges is wrong.
    """
    found = first_data(map(_without_letters, content.lines()))
    accepted = f"'p PROBLEM vertices edges', PROBLEM of {', '.join(_PROBLEMS)}"
    words = ["p", f"({'|'.join(_PROBLEMS)})", _COUNT, _COUNT]
    where = f"{content.path}:{found.number}"
    problem, *counts = _fields(f"{where}: a DIMACS file", found.text, words, accepted)
    vertices, edges = map(int, counts)
    directed = _PROBLEMS[problem.decode()]
    times = (1,) if directed else (1, 2)  # some files count each edge twice
    layout = Layout(0, Columns(0, 1, 2 if directed else None), lowest=1, highest=vertices)
    blocks = _edges(content, found, layout, edges, times)
    return EdgeSource(blocks, vertices=vertices, directed=directed)


def _fields(what: str, line: bytes, words: list[str], accepted: str) -> tuple[bytes, ...]:
    """Return the groups in the words of a line with which `what` begins."""
    fields = re.fullmatch(r"\s+".join(words).encode(), line)
    if fields is None:
        shown = line[:60].decode(errors="replace")
        raise RequestError(f"{what} begins with {shown!r}; accepted: {accepted}")
    return fields.groups(b"")


def _without_letters(block: bytearray) -> bytearray:
    """Return lines without their letters, other lines blank."""
    return bytearray(_MARK.sub(b"", _OTHER.sub(b"", block)))


def _edges(
    content: Content, found: FirstData, layout: Layout, edges: int, times: tuple[int, ...] = (1,)
) -> Iterator[EdgeBlock]:
    """Yield the edges below the line that says how many there are, or a multiple of them."""
    path, vertices = content.path, layout.highest
    check_size(f"{path}: the graph", vertices=vertices, edges=edges)
    found.blank()
    listed = 0
    for block in scan_blocks(path, found.blocks(), layout, found.number - 1):
        listed += len(block.sources)
        yield block
    check_unpacked(f"{path}: the graph", 16 * vertices, content.packed_bytes)
    if edges not in [listed * each for each in times]:
        raise RequestError(f"{path}: the file says {edges} edges, but holds {listed}")


def open_metis(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a METIS file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If the header is wrong, the counts are, or an edge is listed at one of its ends only.
    """
    path = content.path
    found = first_data(content.lines())
    where = f"{path}:{found.number}"
    accepted = "'n m [fmt [ncon]]', fmt of digits 0 and 1, ncon below 1000"
    words = [_COUNT, _COUNT + r"(?:\s+([01]{1,3})(?:\s+(\d{1,3}))?)?"]
    *counts, kind, weights = _fields(f"{where}: the header", found.text, words, accepted)
    vertices, edges = map(int, counts)
    form = kind.decode().zfill(3)
    check_size(f"{path}: the graph", vertices=vertices, edges=2 * edges)
    skipped = (form[0] == "1") + (int(weights or 1) if form[1] == "1" else 0)
    del found.block[: found.block.index(b"\n") + 1]
    blocks = _metis_edges(path, found, vertices, edges, skipped, form[2] == "1")
    return EdgeSource(blocks, vertices=vertices, directed=False, both_ends=True)


def _metis_edges(
    path: Path, found: FirstData, vertices: int, edges: int, skipped: int, weighted: bool
) -> Iterator[EdgeBlock]:
    line, step = found.number, 2 if weighted else 1
    dtype = np.int32 if vertices < 2**31 else np.int64
    vertex = entries = loops = 0
    for block in found.blocks():
        lengths, values = whole_rows(block, 0) or _metis_numbers(block)
        left, short = vertices - vertex, lengths - skipped
        further = left + np.flatnonzero(lengths[left:])
        missing = np.flatnonzero((short < 0) | (short % step != 0))
        for rows, what in (
            (further, f"the header says {vertices} vertices, but a further line follows"),
            (missing[missing < left], "a vertex or edge weight is missing"),
        ):
            if len(rows):
                raise RequestError(f"{path}:{line + _metis_rows(block)[rows[0]][0]}: {what}")
        lengths = lengths[:left]
        owners = np.repeat(np.arange(len(lengths)), lengths)
        # Each line has `skipped` numbers before the neighbours.
        place = np.arange(len(values)) - (np.cumsum(lengths) - lengths + skipped)[owners]
        is_target = (place >= 0) & (place % step == 0)
        wrong = ~(np.abs(values) <= np.finfo(np.float32).max)
        wrong |= is_target & ~((values >= 1) & (values <= vertices) & (values == np.floor(values)))
        if wrong.any():
            first = int(np.argmax(wrong))
            number, fields = _metis_rows(block)[owners[first]]
            kind, accepted = "weight", "numbers"
            if is_target[first]:
                kind, accepted = "id", f"1 to {vertices}"
            raise RequestError(
                f"{path}:{line + number}: the {kind} {fields[place[first] + skipped]} "
                f"is out of range; accepted: {accepted}"
            )
        sources = (vertex + owners[is_target]).astype(dtype)
        targets = (values[is_target] - 1).astype(dtype)
        weights = values[(place > 0) & ~is_target].astype(np.float32) if weighted else None
        line += block.count(b"\n")
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


def _metis_rows(block: bytearray) -> list[tuple[int, list[str]]]:
    """Return the number of each line of a vertex, from 1 on, and what it holds."""
    lines = enumerate(block.decode("utf-8", errors="replace").split("\n")[:-1], 1)
    return [(at, row.split()) for at, row in lines if not row.lstrip().startswith("%")]


def _metis_numbers(block: bytearray) -> tuple[IntArray, Array]:
    """Return how many numbers each line of a vertex has, and all of them; NaN for what is none."""
    rows = [row for _, row in _metis_rows(block)]
    fields = imported("pandas").Series([*chain(*rows)], dtype=object)
    values = imported("pandas").to_numeric(fields, errors="coerce").to_numpy(np.float64)
    return np.array([*map(len, rows)], np.int64), values
