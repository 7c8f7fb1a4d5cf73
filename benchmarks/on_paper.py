"""What PageRank on Spark takes at sizes that no machine here has room for: by the shipped costs.

    python -m benchmarks.on_paper

Graphs are of the shape of R-MAT with 16 edges a vertex: degrees are those of scale 20, ends are on
machines by chance. Nothing is measured, and nothing beyond a million vertices a partition was.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster.level import shipped_costs
from predict_graph.prediction.seconds.cluster.placement import combined_share
from predict_graph.prediction.seconds.cluster.task_seconds import outgrown

_RECORD = 13.0  # bytes of a record of PageRank, compressed: R-MAT 14 to 21, docs/studies/spark.md
_PLACES = ((10**9, 16), (10**9, 64), (10**11, 1_000), (10**11, 4_000))


def main() -> None:
    """Print a row a cluster."""
    costs = shipped_costs("pagerank")
    counts = check_graph("rmat:scale=20,edge_factor=16,seed=1").in_degree_counts
    print(
        "| edges | machines | open | read | a superstep | of it tasks, driver | by tables "
        "| records a message | read from others, a machine | twelve supersteps |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for edges, machines in _PLACES:
        share = float(combined_share(counts, np.ones(1), machines)[0])
        records = edges * share / machines
        moved = _RECORD * records * (1.0 - 1.0 / machines)
        row = pd.DataFrame(
            {
                "vertices": [edges / 16 / machines],
                "messages": edges / machines,
                "records": records,
                "remote_bytes": moved,
                "partitions": 1.0,
            }
        )
        tasks, driver = float(costs.model.predict(row)[0]), costs.driver.at(math.log2(machines))
        phases = costs.phases(machines, edges)
        whole = phases["opening"] + phases["read"] + 12 * (tasks + driver)
        print(
            f"| {edges:.0e} | {machines:,} | {phases['opening']:.0f} s | {phases['read']:.0f} s "
            f"| {tasks + driver:.1f} s | {tasks:.1f}, {driver:.1f} s | x {outgrown(row)[0]:.1f} "
            f"| {share:.2f} | {moved / 1e9:.2f} GB | {whole / 60:.1f} min |"
        )


if __name__ == "__main__":
    main()
