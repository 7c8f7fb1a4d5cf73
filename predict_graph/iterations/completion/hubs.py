"""The hubs that are in every completed sample."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.prefix import edges_by_later_position
from samplers.search import largest


def choose_hubs(
    graph: Graph, ratio: float, edge_budget: int, share: float = 0.03, neighbours: int = 10
) -> npt.NDArray[np.int64]:
    """Return the vertices that a stratified sample takes with certainty, highest degree first.

    Hubs are the largest set of highest-degree vertices that has at most `edge_budget` edges among
    its members, is at most a `share` of the vertices, and whose members have so many neighbours
    (``10 / ratio``) that a sample at `ratio` has ten of them, as their edges are thinned.
    """
    least = math.ceil(neighbours / ratio)
    larger = np.maximum(graph.in_degrees, graph.out_degrees)
    able = int(np.count_nonzero(larger >= least))
    count = min(int(share * graph.vertices), able)
    candidates = largest(graph.in_degrees + graph.out_degrees, count)
    inside = np.cumsum(edges_by_later_position(graph.indptr, graph.indices, candidates))
    kept = candidates[: int(np.searchsorted(inside, edge_budget, side="right"))]
    hubs = kept[larger[kept] >= least]
    return hubs.astype(np.int64)
