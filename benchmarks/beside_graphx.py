"""How long do algorithms take on Spark as we run them, and as GraphX does, on the same workers?

    python -m benchmarks.beside_graphx --out docs/studies/beside-graphx.md

Each engine gets a session of its own on a standalone cluster of this machine. In it a job runs
twice: the first run gives the total, with the start of the session, the second one the supersteps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil

from benchmarks.common import Row, kilobytes, machine, study_parser, table, write
from benchmarks.spark_cluster import SparkCluster, Worker, spark_cluster
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import Graph, check_graph
from predict_graph.prediction.request import check_function

# Ours, and GraphX's with as many supersteps; those of others end by themselves.
JOBS = {
    "PageRank": (("pagerank", {}), ("graphx:pageRank", {"numIter": 10})),
    "connected components": (("connected-components", {}), ("graphx:connectedComponents", {})),
    "label propagation": (("label-propagation", {}), ("graphx:labelPropagation", {"maxSteps": 5})),
    "shortest paths": (("shortest-paths", {}), ("graphx:shortestPaths", {})),
}
LIMITS = {"PageRank": 10, "label propagation": 5}
GRAPHS = ("wiki-Vote", "web-NotreDame", "rmat:scale=20,edge_factor=16,seed=1")


def measured(cluster: SparkCluster, memory: str, job: str, graph: Graph, ours: bool) -> Row:
    """Run a job twice in a session."""
    name, parameters = JOBS[job][0 if ours else 1]
    algorithm = check_function(name, parameters)
    limits: dict[str, Any] = {}
    if ours and job in LIMITS:
        limits = {"threshold": 0.0, "max_iterations": LIMITS[job]}
    engine = SparkEngine(cluster.master, len(cluster.workers), memory=memory)
    with engine.session(java_works=not ours) as session:
        first = engine.run(algorithm, graph.fresh(), **limits)
        second = engine.run(algorithm, graph.fresh(), **limits)
        peak = sum(map(_peak, cluster.workers))
    seconds = second.table.groupby("iteration")["seconds"].max()
    return {
        "total": session.seconds + sum(first.phases.values()),
        "superstep": float(np.median(seconds)),
        "supersteps": second.iterations,
        "memory": peak,
    }


def _peak(worker: Worker) -> int:
    """Return the peak bytes of the executor of a worker, and of its Python."""
    children = psutil.Process(worker.process.pid).children(recursive=True)
    return sum(kilobytes("VmHWM", each.pid) << 10 for each in children)


def row(job: str, graph: Graph, ours: Row, theirs: Row) -> list[str]:
    """Return the cells of a job: ours, GraphX's, and how they are related."""
    cells = [job, graph.name, f"{graph.edges:,}"]
    for name in ("superstep", "total", "memory"):
        scale = 2**30 if name == "memory" else 1
        cells += [f"{each[name] / scale:.2f}" for each in (ours, theirs)]
        cells.append(f"{ours[name] / theirs[name]:.2f}")
    return [*cells, f"{ours['supersteps']}, {theirs['supersteps']}"]


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="3g", help="of an executor")
    parser.add_argument("--graphs", nargs="+", default=GRAPHS)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    given = parser.parse_args()
    rows: list[list[str]] = []
    head = ["job", "graph", "edges"]
    for name in ("superstep, s", "total, s", "memory, GiB"):
        head += [f"{name}: ours", "GraphX", "ratio"]
    about = f"{given.workers} workers of a core each, and the driver, on {machine()}."
    with spark_cluster(given.workers, memory=given.memory) as cluster:
        for spec in given.graphs:
            for job in given.jobs:
                both = check_function(JOBS[job][0][0]).undirected
                graph = check_graph(spec, directed=False if both else None)
                ours, theirs = (
                    measured(cluster, given.memory, job, graph, which) for which in (True, False)
                )
                rows.append(row(job, graph, ours, theirs))
                # Each at once: GraphX may take an hour for the next.
                write(given.out, [*table([*head, "supersteps"], rows, 2), "", about], "runs")


if __name__ == "__main__":
    main()
