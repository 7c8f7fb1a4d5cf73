"""Peak memory of a kernel in addition to the graph.

A kernel may declare it::

    @staticmethod
    def footprint(algorithm, id_bytes):
        return Footprint(vertex_bytes=40)

For vertex programs and other kernels it is measured on a small part of the graph.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.kernel import Kernel, kernel_of
from predict_graph.engines.local.team import Team
from predict_graph.errors import PredictGraphError
from predict_graph.graph import Graph
from predict_graph.graph.build import from_edges

TALLY_BYTES = 8  # per vertex, by definition: its worker, and its edges that stay there
_SAMPLED = 1 << 14  # vertices; trades off error for time (docs/studies/memory.md)
_STEPS = 3  # bounds the measurement; arrays of the last superstep may live until the next one ends


@dataclass(frozen=True)
class Footprint:
    """Bytes that a kernel allocates at its peak."""

    vertex_bytes: float
    edge_bytes: float = 0.0
    reverse: bool = True

    def beside(self, vertices: int, edges: int) -> float:
        """Return the bytes in addition to the graph."""
        return self.vertex_bytes * vertices + self.edge_bytes * edges


def footprint_of(algorithm: Algorithm, graph: Graph) -> Footprint | None:
    """Return the footprint that a kernel declares, or measure it on part of the graph.

    None if the algorithm does not run on part of a graph.
    """
    build = kernel_of(algorithm)
    declared = getattr(build, "footprint", None)
    if declared is not None:
        found: Footprint = declared(algorithm, graph.indices.itemsize)
        return found
    try:
        return measured_footprint(algorithm, graph)
    except (PredictGraphError, ArithmeticError, LookupError, TypeError, ValueError):
        return None  # a user's program may need its whole graph


def measured_footprint(algorithm: Algorithm, graph: Graph) -> Footprint:
    """Measure the allocation of a kernel on parts of a graph with tracemalloc.

    Three parts separate vertices from edges: the first 16,384 vertices, the same with half of the
    edges, and half of the vertices. Edges that leave a part are redirected into it, so that degrees
    stay the same. Allocations inside compiled code are not counted.
    """
    build = kernel_of(algorithm)
    size = min(_SAMPLED, graph.vertices)
    whole, half = _folded(graph, size), _folded(graph, size // 2 or 1)
    whole_bytes, reverse = _traced(build, algorithm, whole)
    thin = _thinned(whole)
    thin_bytes, half_bytes = _traced(build, algorithm, thin)[0], _traced(build, algorithm, half)[0]
    an_edge = max(whole_bytes - thin_bytes, 0) / max(whole.edges - thin.edges, 1)
    more = whole_bytes - half_bytes - an_edge * (whole.edges - half.edges)
    return Footprint(max(more, 0.0) / max(whole.vertices - half.vertices, 1), an_edge, reverse)


def _folded(graph: Graph, size: int) -> Graph:
    """Return the first rows of a graph, with targets taken modulo the row count."""
    stop = int(graph.indptr[size])
    sources = np.repeat(np.arange(size), np.diff(graph.indptr[: size + 1]))
    targets = graph.indices[:stop].astype(np.int64) % size
    weights = None if graph.weights is None else graph.weights[:stop]
    return from_edges(sources, targets, vertices=size, weights=weights, directed=graph.directed)


def _thinned(graph: Graph) -> Graph:
    """Return the graph with every other edge, which keeps at least one of two directions."""
    weights = None if graph.weights is None else graph.weights[::2].copy()
    indices = graph.indices[::2].copy()
    return Graph((graph.indptr + 1) // 2, indices, weights, directed=True)


def _traced(build: Callable[..., Kernel], algorithm: Algorithm, graph: Graph) -> tuple[int, bool]:
    """Return the peak bytes of a kernel, and whether it used the reverse graph."""
    values = () if algorithm.prior is None else (np.arange(float(graph.vertices)),)
    warm = build(algorithm, graph, Team(), *values)
    reverse = "reverse" in vars(graph)
    for _ in range(_STEPS):  # the first run also loads modules
        warm.step()
    del warm
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        kernel = build(algorithm, graph, Team(), *values)
        left: Any = None
        for _ in range(_STEPS):
            left = kernel.step()
        del left
        results = kernel.values, kernel.summary()
        _, peak = tracemalloc.get_traced_memory()
        del results
    finally:
        if not already:
            tracemalloc.stop()
    return peak - before, reverse
