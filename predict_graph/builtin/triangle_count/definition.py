"""Triangles of each vertex: each sends the set of its neighbours of higher degree."""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.algorithms.base import Algorithm
from predict_graph.builtin.parts import parts_of


class TriangleCount(Algorithm):
    """Count the triangles of each vertex.

    Two supersteps, in which messages are sent and received. In the first, every vertex sends its
    degree along its edges, so that each knows which of its neighbours come after it when vertices
    are sorted by degree, then id. In the second, every vertex sends the set of these neighbours to
    all its neighbours, which count how many of the set are their own neighbours. A triangle is
    counted once at each corner, in the set that the lower one of the other two sends. If a set has
    k vertices, each of these has a degree of at least k, so k is at most the square root of twice
    the edges.

    Edge directions, self-loops and weights are ignored. There are no parameters.

    References
    ----------
    .. [1] T. Schank, D. Wagner: Finding, Counting and Listing All Triangles in Large Graphs, WEA
       2005 (forward).
    .. [2] S. Suri, S. Vassilvitskii: Counting Triangles and the Curse of the Last Reducer, WWW 2011
       (the order of degrees).

    Examples
    --------
    >>> from predict_graph.engines.local import LocalEngine
    >>> from predict_graph.graph import check_graph
    >>> LocalEngine().run(TriangleCount(), check_graph("cycle:n=3", directed=False)).values
    array([1, 1, 1])
    """

    name = "triangle-count"
    summary = "triangles of each vertex, two supersteps"
    convergence = "fixed-point"
    weighted = False
    undirected = True
    all_send = True
    known_work = uneven = True
    runs_on, sampled_by = parts_of(__name__, "TriangleCount", rooted="triangles_recipe")
    declared = ()

    def relative_work(self, graph: Any) -> float:
        """Return it by the look-ups of an edge: the neighbours above the vertex that it leads to.

        Ends of edges are drawn, and neighbours of each. An edge costs as much as twelve look-ups,
        and usual graphs have 33 look-ups an edge (`make calibration`'s graphs, measured).
        """
        if not graph.edges:
            return 1.0
        rng, (indptr, indices) = np.random.default_rng(0), (graph.indptr, graph.indices)
        ends = indices[rng.integers(len(indices), size=(2_000, 1))]
        degrees = indptr[ends + 1] - indptr[ends]
        near = indices[indptr[ends] + (rng.random((2_000, 32)) * degrees).astype(np.int64)]
        others = indptr[near + 1] - indptr[near]
        above = (others > degrees) | ((others == degrees) & (near > ends))
        return (12.0 + float((degrees * above).mean())) / (12.0 + 33.0)

    @property
    def max_iterations(self) -> int:
        """Return two supersteps: one for degrees, one for sets."""
        return 2
