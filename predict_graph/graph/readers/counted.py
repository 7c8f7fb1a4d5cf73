"""Text formats whose header counts vertices and edges: Matrix Market and DIMACS.

Ids count from 1. Entry (i, j) of a matrix is the edge i → j; a ``symmetric`` matrix is an
undirected graph, a ``pattern`` matrix has no weights. Dense (``array``), complex and skew-symmetric
matrices are no graphs and are refused. DIMACS has arcs ``a`` in shortest-path and flow problems,
and edges ``e`` in colouring problems.

References
----------
.. [1] R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial
   Design", NISTIR 5935, 1996.
.. [2] "Clique and Coloring Problems Graph Format", DIMACS, 1993.
.. [3] "9th DIMACS Implementation Challenge: Shortest Paths. File formats", 2006.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from predict_graph.errors import RequestError
from predict_graph.graph.columns import Columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers.blocks import scan_blocks
from predict_graph.graph.readers.layout import FirstData, Layout, first_data
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, check_unpacked, whole_number

_FIELDS = ("pattern", "real", "integer", "double")
_SYMMETRIES = {"general": True, "symmetric": False}
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
    path = content.path
    found = first_data(content.lines())
    banner = found.comments.split(b"\n", 1)[0].decode(errors="replace").lower().split()
    if len(banner) != 5 or banner[0].lstrip("%") != "matrixmarket" or banner[1] != "matrix":
        raise RequestError(
            f"{path}:1: a Matrix Market file begins with "
            "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
        )
    kind, field, symmetry = banner[2:]
    if kind != "coordinate" or field not in _FIELDS or symmetry not in _SYMMETRIES:
        raise RequestError(
            f"{path}:1: a matrix of the kind {kind[:40]} {field[:40]} {symmetry[:40]} is no graph; "
            f"accepted: coordinate, {' or '.join(_FIELDS)}, {' or '.join(_SYMMETRIES)}"
        )
    counts = [whole_number(count) for count in (found.text or b"").split()]
    if len(counts) != 3 or None in counts:
        raise RequestError(
            f"{path}:{found.number}: the line of sizes must be 'rows columns entries', whole "
            f"numbers below 2**63"
        )
    rows, columns, entries = (count or 0 for count in counts)
    if rows != columns:
        raise RequestError(
            f"{path}:{found.number}: the matrix is {rows} by {columns}; accepted: square"
        )
    pattern = field == "pattern"
    layout = Layout(0, Columns(0, 1, None if pattern else 2), exact=pattern)
    blocks = _edges(content, found, layout, rows, entries)
    return EdgeSource(blocks, vertices=rows, directed=_SYMMETRIES[symmetry])


def open_dimacs(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a DIMACS file; the ids become 0 … n - 1.

    Raises
    ------
    RequestError
        If it is none, or the number of edges is wrong.
    """
    path = content.path
    found = first_data(content.lines(), comment=b"c")
    words = (found.text or b"").decode(errors="replace").split()
    counts = [whole_number(word) for word in words[2:]]
    if len(words) != 4 or words[0] != "p" or words[1] not in _PROBLEMS or None in counts:
        raise RequestError(
            f"{path}:{found.number}: a DIMACS file begins with 'p PROBLEM vertices edges'; "
            f"accepted: {', '.join(_PROBLEMS)}"
        )
    vertices, edges = (count or 0 for count in counts)
    directed = _PROBLEMS[words[1]]
    found.block, found.rest = _without_letters(found.block), map(_without_letters, found.rest)
    times = (1,) if directed else (1, 2)  # some files count each edge twice
    layout = Layout(0, Columns(0, 1, 2 if directed else None))
    blocks = _edges(content, found, layout, vertices, edges, times)
    return EdgeSource(blocks, vertices=vertices, directed=directed)


def _without_letters(block: bytearray) -> bytearray:
    """Return lines without their letters, other lines blank."""
    return bytearray(_MARK.sub(b"", _OTHER.sub(b"", block)))


def _edges(
    content: Content,
    found: FirstData,
    layout: Layout,
    vertices: int,
    edges: int,
    times: tuple[int, ...] = (1,),
) -> Iterator[EdgeBlock]:
    """Yield the edges below the line that says how many there are, or a multiple of them."""
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
