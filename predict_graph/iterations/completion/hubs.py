"""Which vertices are kept with certainty: the hubs, whose every edge a sample needs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.prefix import edges_by_later_position

__all__ = ["choose_hubs"]

_LARGEST_FRACTION = 0.03  # of the vertices; judgement: docs/studies/constants.md
_NEIGHBOURS_IN_SAMPLE = 10  # of a hub; judgement: docs/studies/constants.md


def choose_hubs(graph: Graph, ratio: float, edge_budget: int) -> npt.NDArray[np.int64]:
    """Return the vertices that a stratified sample takes with certainty, highest degree first.

    Hubs are the largest set of highest-degree vertices that has at most `edge_budget` edges among
    its members, is at most 3% of the vertices, and whose members have so many neighbours
    (``10 / ratio``) that a sample at `ratio` still sees ten of them: thinning the neighbourhood of
    a smaller vertex would be noise.

    Parameters
    ----------
    graph : Graph
    ratio : float
        Sampling ratio of the other vertices, in (0, 1].
    edge_budget : int
        Most edges among hubs.

    Returns
    -------
    ndarray of int64, shape (h,)
    """
    total = graph.in_degrees + graph.out_degrees
    larger = np.maximum(graph.in_degrees, graph.out_degrees)
    count = min(
        int(_LARGEST_FRACTION * graph.vertices),
        int(np.count_nonzero(larger >= _NEIGHBOURS_IN_SAMPLE / ratio)),
    )
    if count == 0:
        return np.empty(0, np.int64)
    candidates = np.argpartition(-total, count - 1)[:count]
    candidates = candidates[np.lexsort((candidates, -total[candidates]))]
    rank = np.full(graph.vertices, count, np.int32)
    rank[candidates] = np.arange(count, dtype=np.int32)
    inside = np.cumsum(edges_by_later_position(graph.indptr, graph.indices, candidates, rank))
    hubs = candidates[: int(np.searchsorted(inside, edge_budget, side="right"))]
    return hubs[larger[hubs] >= _NEIGHBOURS_IN_SAMPLE / ratio]
