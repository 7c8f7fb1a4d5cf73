"""Predicted peak memory of a run on this machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.footprint import TALLY_BYTES, Footprint
from predict_graph.engines.local.kernel import kernel_of
from predict_graph.graph import Graph
from predict_graph.intervals import Interval
from predict_graph.memory import available_memory, resident_memory
from predict_graph.outcome import PeakMemory
from predict_graph.prediction.memory.reading import label_bytes, reading_of

LIBRARIES = 193_000_000  # measured; see docs/studies/memory.md
"""Bytes that a run of ten vertices holds: interpreter and libraries."""
_KEPT = 0.25  # of the blocks of edges, when they are freed (docs/studies/memory.md, its first half)
_BELOW, _ABOVE = 0.15, 0.20  # of the peak (docs/studies/memory.md, its first half)
# Vertex programs and other kernels that do not declare what they hold: arrays of 64 bits.
_UNKNOWN, _MOST_UNKNOWN = Footprint(8 * 8), Footprint(32 * 8, 8)


def peak_memory(graph: Graph, algorithm: Algorithm, source: Any = None) -> PeakMemory:
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

    Raises
    ------
    RequestError
        If the algorithm has no kernel for the local engine.
    """
    base = _libraries(graph)
    reading, blocks = reading_of(source, graph)
    running, most_running = _running(algorithm, graph)
    predicted = base + max(reading + _KEPT * blocks, running)
    most = base + max(reading, most_running) + blocks
    peak = Interval(predicted, (1.0 - _BELOW) * predicted, (1.0 + _ABOVE) * most)
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
