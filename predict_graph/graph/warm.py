"""Loading compiled code before the clock starts.

The first graph of a process pays for loading the compiled readers, a third of a second. It would
count as reading, and make the read phase of every prediction too long.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path


@cache
def load_readers(directed: bool | None) -> None:
    """Read a graph of three edges as another one will be read."""
    from predict_graph.graph.readers import read_graph

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiny.txt"
        file.write_text("# tiny\n0 1\n1 2\n2 0\n", encoding="utf-8")
        read_graph(file, directed=directed)


@cache
def load_generators() -> None:
    """Generate a graph of sixteen vertices."""
    from predict_graph.graph.generators import generate

    generate("rmat:scale=4,edge_factor=2,seed=0")
