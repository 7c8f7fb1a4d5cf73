"""Hops from landmarks to each vertex (GraphX, ShortestPaths)."""

from __future__ import annotations

from predict_graph.algorithms import MAX_ITERATIONS
from predict_graph.algorithms.naming import NamedVertices, naming_parameter
from predict_graph.builtin.parts import parts_of
from predict_graph.errors import RequestError


class ShortestPaths(NamedVertices):
    """Count the hops from some landmarks to each vertex, along the direction of edges.

    A landmark is 0 hops away from itself and sends this along its edges in the first superstep. A
    vertex stores the smallest number of hops from each landmark, and sends all that it knows in the
    superstep after it found a shorter path. A run ends with the superstep in which no path gets
    shorter: one more than the hops to the farthest vertex.

    Messages follow the edges, so that hops are counted *from* the landmarks. ``ShortestPaths`` of
    GraphX (``graphx:shortestPaths``) counts them *to* the landmarks; for that, reverse the edges.
    On an undirected graph both are equal.

    Parameters
    ----------
    landmarks : str or sequence of ids, optional
        Comma-separated ids of vertices, 64 at most; by default the vertex with most
        out-edges, the first of them if there are several.
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] J. Gonzalez et al.: GraphX: Graph Processing in a Distributed Dataflow Framework,
       OSDI 2014.
    .. [2] G. Malewicz et al.: Pregel: A System for Large-Scale Graph Processing, SIGMOD 2010,
       section 5.2.

    Examples
    --------
    >>> ShortestPaths(landmarks="3, 17").ids
    ('3', '17')
    """

    name = "shortest-paths"
    summary = "hops from landmarks to each vertex"
    convergence = "fixed-point"
    weighted = False
    by_hops = True
    runs_on, sampled_by = parts_of(__name__, "ShortestPaths", rooted="paths_recipe")
    named_by = "landmarks"
    declared = (naming_parameter("landmarks", several=True), MAX_ITERATIONS)

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        if len(self.ids) > 64:
            raise RequestError(f"landmarks are {len(self.ids)}; accepted: at most 64")
        self.message_bytes = 8 + 16 * self.count
