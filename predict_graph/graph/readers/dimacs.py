"""DIMACS files: arcs ``a`` of shortest-path and flow problems, edges ``e`` of colouring problems.

References
----------
.. [1] "Clique and Coloring Problems Graph Format", DIMACS, 1993.
.. [2] "9th DIMACS Implementation Challenge: Shortest Paths. File formats", 2006.
"""

from __future__ import annotations

import re

from predict_graph.errors import RequestError
from predict_graph.graph.columns import Columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.layout import Layout, first_data
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.readers.text import edges_below_header
from predict_graph.limits import whole_number

# Whether edges are directed and have weights.
_PROBLEMS = {"sp": True, "max": True, "edge": False, "col": False}
_MARK = re.compile(rb"^[ \t]*[ae][ \t]+", re.MULTILINE)
_OTHER = re.compile(rb"^[ \t]*[cndvx]\b[^\n]*", re.MULTILINE)


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
    found.block, found.rest = _numbers(found.block), map(_numbers, found.rest)
    times = (1,) if directed else (1, 2)  # some files count each edge twice
    layout = Layout(0, Columns(0, 1, 2 if directed else None))
    blocks = edges_below_header(content, found, layout, vertices, edges, times)
    return EdgeSource(blocks, vertices=vertices, directed=directed)


def _numbers(block: bytearray) -> bytearray:
    """Return lines without their letters, other lines blank."""
    return bytearray(_MARK.sub(b"", _OTHER.sub(b"", block)))
