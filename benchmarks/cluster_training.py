"""Make the bundled reference runs: what a cluster is taken to charge until it is known.

    python -m benchmarks.cluster_training learn --keep FILE.sqlite     about an hour
    python -m benchmarks.cluster_training pack --keep FILE.sqlite

What `learn` runs of each algorithm (`--names`: of some) in two minutes, in sessions of its own,
on one and two workers of this machine that have no quota; of those that take minutes on half a
million edges, sample runs as a prediction without a limit makes them. What FILE has already is not
run again, and what it has not stays as the package has it. Training runs of GraphFrames are made
in the environment of `make spark35`, the others with Spark 4.1. A new name is learned first, then
packed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from benchmarks.spark_cluster import spark_cluster
from predict_graph.algorithms import Algorithm, VertexProgram
from predict_graph.engines.spark import SparkEngine
from predict_graph.history import History, RunRecord
from predict_graph.prediction.request import check_function
from predict_graph.prediction.seconds.cluster import runs as reference_runs


class Smallest(VertexProgram):
    """What stands for every vertex program: the smallest id that reaches a vertex."""

    name = "smallest"
    summary = "the smallest id that reaches a vertex"
    combiner = "min"

    def initial(self, graph: Any) -> Any:
        return np.arange(graph.vertices, dtype=np.float64)

    def update(self, state: Any, combined: Any, received: Any) -> Any:
        return np.minimum(state, combined)


DIGITS = 5  # of a measured value: limits the size of the file
LEFT_OUT = ("kind", "rows", "machine", "uid", "time", "version", "sample_of")  # of a record
LARGE, SMALL = "rmat:scale=18,edge_factor=16,seed=1", "rmat:scale=16,edge_factor=16,seed=1"
LEARNED = "2m"
NAMES = (
    *("pagerank", "connected-components", "label-propagation", "neighborhood", "topk-ranking"),
    *("semi-clustering", "shortest-paths", "k-core", "triangle-count", "personalised-pagerank"),
    *("smallest", "graphx:pageRank", "graphx:connectedComponents", "graphx:labelPropagation"),
    *("graphx:shortestPaths", "graphx:personalizedPageRank"),
    *("graphx:stronglyConnectedComponents", "graphframes:connectedComponents"),
    reference_runs.KEPT,
)
SAMPLED = {
    "semi-clustering": "soc-Epinions1",
    "triangle-count": SMALL,
    "graphx:stronglyConnectedComponents": SMALL,
    "graphframes:connectedComponents": SMALL,
    reference_runs.KEPT: LARGE,
}
JOBS = {name: SAMPLED.get(name, LEARNED) for name in NAMES}
"""What each is learned from: generated graphs for so long, or samples of a graph."""


def learn(history: History, names: Sequence[str]) -> None:
    """Run the samples of each of these algorithms that has none in the history."""
    with spark_cluster(2, memory="4800m") as cluster:
        for name, machines in product(names, (2, 1)):
            if any(each.engine["machines"] == machines for each in _kept_runs(history, name)):
                continue
            memory = f"{4 // machines}g"
            graph, engine = JOBS[name], SparkEngine(cluster.master, machines, memory=memory)
            print(name, graph, machines, flush=True)
            given: dict[str, Any] = {"history": history, "seed": 1}
            if graph == LEARNED:
                jobs = [_job(name)]
                print(predict_graph.learn(engine, algorithms=jobs, budget=LEARNED, **given))
                continue
            with tempfile.TemporaryDirectory() as folder:
                if name == reference_runs.KEPT:
                    kept: dict[str, Any] = {"checkpoint": folder, "checkpoint_interval": 2}
                    engine = SparkEngine(cluster.master, machines, memory=memory, **kept)
                predict_graph.predict(_job(name), graph, engine=engine, budget="none", **given)


def pack(history: History) -> int:
    """Write the file of the package; return how many runs are in it."""
    records, shipped = [], reference_runs.shipped_records()
    for name in JOBS:
        kept_as = reference_runs.PROGRAM if name == Smallest.name else name
        records += _kept_runs(history, name, kept_as) or shipped.get(kept_as, [])
    packed = packed_reference_runs(records)
    target = files(reference_runs.__package__).joinpath(reference_runs.FILE)
    Path(str(target)).write_bytes(packed)
    print(f"{len(records)} runs, {len(packed):,} bytes")
    return len(records)


def _kept_runs(history: History, name: str, kept_as: str = "") -> list[RunRecord]:
    """Return the sample runs of the first training run of a job in the history."""
    found = history.runs(algorithm=_job(name).name, kind="sample").sort_values("id")
    records = [history.record(int(number)) for number in found["id"]]
    keeping = name == reference_runs.KEPT
    own = [each for each in records if bool(each.engine["checkpoint_interval"]) == keeping]
    return [replace(each, algorithm=kept_as) for each in own]


def _job(name: str) -> Algorithm:
    if name == reference_runs.KEPT:
        return check_function("pagerank")
    return Smallest() if name == Smallest.name else check_function(name)


def main() -> None:
    """Learn, or pack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("learn", "pack"))
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--names", nargs="+", choices=JOBS, default=[*JOBS], metavar="NAME")
    given = parser.parse_args()
    history = History(given.keep)
    if given.what == "learn":
        learn(history, given.names)
    else:
        pack(history)


def packed_reference_runs(records: Sequence[RunRecord]) -> bytes:
    """Return the content of the file, from the sample runs of a history, in order."""
    rows = []
    for record in records:
        names = [each.name for each in fields(record) if each.name not in LEFT_OUT]
        kept: dict[str, Any] = {name: getattr(record, name) for name in names}
        table = {
            str(name): [_rounded(value) for value in column.tolist()]
            for name, column in record.rows.items()
        }
        rows.append({**kept, "time": record.time.isoformat(), "table": table})
    text = json.dumps(rows, separators=(",", ":"), sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def _rounded(value: float) -> float:
    """Return a value rounded to significant digits; integers unchanged."""
    return value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")


if __name__ == "__main__":
    main()
