"""Matrix Market files: coordinate matrices, entry (i, j) is the edge i → j.

Indices count from 1. A ``symmetric`` matrix is an undirected graph; a ``pattern`` matrix has no
weights. Dense (``array``), complex and skew-symmetric matrices are no graphs and are refused.

References
----------
.. [1] R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial
   Design", NISTIR 5935, 1996.
"""

from __future__ import annotations

from predict_graph.errors import RequestError
from predict_graph.graph.columns import Columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.layout import Layout, first_data
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.readers.text import edges_below_header
from predict_graph.limits import whole_number

_FIELDS = ("pattern", "real", "integer", "double")
_SYMMETRIES = {"general": True, "symmetric": False}


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
    edges = edges_below_header(content, found, layout, rows, entries)
    return EdgeSource(edges, vertices=rows, directed=_SYMMETRIES[symmetry])
