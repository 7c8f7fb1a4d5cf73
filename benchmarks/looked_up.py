"""Do tasks on Spark take longer where the tables of a partition are larger, and by how much?

    python -m benchmarks.looked_up                                          about 10 minutes
    python -m benchmarks.looked_up --names pagerank --scales 16 18 20

Each algorithm runs twice on R-MAT graphs of several sizes, in one session on two workers of this
machine without a quota; the second run counts. Its tasks are held against what the shipped costs
say: those were learned from samples of less than a million edges, whose tables are small. The last
column has what a prediction adds for larger ones.
"""

from __future__ import annotations

import argparse
from typing import Any

import predict_graph
from benchmarks.spark_cluster import spark_cluster
from predict_graph.engines import RunProfile
from predict_graph.prediction.seconds.cluster.level import shipped_costs
from predict_graph.prediction.seconds.cluster.superstep_features import rows_of_run
from predict_graph.prediction.seconds.cluster.task_seconds import outgrown

_WORKERS = 2
NAMES = ["pagerank", "connected-components", "label-propagation", "neighborhood", "graphx:pageRank"]


def row(name: str, source: str, profile: RunProfile) -> str:
    """Return a row of the table."""
    rows = rows_of_run(profile, _WORKERS)
    costs = shipped_costs(name)
    working, said = float(rows["working"].sum()), float(costs.model.predict(rows).sum())
    small = float((costs.model.predict(rows) / outgrown(rows)).sum())
    held = profile.graph["vertices"] / _WORKERS
    return (
        f"| {name} | {source} | {held:,.0f} | {working:.2f} s "
        f"| {working / small:.2f} | {working / said:.2f} |"
    )


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", default=NAMES, metavar="NAME")
    parser.add_argument("--scales", nargs="+", type=int, default=[16, 18, 20])
    given = parser.parse_args()
    from pyspark.sql import SparkSession

    print("| algorithm | graph | vertices a partition | tasks | / said of small tables | / said |")
    print("|---|---|---:|---:|---:|---:|", flush=True)
    with spark_cluster(_WORKERS, memory="4g") as cluster:
        builder: Any = SparkSession.builder
        builder = builder.master(cluster.master).config("spark.cores.max", _WORKERS)
        spark = builder.config("spark.executor.memory", "3g").getOrCreate()
        for name in given.names:
            for scale in given.scales:
                source = f"rmat:scale={scale},edge_factor=16,seed=7"
                options: dict[str, Any] = {"engine": "spark", "spark": spark, "history": "none"}
                predict_graph.run(name, source, **options)
                print(row(name, source, predict_graph.run(name, source, **options)), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
