"""PageRank by power iteration (PREDIcT, sections 3.1 and 4.1)."""

from __future__ import annotations

import math
from typing import ClassVar

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm, Parameter
from predict_graph.algorithms.parameters import one_of
from predict_graph.arrays import IntArray
from predict_graph.builtin.parts import parts_of


def dangling_parameter(default: str, where: str) -> Parameter:
    """Return the parameter that says where the rank of dangling vertices goes."""
    summary = f"rank of vertices without outbound edges: {where}, or dropped"
    return Parameter("dangling", str, default, summary, choices=(default, "drop"))


class PageRank(Algorithm):
    """Rank of vertices by inbound links: equation 1 of PREDIcT.

    A run starts from 1 / N and stops when the mean change of rank per vertex is below the threshold
    (section 4.1). The threshold is ``tolerance``, or ``epsilon / N`` (section 5.1).

    The rank of dangling vertices (without outbound edges) is spread evenly over all vertices, as in
    networkx and igraph, so that ranks sum to 1; ``dangling="drop"`` discards it, as in equation 1.

    Parameters
    ----------
    damping : float
        In (0, 1); 0.85 by default.
    epsilon : float
        Tolerance level; 0.001 by default.
    tolerance : float, optional
        The threshold itself; not together with `epsilon`.
    dangling : {'uniform', 'drop'}
    max_iterations : int
        500 by default.

    Examples
    --------
    >>> PageRank().threshold(1000), PageRank(tolerance=1e-7).threshold(1000)
    (1e-06, 1e-07)
    >>> PageRank(damping=1.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    predict_graph.errors.RequestError: damping is 1.5; accepted: a number greater than 0 and ...
    """

    name = "pagerank"
    summary = "rank of vertices by inbound links, power iteration"
    convergence = "absolute"
    weighted = False
    steady = mixes = True
    runs_on, sampled_by = parts_of(__name__, "PageRank", completion="pagerank_curve")
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("damping", float, 0.85, "share of rank that follows edges", 0.0, 1.0),
        Parameter("epsilon", float, None, "tolerance level: the threshold is epsilon / N", 0.0),
        Parameter(
            "tolerance", float, None, "the threshold itself, on the mean change of rank", 0.0
        ),
        dangling_parameter("uniform", "spread evenly"),
        MAX_ITERATIONS,
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.parameters = one_of(self.parameters, "epsilon", "tolerance", 0.001)

    @property
    def damping(self) -> float:
        """The share of rank that follows edges."""
        return float(self.parameters["damping"])  # type: ignore[arg-type]

    contraction = damping  # the other share of rank starts anew, alike in all iterations

    @property
    def spread_dangling(self) -> bool:
        """Whether the rank of dangling vertices is spread, evenly or to the source."""
        return self.parameters["dangling"] != "drop"

    def source_in(self, out_degrees: IntArray) -> int | None:
        """Return the only vertex at which walks start and restart; None for all."""
        return None

    def usual_iterations(self, by_default: float, vertices: int) -> float:
        """Return them: each shrinks the change by the damping, and by a factor of the graph."""
        usual = PageRank()
        changes = (max(job.threshold(vertices), 1e-300) * vertices for job in (self, usual))
        change, usual_change = map(math.log, changes)
        by_graph = min(usual_change / by_default - math.log(usual.damping), 0.0)
        return change / (math.log(self.damping) + by_graph)

    def threshold(self, vertices: int) -> float:
        """Return the threshold on the mean change of rank: ``tolerance``, or ``epsilon / N``."""
        tolerance, epsilon = self.parameters["tolerance"], self.parameters["epsilon"]
        if tolerance is not None:
            return float(tolerance)
        return float(epsilon) / max(vertices, 1)  # type: ignore[arg-type]
