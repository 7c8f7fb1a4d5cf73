"""Communities by synchronous label propagation (Raghavan, Albert, Kumara)."""

from __future__ import annotations

from dataclasses import replace

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm, Parameter
from predict_graph.builtin.parts import parts_of


class LabelPropagation(Algorithm):
    """Give every vertex the most frequent label of its neighbours.

    Every vertex starts with its own id and sends its label along its edges in every superstep. It
    takes the most frequent received label, the smallest of several. Its previous label has no vote,
    unless it has a self-loop; a vertex without edges keeps its label. A run ends when the share of
    vertices whose label changed in a superstep is below `tau`. Edge directions are ignored; on
    weighted graphs the label with the largest weight wins.

    All vertices change at once, so two vertices joined only to each other swap labels forever, and
    so do the two sides of nearly bipartite parts: stars, trees, even rings [1]_. Where these are
    more than `tau` of the vertices, `max_iterations` ends the run.

    Parameters
    ----------
    tau : float
        0.05 by default: after about five supersteps 95% of the labels are final ([1]_,
        section III, for asynchronous updates).
    max_iterations : int
        50 by default, less than for other algorithms: many runs reach it.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara: Near linear time algorithm to detect community
       structures in large-scale networks, Physical Review E 76, 2007, section III.

    Examples
    --------
    >>> LabelPropagation(tau=0.05).threshold(1000)
    0.05
    """

    name = "label-propagation"
    summary = "communities: the label that most neighbours have"
    convergence = "ratio"
    undirected = True
    all_send = mixes = True
    runs_on, sampled_by = parts_of(__name__, "LabelPropagation", rooted="labels_recipe")
    declared = (
        Parameter("tau", float, 0.05, "stop when a smaller share of labels changes", 0.0, 1.0),
        replace(MAX_ITERATIONS, default=50),
    )
