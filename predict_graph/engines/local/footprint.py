"""How much memory a kernel holds at its peak, beside the graph.

A kernel may declare it::

    @staticmethod
    def footprint(algorithm, id_bytes):
        return Footprint(vertex_bytes=40)

Of any other one, and of vertex programs, it is measured on a small part of the graph.
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

__all__ = ["TALLY_BYTES", "Footprint", "footprint_of", "measured_footprint"]

TALLY_BYTES = 8  # a vertex: its worker, and its edges that stay there; by definition
_SAMPLED = 1 << 14  # vertices; a choice: docs/studies/memory.md has the errors
_STEPS = 3  # what the last superstep left behind is held while the next one runs; a choice


@dataclass(frozen=True)
class Footprint:
    """Bytes that a kernel allocates, at the moment when they are most.

    Parameters
    ----------
    vertex_bytes, edge_bytes : float
        For each vertex and each edge, with what supersteps and results allocate for a while;
        without the graph and its reverse.
    reverse : bool
        Whether it needs the reverse of a directed graph.
    """

    vertex_bytes: float
    edge_bytes: float = 0.0
    reverse: bool = True

    def beside(self, vertices: int, edges: int) -> float:
        """Return the bytes beside a graph."""
        return self.vertex_bytes * vertices + self.edge_bytes * edges


def footprint_of(algorithm: Algorithm, graph: Graph) -> Footprint | None:
    """Return what the kernel of an algorithm declares, or what is measured on part of the graph.

    None if it cannot be measured, because the algorithm does not run on a part of the graph.

    Raises
    ------
    RequestError
        If the algorithm has no kernel.
    """
    build = kernel_of(algorithm)
    declared = getattr(build, "footprint", None)
    if declared is not None:
        found: Footprint = declared(algorithm, graph.indices.itemsize)
        return found
    try:
        return measured_footprint(algorithm, graph)
    except (PredictGraphError, ArithmeticError, LookupError, TypeError, ValueError):
        return None  # what users write need not run on less than their graph


def measured_footprint(algorithm: Algorithm, graph: Graph) -> Footprint:
    """Return what a kernel allocates on parts of a graph, by the counts of Python's allocator.

    Three parts tell vertices from edges: the first 16,384 vertices, the same with half of the
    edges, and half of the vertices. Edges that lead out of a part are led back into it, so that
    its vertices have as many as before. What compiled code allocates by itself is not counted.
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
    """Return the first rows of a graph, with targets modulo their number."""
    stop = int(graph.indptr[size])
    sources = np.repeat(np.arange(size), np.diff(graph.indptr[: size + 1]))
    targets = graph.indices[:stop].astype(np.int64) % size
    weights = None if graph.weights is None else graph.weights[:stop]
    return from_edges(sources, targets, vertices=size, weights=weights, directed=graph.directed)


def _thinned(graph: Graph) -> Graph:
    """Return the graph with every other edge: one of the two directions at least."""
    weights = None if graph.weights is None else graph.weights[::2].copy()
    indices = graph.indices[::2].copy()
    return Graph((graph.indptr + 1) // 2, indices, weights, directed=True)


def _traced(build: Callable[..., Kernel], algorithm: Algorithm, graph: Graph) -> tuple[int, bool]:
    """Return the most bytes that a kernel held, and whether it asked for the reverse graph."""
    values = () if algorithm.prior is None else (np.arange(float(graph.vertices)),)
    warm = build(algorithm, graph, Team(), *values)
    reverse = "reverse" in vars(graph)
    for _ in range(_STEPS):  # what is loaded when it is first used is not the kernel's
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
