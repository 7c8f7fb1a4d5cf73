"""The hubs that are in every completed sample."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.prefix import edges_by_later_position

IntArray = npt.NDArray[np.int64]

_LARGEST_FRACTION = 0.03  # of the vertices: limits the hubs
_NEIGHBOURS_IN_SAMPLE = 10  # of a hub, at least: limits the noise of its thinned edges


def choose_hubs(graph: Graph, ratio: float, edge_budget: int) -> npt.NDArray[np.int64]:
    """Return the vertices that a stratified sample takes with certainty, highest degree first.

    Hubs are the largest set of highest-degree vertices that has at most `edge_budget` edges among
    its members, is at most 3% of the vertices, and whose members have so many neighbours
    (``10 / ratio``) that a sample at `ratio` has ten of them.
    """
    least = math.ceil(_NEIGHBOURS_IN_SAMPLE / ratio)
    able, counts = _degree_counts(graph.indptr, graph.in_degrees, least)
    count = min(int(_LARGEST_FRACTION * graph.vertices), int(able))
    if count == 0:
        return np.empty(0, np.int64)
    # The degree of the last one, and how many of just that degree belong.
    from_above = np.cumsum(counts[::-1])
    last = len(counts) - 1 - int(np.searchsorted(from_above, count))
    ties = count - int(from_above[len(counts) - 1 - last] - counts[last])
    candidates = np.empty(count, np.int64)
    _take(graph.indptr, graph.in_degrees, last, ties, candidates)
    larger, total = _degrees_of(graph, candidates)
    order = np.lexsort((candidates, -total))
    candidates, larger = candidates[order], larger[order]
    inside = np.cumsum(edges_by_later_position(graph.indptr, graph.indices, candidates))
    kept = int(np.searchsorted(inside, edge_budget, side="right"))
    return candidates[:kept][larger[:kept] >= least]


def _degrees_of(graph: Graph, vertices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the larger one of both degrees of some vertices, and their sum."""
    inward = graph.in_degrees[vertices].astype(np.int64)
    outward = graph.indptr[vertices + 1] - graph.indptr[vertices]
    return np.maximum(inward, outward), inward + outward


@numba.njit(cache=True, nogil=True)
def _degree_counts(indptr: Any, in_degrees: Any, least: int) -> tuple[int, IntArray]:
    """Return how many vertices have so many edges of one kind; and how many each number of both."""
    most = able = 0
    for v in range(len(in_degrees)):
        outward = indptr[v + 1] - indptr[v]
        most = max(most, outward + in_degrees[v])
        able += max(outward, in_degrees[v]) >= least
    counts = np.zeros(most + 1, np.int64)
    for v in range(len(in_degrees)):
        counts[indptr[v + 1] - indptr[v] + in_degrees[v]] += 1
    return able, counts


@numba.njit(cache=True, nogil=True)
def _take(indptr: Any, in_degrees: Any, last: int, ties: int, chosen: IntArray) -> None:
    """Write the vertices with more edges than `last`, and the first ones with just so many."""
    at = 0
    for v in range(len(in_degrees)):
        degree = indptr[v + 1] - indptr[v] + in_degrees[v]
        if degree > last or (degree == last and ties > 0):
            ties -= degree == last
            chosen[at] = v
            at += 1
