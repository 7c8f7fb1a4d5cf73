"""How much memory reading or generating a graph takes at its peak, from the sizes of its arrays."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predict_graph.graph import Graph

_POINTERS = 8  # bytes of a row pointer; by definition
_WEIGHT = 4  # bytes, by definition
_BUFFERS = 24 << 20  # text read ahead, and scanned; errors: docs/studies/memory.md
_TEXT_ID = 120  # bytes of a text and its place in a table: docs/studies/memory.md
# An object of networkx and its dictionaries, and a pair of numbers in the list made of the edges.
_NETWORKX_VERTEX, _NETWORKX_EDGE = 400, 270


@dataclass(frozen=True)
class Reading:
    """What is held while a graph is read.

    Parameters
    ----------
    peak : float
        Bytes at the peak of reading, without the libraries.
    mapped : bool
        Whether the graph stays in its file, from which it comes to memory when it is used.
    left_over : float
        Bytes that were freed and that the process may keep: small blocks of edges.
    """

    peak: float
    mapped: bool = False
    left_over: float = 0.0


def reading_of(source: Any, graph: Graph) -> Reading:
    """Return what reading `graph` from `source` takes.

    Parameters
    ----------
    source : Graph, str, Path, networkx graph or scipy sparse array
        As for :func:`~predict_graph.graph.check_graph`.
    graph : Graph
        What was read.
    """
    from predict_graph.graph.generators import is_generator
    from predict_graph.graph.storage import is_stored

    if source is None or isinstance(source, Graph):
        return Reading(_sizes(graph).graph(graph.edges))
    if not isinstance(source, str | os.PathLike):
        return _built(graph, graph.edges, block=16, beside=16)
    text = os.fspath(source)
    if is_stored(Path(text)):
        return _stored(Path(text), graph)
    if os.path.isfile(text):
        return _of_file(Path(text), graph)
    if is_generator(text):
        return _generated(text, graph)
    from predict_graph.graph.datasets import dataset_names, dataset_path

    file = dataset_path(text) if text in dataset_names() else None
    if file is not None:
        return _of_file(file, graph)
    return _built(graph, graph.edges, block=16)


@dataclass(frozen=True)
class _Sizes:
    n: int
    number: int  # bytes of a vertex in a row
    weight: int
    label: float

    def graph(self, edges: int) -> float:
        """Bytes of a graph with so many stored edges."""
        return (_POINTERS + self.label) * self.n + (self.number + self.weight) * edges

    def sorting(self, edges: int) -> float:
        """Bytes that a counting sort of edges takes at its end, without its input."""
        key = 2 if self.n <= 1 << 26 else 4  # the low bits of a row, see counting_sort
        ends = self.number + self.weight
        return (key + ends) * edges + ends * edges + _POINTERS * self.n

    def symmetric(self, edges: int, both: int) -> float:
        """Bytes of making a directed graph undirected; `both` edges come of it."""
        own = self.graph(edges)
        united = 2 * own + _POINTERS * self.n + (self.number + self.weight) * both
        return max(own + self.sorting(edges), united)


def _sizes(graph: Graph) -> _Sizes:
    label = 0.0
    if graph.labels is not None:
        label = _TEXT_ID if graph.labels.dtype == object else graph.labels.dtype.itemsize
    weight = 0 if graph.weights is None else _WEIGHT
    return _Sizes(graph.vertices, graph.indices.itemsize, weight, label)


def _built(
    graph: Graph,
    listed: int,
    *,
    block: int = 8,
    beside: float = 0.0,
    vertex: float = 0.0,
    buffers: float = 0.0,
    small: bool = True,
) -> Reading:
    """Return what building a graph from edges takes (graph/build.py).

    Parameters
    ----------
    listed : int
        Edges of the source, before those that come twice are merged.
    block : int
        Bytes of an edge in the blocks, which are freed when the first sort has taken them in.
    beside, vertex : float
        Bytes of an edge and of a vertex that stay until the graph is built.
    buffers : float
        Bytes that reading holds, whatever the graph.
    small : bool
        Whether blocks are so small that the process keeps them when they are freed.
    """
    sizes = _sizes(graph)
    blocks = (block + sizes.weight) * listed
    held = beside * listed + (vertex + sizes.label) * sizes.n
    rows = (sizes.number + sizes.weight) * listed + _POINTERS * sizes.n
    peak = max(blocks + buffers, rows + sizes.sorting(listed)) + held
    if not graph.directed:
        once = min(listed, graph.edges)
        peak = max(peak, held + sizes.symmetric(once, graph.edges))
    return Reading(peak, left_over=blocks if small else 0.0)


def _stored(folder: Path, graph: Graph) -> Reading:
    import json

    header = json.loads((folder / "header.json").read_text(encoding="utf-8"))
    sizes = _sizes(graph)
    if header.get("directed") and not graph.directed:
        return Reading(sizes.symmetric(int(header["edges"]), graph.edges))
    return Reading(0.0, mapped=True)


def _of_file(path: Path, graph: Graph) -> Reading:
    from predict_graph.graph.readers.formats import format_of
    from predict_graph.graph.readers.streams import Content

    content = Content(path)
    try:
        form, start, compression = format_of(content), content.start, content.compression
    finally:
        content.close()
    sizes = _sizes(graph)
    if form == "parquet":
        import pyarrow.parquet as pq

        rows = int(pq.ParquetFile(path).metadata.num_rows)
        return _built(graph, rows, block=16, buffers=_BUFFERS)
    if form == "npz":
        own = sizes.graph(graph.edges)
        return Reading(own + 2 * _POINTERS * sizes.n if _is_ours(path) else 3 * own + own)
    if form == "webgraph":
        # Its bytes, padded, and as words: three copies.
        whole = sizes.graph(graph.edges)
        peak = 3 * path.stat().st_size + whole
        return Reading(
            peak if graph.directed else max(peak, sizes.symmetric(graph.edges, graph.edges))
        )
    listed = _listed(path, graph, start, compression)
    renumbered = 5 if graph.labels is not None and graph.labels.dtype != object else 1
    return _built(graph, listed, vertex=renumbered, buffers=_BUFFERS)


def _is_ours(path: Path) -> bool:
    import zipfile

    with zipfile.ZipFile(path) as file:
        return "format.npy" not in file.namelist()


def _listed(path: Path, graph: Graph, start: bytes, compression: str | None) -> int:
    """Return about how many edges a text file lists: its bytes by those of a line."""
    least = graph.edges if graph.directed else (graph.edges + 1) // 2
    size = path.stat().st_size
    if compression == "gzip":
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            size = int.from_bytes(file.read(4), "little")  # modulo 2**32
    elif compression is not None:
        return graph.edges
    lines = max(start.count(b"\n"), 1)
    return max(int(size * lines / max(len(start), 1)), least)


def _generated(text: str, graph: Graph) -> Reading:
    from predict_graph.graph.generators import GENERATORS, parse_generator

    kind, texts = parse_generator(text)
    if kind == "rmat":
        declared = inspect.signature(GENERATORS.get(kind)).parameters
        factor = int(texts.get("edge_factor", declared["edge_factor"].default))
        listed = factor * graph.vertices
        # A block of edges is 32 MiB, and the new names of vertices stay.
        return _built(graph, listed, vertex=4, small=True)
    if kind in ("star", "path", "cycle", "grid"):
        once = graph.edges if graph.directed else graph.edges // 2
        return _built(graph, once, block=0, beside=24)
    once = graph.edges if graph.directed else graph.edges // 2
    objects = _NETWORKX_VERTEX * graph.vertices + _NETWORKX_EDGE * once
    built = _built(graph, once, block=0, beside=16)
    return Reading(objects + built.peak)
