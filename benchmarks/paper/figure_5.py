"""Figure 5: iterations of semi-clustering."""

from __future__ import annotations

from benchmarks.paper.page import Section
from benchmarks.paper.sweep import Sweep
from predict_graph.algorithms import SemiClustering

SWEEP = Sweep(
    name="figure-5",
    jobs={
        "semi-clustering, tau 0.01": SemiClustering(tau=0.01),
        "semi-clustering, tau 0.001": SemiClustering(tau=0.001),
    },
    features=("error",),
    paper="below 20% at a ratio of 0.1 for its web graphs; LiveJournal varies more.",
    verdict=(
        "The published method does worse here than in the paper, with 0.001 more so than with "
        "0.01, and again the denser the sample, the earlier it stops. The semi-clusters that "
        "spread begin between vertices of few edges, and BRJ leaves those out: vertices of 1 to 5 "
        "edges are 78% of soc-Epinions1 and 33% of rmat 18, but 22% and 7% of their samples (seed "
        "0). Ours is better, because such vertices are in every rooted sample with their degrees. "
        "Its worst error is three iterations of 13 or 14, on soc-Epinions1. Its work at 10% is "
        "about that of the published method at 30%, which errs more. At 1% it is less reliable: "
        "up to 48% off. The run on uk-2007-05@100000 with tau 0.01 has one iteration: one more is "
        "+100%, and our samples, a pilot and a larger one, cost two such runs."
    ),
)

SECTION = Section("figure-5", "Figure 5: iterations of semi-clustering", SWEEP.write)
