"""Communities by synchronous label propagation (Raghavan, Albert, Kumara)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from predict_graph.algorithms.base import Algorithm, Usual
from predict_graph.algorithms.parameters import MAX_ITERATIONS, Parameter

__all__ = ["LabelPropagation"]


class LabelPropagation(Algorithm):
    """Give every vertex the label that most of its neighbours have.

    Every vertex starts with its own id and sends its label along its edges in every superstep; it
    takes the label that most of its neighbours sent, the smallest of those that equally many did.
    What it had before has no vote, unless it has an edge to itself; a vertex without edges keeps
    its label. A run ends when the share of vertices whose label changed in a superstep is below
    `tau`. Direction of edges is ignored; where edges have weights, the labels with most weight win.

    All vertices change at once, so two that are joined to each other alone swap labels for ever,
    and so do the two sides of whatever is nearly bipartite: stars, trees, even rings [1]_. Where
    more than `tau` of the vertices do, `max_iterations` ends the run.

    Parameters
    ----------
    tau : float
        0.05 by default: after about five supersteps 95% of the labels are there to stay ([1]_,
        section III, for vertices that change one after another).
    max_iterations : int
        50 by default, less than other algorithms have: many runs go that far.

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
    usual = Usual(20, 0.5, 9.8)
    runs_on: ClassVar[Mapping[str, Any]] = {
        "local": "predict_graph.builtin.label_propagation.local:LabelPropagationKernel",
        "spark": "predict_graph.builtin.label_propagation.spark:LabelPropagationProgram",
    }
    sampled_by: ClassVar[Mapping[str, Any]] = {
        "rooted": "predict_graph.builtin.label_propagation.sampling:recipe",
    }
    counted_by = "predict_graph.builtin.label_propagation.counted:LabelPropagationTwin"
    # Calibrated on ten graphs, any one of them left out: 0.36 to 0.6. When so few
    # labels change that it ends depends on ties far apart.
    sampling_std = 0.4
    declared = (
        Parameter("tau", float, 0.05, "stop when a smaller share of labels changes", 0.0, 1.0),
        replace(MAX_ITERATIONS, default=50),
    )

    def threshold(self, vertices: int) -> float:
        """Return ``tau``."""
        return float(self.parameters["tau"])  # type: ignore[arg-type]
