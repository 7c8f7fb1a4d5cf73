"""Figure 7: runtime of semi-clustering."""

from __future__ import annotations

from benchmarks.paper.page import Section
from benchmarks.paper.runtime import Runtime
from predict_graph.algorithms import SemiClustering

FIGURE = Runtime(
    name="figure-7",
    algorithm=SemiClustering(),
    paper=(
        "at a ratio of 0.1, below 30% for its scale-free graphs and below 50% for LiveJournal "
        "without history (R2 0.82 to 0.89); with history UK falls below 10% and the others stay "
        "(R2 0.88 to 0.95)."
    ),
    verdict=(
        "The published method says too little at 10% on all four graphs, as it counts too few "
        "iterations there (figure 5), and is far from the paper's 30%. Ours is nearer "
        "in the median, 17% without history, but single predictions are off by up to 61%. "
        "History changes little for ours (19%), and harms the published method on both R-MAT "
        "graphs: what a message costs differs tenfold between graphs (12 ns on "
        "uk-2007-05@100000, 134 on web-NotreDame, see [algorithms](algorithms.md)), so that "
        "costs of other graphs mislead, unless a probe of the graph corrects them, as in ours. "
        "Unlike in the paper, R2 mostly falls with history. Other programs were running on the "
        "two cores (load average 2 to 4), so that errors of 20% and less are within the noise; "
        "to be measured again on a quiet machine."
    ),
)

SECTION = Section("figure-7", "Figure 7: runtime of semi-clustering", FIGURE.write)
