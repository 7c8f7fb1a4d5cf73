"""Semi-clustering (PREDIcT, section 4.2; Pregel, section 5.4)."""

from __future__ import annotations

from typing import Any, Self

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm, Parameter
from predict_graph.builtin.parts import parts_of
from predict_graph.errors import RequestError


class SemiClustering(Algorithm):
    """Find groups of vertices with many edges inside and few outwards; groups may overlap.

    The score of a semi-cluster is ``(I - boundary_factor x B) / (V (V - 1) / 2)`` (equation 2),
    with the weight I of its inner edges, B of its boundary edges, and V members; that of a single
    vertex, which equation 2 does not define, is 0.

    Every vertex starts with the semi-cluster of itself and sends it along its edges. It adds itself
    to received semi-clusters that have room; the best `s_max` of all are sent in the next
    superstep, and those that contain it compete for the `c_max` entries of its list. A run ends
    when the share of entries that changed in a superstep is below `tau`. Edge directions are
    ignored; an edge without weight weighs 1. Semi-clusters of equal score are ordered by a hash of
    their members, so that results do not depend on the order of messages.

    Parameters
    ----------
    c_max, s_max, v_max : int
        Length of a list, semi-clusters that a vertex sends, members of a semi-cluster; 1, 1 and 10
        by default, as in section 5.1.
    boundary_factor : float
        f_B, in (0, 1); 0.1 by default.
    tau : float
        0.001 by default.
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] G. Malewicz et al.: Pregel: A System for Large-Scale Graph Processing, SIGMOD 2010,
       section 5.4.
    """

    name = "semi-clustering"
    summary = "overlapping groups with many edges inside and few outwards"
    convergence = "ratio"
    undirected = True
    all_send = True
    runs_on, sampled_by = parts_of(__name__, "SemiClustering", rooted="clusters_recipe")
    declared = (
        Parameter("c_max", int, 1, "semi-clusters in a list", 1, 64),
        Parameter("s_max", int, 1, "semi-clusters that a vertex sends", 1, 64),
        Parameter("v_max", int, 10, "members of a semi-cluster", 2, 64),
        Parameter("boundary_factor", float, 0.1, "weight of boundary edges, f_B", 0.0, 1.0),
        Parameter("tau", float, 0.001, "stop when a smaller share of places changes", 0.0, 1.0),
        MAX_ITERATIONS,
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        # Most of what is sent has two members: 45 to 64 bytes a message on eight graphs, of three
        # semi-clusters 107 to 170.
        self.message_bytes = 8 + (24 + 8 * 2) * int(str(self.parameters["s_max"]))

    def on(self, graph: Any) -> Self:
        """Refuse negative weights, with which a larger group may score more than its bound."""
        weights = getattr(graph, "weights", None)
        if weights is not None and weights.min(initial=0.0) < 0.0:
            raise RequestError(f"a weight is {weights.min():g}; accepted by {self.name}: from 0 on")
        return self
