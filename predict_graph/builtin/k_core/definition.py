"""Core numbers of vertices, by decreasing estimates (Montresor, De Pellegrini and Miorandi)."""

from __future__ import annotations

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm
from predict_graph.builtin.parts import parts_of


class KCore(Algorithm):
    """Find the core number of each vertex: the largest k of a k-core that it is in.

    The k-core is the largest subgraph in which every vertex has at least k edges. A vertex
    estimates its core number, initially by its degree, and sends its estimate along its edges
    whenever it has decreased. It stores the last estimate of each neighbour, and lowers its own to
    the largest k for which at least k neighbours are at k or above. A run ends with the superstep
    in which no estimate decreases: the estimates are then the core numbers. Direction and weights
    of edges are ignored; a self-loop counts in the initial degree only.

    Parameters
    ----------
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] A. Montresor, F. De Pellegrini, D. Miorandi: Distributed k-Core Decomposition, TPDS 2013
       (algorithm 1, one vertex a host).
    .. [2] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley: The H-index of a network node and its
       relation to degree and coreness, Nature Communications 2016.

    Examples
    --------
    >>> from predict_graph.engines.local import LocalEngine
    >>> from predict_graph.graph import check_graph
    >>> LocalEngine().run(KCore(), check_graph("star:n=4", directed=False)).values
    array([1, 1, 1, 1], dtype=int32)
    """

    name = "k-core"
    summary = "core number of each vertex"
    convergence = "fixed-point"
    weighted = False
    uneven = undirected = True
    runs_on, sampled_by = parts_of(__name__, "KCore", rooted="cores_recipe")
    declared = (MAX_ITERATIONS,)
