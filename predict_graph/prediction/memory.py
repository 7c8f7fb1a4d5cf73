"""Predicted peak memory of a run on this machine."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.kernel import TALLY_BYTES, Footprint, kernel_of
from predict_graph.graph import EdgeList, Graph
from predict_graph.intervals import Interval
from predict_graph.memory import available_memory, resident_memory
from predict_graph.outcome import PeakMemory

LIBRARIES = 193_000_000  # measured; see docs/studies/memory.md
"""Bytes that a run of ten vertices holds: interpreter and libraries."""
# Vertex programs and other kernels that do not declare what they hold: arrays of 64 bits.
_UNKNOWN, _MOST_UNKNOWN = Footprint(8 * 8), Footprint(32 * 8, 8)
_PAIR = 16  # bytes of two ids of 64 bits; by definition


def peak_memory(
    graph: Graph,
    algorithm: Algorithm,
    source: Any = None,
    kept: float = 0.25,
    below: float = 0.15,
    above: float = 0.20,
) -> PeakMemory:
    """Return the peak memory of ``predict-graph run`` on the local engine.

    It is reading, making the reverse graph or running, whichever holds most, on top of interpreter
    and libraries; each from the sizes of its arrays. Of the memory that reading frees, the
    allocator keeps a part.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    source : Graph, str, Path, networkx graph or scipy sparse array, optional
        What the run reads the graph from; None if it is in memory.
    kept : float
        Part of the blocks of edges that is kept when they are freed.
    below, above : float
        Of the peak, in which it lies; all three by the first half of docs/studies/memory.md.

    Raises
    ------
    RequestError
        If the algorithm has no kernel for the local engine.
    """
    base = _libraries(graph)
    reading, blocks = reading_of(source, graph)
    running, most_running = _running(algorithm, graph)
    predicted = base + max(reading + kept * blocks, running)
    most = base + max(reading, most_running) + blocks
    peak = Interval(predicted, (1.0 - below) * predicted, (1.0 + above) * most)
    return PeakMemory(peak, float(available_memory()))


def _libraries(graph: Graph) -> float:
    """Return what interpreter and libraries hold: what this process does, within bounds.

    It may have loaded more than a run does, or not yet all.
    """
    arrays = (graph.indptr, graph.indices, graph.weights)
    own = sum(array.nbytes for array in arrays if array is not None)
    return float(np.clip(resident_memory() - own, 0.9 * LIBRARIES, 1.1 * LIBRARIES))


def _running(algorithm: Algorithm, graph: Graph) -> tuple[float, float]:
    """Return the peak of a run on a graph that is there, and the most that it may be."""
    declared = getattr(kernel_of(algorithm), "footprint", None)
    own = (_UNKNOWN, _MOST_UNKNOWN)
    if declared is not None:
        own = (declared(algorithm, graph.indices.itemsize),) * 2
    likely, most = (_peak_of(each, graph) for each in own)
    if algorithm.prior is not None:
        before, most_before = _running(algorithm.prior, graph)
        likely, most = max(likely, before), max(most, most_before)
    return likely, most


def _peak_of(footprint: Footprint, graph: Graph) -> float:
    """Return the peak of one kernel, or of making the reverse graph for it."""
    n, m = graph.vertices, graph.edges
    held = float(graph.nbytes) + TALLY_BYTES * n + label_bytes(graph)
    making = 0.0
    if footprint.reverse and graph.directed:
        ends = graph.indices.itemsize + (0 if graph.weights is None else 4)
        ones = 2 if graph.weights is None else 0  # scipy has a value for each edge of both graphs
        making = held + (ends + ones) * m + 8 * n
        held += ends * m + 8 * n
    return max(making, held + footprint.beside(n, m))


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

    if isinstance(source, EdgeList):
        source = source.edges
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
    buffers = 24 << 20 if blocks else 0  # text read ahead, and scanned
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
    # A text and its place in a table take 120 bytes.
    each = 120 if graph.labels.dtype == object else graph.labels.dtype.itemsize
    return float(each * graph.vertices)


def _listed(path: Path, graph: Graph, once: int) -> tuple[int, int]:
    """Return about how many edges a file lists, and the bytes of each in a block.

    A text lists its bytes divided by those of a line; others may list each edge in both directions.
    """
    from predict_graph.graph.readers.formats import format_of
    from predict_graph.graph.readers.streams import Content

    content = Content(path)
    try:
        form, start, compression = format_of(content), content.start, content.compression
    finally:
        content.close()
    if form in ("npz", "webgraph"):
        return once, 0
    if form == "parquet":
        return graph.edges, _PAIR
    block = 8 if graph.weights is None else 12
    if compression is not None:
        return graph.edges, block
    lines = max(start.count(b"\n"), 1)
    return max(int(path.stat().st_size * lines / max(len(start), 1)), once), block


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
    objects = 400 * graph.vertices + 270 * once  # of networkx, with the list made of its edges
    return objects + _built(graph, once, beside=_PAIR), 0.0
