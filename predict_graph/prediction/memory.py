"""Predicted peak memory of a run on this machine."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.kernel import TALLY_BYTES, Footprint, kernel_of
from predict_graph.engines.local.team import available_threads
from predict_graph.graph import Graph
from predict_graph.intervals import Interval
from predict_graph.memory import available_memory, resident_memory
from predict_graph.outcome import PeakMemory

# Bytes that a run of ten vertices holds, interpreter and libraries: docs/studies/memory.md.
LIBRARIES = 193_000_000
# Vertex programs and other kernels that do not declare what they hold: arrays of 64 bits.
_UNKNOWN, _MOST_UNKNOWN = Footprint(8 * 8), Footprint(32 * 8, 8)
# Shares of the peak within which it lies, by the first half of docs/studies/memory.md.
_BELOW, _ABOVE = 0.15, 0.20
_SPREAD = 0.25 * LIBRARIES  # by how much installations differ; measured on two


def peak_memory(graph: Graph, algorithm: Algorithm, threads: int | None = None) -> PeakMemory:
    """Return the peak memory of ``predict-graph run`` on the local engine.

    It is that of reading, which was measured, of making the reverse graph or of running, whichever
    holds most: these from the sizes of their arrays, beside interpreter and libraries.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    threads : int, optional
        By default one for each available core.

    Raises
    ------
    RequestError
        If the algorithm has no kernel for the local engine.
    """
    before, most_reading, after = graph.read_bytes
    # Interpreter and libraries: this process may have loaded more than a run does, or not yet all;
    # what reading freed may still be held.
    held = np.clip(resident_memory() - graph.nbytes, 0.9 * LIBRARIES, 1.1 * LIBRARIES)
    base = float(max(held, min(before, LIBRARIES) + after - before - graph.nbytes))
    reading = min(before, LIBRARIES) + most_reading - before
    running, most_running = _running(algorithm, graph, threads or available_threads())
    predicted, most = max(reading, base + running), max(reading, base + most_running)
    peak = Interval(predicted, (1.0 - _BELOW) * predicted, (1.0 + _ABOVE) * most + _SPREAD)
    return PeakMemory(peak, float(available_memory()))


def _running(algorithm: Algorithm, graph: Graph, threads: int) -> tuple[float, float]:
    """Return the peak of a run on a graph that is there, and the most that it may be."""
    declared = getattr(kernel_of(algorithm), "footprint", None)
    own = (_UNKNOWN, _MOST_UNKNOWN)
    if declared is not None:
        own = (declared(algorithm, graph.indices.itemsize),) * 2
    likely, most = (_peak_of(each, graph, threads) for each in own)
    if algorithm.prior is not None:
        before, most_before = _running(algorithm.prior, graph, threads)
        likely, most = max(likely, before), max(most, most_before)
    return likely, most


def _peak_of(footprint: Footprint, graph: Graph, threads: int) -> float:
    """Return the peak of one kernel, or of making the reverse graph for it."""
    n, m = graph.vertices, graph.edges
    texts = graph.labels is not None and graph.labels.dtype == object
    labels = 120 if texts else 0 if graph.labels is None else graph.labels.dtype.itemsize
    held = float(graph.nbytes) + (TALLY_BYTES + labels) * n  # 120: a text and its place in a table
    making = 0.0
    if footprint.reverse and graph.directed:
        ends = graph.indices.itemsize + (0 if graph.weights is None else 4)
        ones = 2 if graph.weights is None else 0  # scipy has a value for each edge of both graphs
        making = held + (ends + ones) * m + 8 * n
        held += ends * m + 8 * n
    return max(making, held + footprint.beside(n, m, threads))
