"""Top-k ranking on the output of PageRank (PREDIcT, section 4.3)."""

from __future__ import annotations

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm, Parameter
from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.parts import parts_of


class TopKRanking(Algorithm):
    """Find, for every vertex, the k highest ranks among the vertices that reach it.

    PageRank runs first. Each vertex starts with a list of its own rank and sends it along its
    out-edges; it merges received lists into its own, and sends it in the next superstep if it
    changed. A run ends when the share of vertices whose list changed is below `tau`.

    Parameters
    ----------
    k : int
        Length of a list; 5 by default.
    tau : float
        0.001 by default (section 5.1).
    damping, epsilon : float
        Of the PageRank that runs first: 0.85 and 0.001 by default.
    max_iterations : int
        Of top-k ranking; 500 by default.

    Examples
    --------
    >>> TopKRanking(epsilon=0.01).prior.threshold(1000)
    1e-05
    """

    name = "topk-ranking"
    summary = "the k highest ranks that reach a vertex; runs PageRank first"
    convergence = "ratio"
    weighted = False
    by_hops = True
    runs_on, sampled_by = parts_of(__name__, "TopKRanking", rooted="lists_recipe")
    declared = (
        Parameter("k", int, 5, "length of a list", 1, 64),
        Parameter("tau", float, 0.001, "stop when a smaller share of lists changes", 0.0, 1.0),
        Parameter("damping", float, 0.85, "of PageRank: share that follows edges", 0.0, 1.0),
        Parameter("epsilon", float, 0.001, "of PageRank: the threshold is epsilon / N", 0.0),
        MAX_ITERATIONS,
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.message_bytes = 8 + 16 * self.k

    @property
    def k(self) -> int:
        """The length of a list."""
        return int(self.parameters["k"])  # type: ignore[arg-type]

    @property
    def prior(self) -> PageRank:
        """PageRank, whose ranks are the input."""
        return PageRank(damping=self.parameters["damping"], epsilon=self.parameters["epsilon"])
