"""Figure 8: runtime of top-k ranking."""

from __future__ import annotations

from benchmarks.paper.page import Section
from benchmarks.paper.runtime import Runtime
from predict_graph.algorithms import TopKRanking

FIGURE = Runtime(
    name="figure-8",
    algorithm=TopKRanking(),
    paper=(
        "below 10% for its scale-free graphs; LiveJournal is over-predicted, as runs on small "
        "samples are so short that their fixed costs inflate the cost factors. R2 is 0.95 to 0.99 "
        "without history and 0.99 with it."
    ),
    verdict=(
        "Neither method reaches the paper's 10% here, and ours is no better than the published "
        "one in the median at 10%. Other programs were running on the two cores (load average 2 "
        "to 4) and real runs of one job differ by up to 62%, so that most of these errors may "
        "be noise; they are to be measured again on a quiet machine. Out of the noise stands "
        "web-NotreDame, on which the published method says too little at every ratio, as it "
        "does of bytes (figure 6), and ours does not. History takes a third off the median of "
        "both. It does not raise R2 everywhere, as it did in the paper."
    ),
)

SECTION = Section("figure-8", "Figure 8: runtime of top-k ranking", FIGURE.write)
