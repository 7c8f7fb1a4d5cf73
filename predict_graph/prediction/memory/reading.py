"""How much memory reading or generating a graph takes at its peak, from the sizes of its arrays."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from predict_graph.graph import Graph

_BUFFERS = 24 << 20  # text read ahead, and scanned; errors: docs/studies/memory.md
_TEXT_ID = 120  # bytes of a text and its place in a table: docs/studies/memory.md
# An object of networkx and its dictionaries, and a pair of numbers in the list made of the edges.
_NETWORKX_VERTEX, _NETWORKX_EDGE = 400, 270
_PAIR = 16  # bytes of two ids of 64 bits; by definition


def reading_of(source: Any, graph: Graph) -> tuple[float, float]:
    """Return the bytes at the peak of reading a graph, and those of its blocks of edges.

    The process may keep these blocks when they are freed, because they are small.

    Parameters
    ----------
    source : Graph, str, Path, networkx graph or scipy sparse array
        As for :func:`~predict_graph.graph.check_graph`.
    graph : Graph
        What was read.
    """
    from predict_graph.graph.datasets import dataset_names, dataset_path
    from predict_graph.graph.generators import is_generator

    if source is None or isinstance(source, Graph):
        return float(graph.nbytes) + label_bytes(graph), 0.0
    once = graph.edges if graph.directed else (graph.edges + 1) // 2
    if not isinstance(source, str | os.PathLike):
        return _built(graph, graph.edges, beside=_PAIR), float(_PAIR * graph.edges)
    path = Path(source)
    if not path.is_file() and is_generator(str(source)):
        return _generated(str(source), graph, once)
    if not path.is_file() and str(source) in dataset_names():
        path = dataset_path(str(source)) or path
    listed, block = _listed(path, graph, once) if path.is_file() else (once, _PAIR)
    blocks = block * listed
    buffers = _BUFFERS if blocks else 0
    return max(_built(graph, listed), float(blocks + buffers)), float(blocks)


def _built(graph: Graph, listed: int, beside: float = 0.0) -> float:
    """Return what building a graph from listed edges takes (graph/build.py).

    scipy holds the two ends of each edge and its row, each with a value; of an undirected graph the
    rows, the columns, and both together.
    """
    number, value = graph.indices.itemsize, 1 if graph.weights is None else 4
    each = 3 * number + 2 * value if graph.directed else 4 * (number + value)
    return (each + beside) * listed + 3 * 8 * graph.vertices + label_bytes(graph)


def label_bytes(graph: Graph) -> float:
    """Return what the ids of the vertices hold, if they are not their numbers."""
    if graph.labels is None:
        return 0.0
    each = _TEXT_ID if graph.labels.dtype == object else graph.labels.dtype.itemsize
    return float(each * graph.vertices)


def _listed(path: Path, graph: Graph, once: int) -> tuple[int, int]:
    """Return about how many edges a file lists, and the bytes of each in a block.

    A text lists its bytes divided by those of a line.
    """
    from predict_graph.graph.readers.formats import format_of
    from predict_graph.graph.readers.streams import Content

    content = Content(path)
    try:
        form, start, compression = format_of(content), content.start, content.compression
    finally:
        content.close()
    if form == "parquet":
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(path).metadata.num_rows), _PAIR
    weight = 0 if graph.weights is None else 4
    if form in ("npz", "webgraph"):
        return once, 0
    size = path.stat().st_size
    if compression == "gzip":
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            size = int.from_bytes(file.read(4), "little")  # modulo 2**32
    elif compression is not None:
        return graph.edges, 8 + weight
    lines = max(start.count(b"\n"), 1)
    return max(int(size * lines / max(len(start), 1)), once), 8 + weight


def _generated(text: str, graph: Graph, once: int) -> tuple[float, float]:
    from predict_graph.graph.generators import GENERATORS, parse_generator

    kind, texts = parse_generator(text)
    if kind == "rmat":
        declared = inspect.signature(GENERATORS.get(kind)).parameters
        factor = int(texts.get("edge_factor", declared["edge_factor"].default))
        listed = factor * graph.vertices
        return _built(graph, listed), 8.0 * listed
    if kind in ("star", "path", "cycle", "grid"):
        return _built(graph, once, beside=24), 0.0
    objects = _NETWORKX_VERTEX * graph.vertices + _NETWORKX_EDGE * once
    return objects + _built(graph, once, beside=_PAIR), 0.0
