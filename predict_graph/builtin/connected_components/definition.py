"""Connected components by propagation of the smallest id (PREDIcT, section 5; PEGASUS)."""

from __future__ import annotations

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm
from predict_graph.builtin.parts import parts_of


class ConnectedComponents(Algorithm):
    """Label every vertex with the smallest id of its component.

    Every vertex starts with its own id and sends it along its edges. A vertex that receives a
    smaller id takes it and sends it on in the next superstep. A run ends with the superstep in
    which no label changes, so a component takes one superstep more than the hops from its smallest
    id to the farthest vertex. Edge directions are ignored.

    Parameters
    ----------
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] U Kang, C. E. Tsourakakis, C. Faloutsos: PEGASUS: A Peta-Scale Graph Mining System,
       ICDM 2009, section IV.C (HCC).

    Examples
    --------
    >>> ConnectedComponents().threshold(1000)
    0.0005
    """

    name = "connected-components"
    summary = "components by propagation of the smallest id"
    convergence = "fixed-point"
    weighted = False
    undirected = True
    by_hops = True
    runs_on, sampled_by = parts_of(__name__, "Components", rooted="components_recipe")
    declared = (MAX_ITERATIONS,)
