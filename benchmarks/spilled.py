"""What does it take when tables do not fit into the memory of executors?

The second run of a session each time, on two workers without a quota, with memory to spare and with
little: what a processor was longer busy with supersteps that spilled, over the bytes that they
spilled.

    python -m benchmarks.spilled
"""

from __future__ import annotations

import argparse

import numpy as np

import predict_graph
from benchmarks.spark_cluster import spark_cluster
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function

CASES = (
    ("label-propagation", "rmat:scale=18,edge_factor=16,seed=7", 4, "700m"),
    ("label-propagation", "rmat:scale=19,edge_factor=8,seed=8", 4, "900m"),
    ("graphx:pageRank", "rmat:scale=18,edge_factor=16,seed=7", 4, "600m"),
)


def main() -> None:
    """Run each case with two sizes of memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[0, 1])
    given = parser.parse_args()
    with spark_cluster(2, memory="5g") as cluster:
        for number in given.cases:
            name, source, supersteps, little = CASES[number]
            job = check_function(name)
            graph = check_graph(source, directed=False if job.undirected else None)
            tables = {}
            for memory in ("4g", little):
                engine = SparkEngine(cluster.master, 2, memory=memory)
                said = predict_graph.predict(name, graph, engine=engine, history="none", seed=1)
                with engine.session():
                    for _ in range(2):
                        profile = engine.run(job, graph, max_iterations=supersteps)
                tables[memory] = profile.table
                held = said.to_dict()["executors"]
                print(name, source, memory, held, [round(each, 1) for each in said.phases.values()])
            seconds = {
                memory: table.groupby("iteration")["cpu_seconds"].max().to_numpy()
                for memory, table in tables.items()
            }
            steps = tables[little].groupby("iteration")
            spilled = steps["spilled_bytes"].max().to_numpy()
            records = steps["shuffle_read_records"].sum().to_numpy()
            longer = seconds[little] - seconds["4g"]
            for step in range(len(spilled)):
                print(
                    f"  superstep {step + 1}: {seconds['4g'][step]:.1f} s, with {little} "
                    f"{seconds[little][step]:.1f} s, {spilled[step] / 2**20:.0f} MiB spilled of "
                    f"{records[step]:,} records, "
                    f"{1e9 * longer[step] / max(float(spilled[step]), 1.0):.1f} s a GB"
                )
            print(
                f"  in all {1e9 * longer[spilled > 0].sum() / max(np.sum(spilled), 1):.1f} s a GB"
            )


if __name__ == "__main__":
    main()
