"""Predictions of graphs that only Spark reads, beside those of graphs that are read here.

    python -m benchmarks.spark_reads count GRAPH… --rows FILE    samples here, counts there
    python -m benchmarks.spark_reads passes FILE.parquet         packing, counting, memory
    python -m benchmarks.spark_reads supersteps FILE.parquet     of PageRank, beside them
    python -m benchmarks.spark_reads continued GRAPH…            curves that were cut off
    python -m benchmarks.spark_reads rmat SCALE FILE.parquet     an R-MAT graph, block by block

The study is docs/studies/spark-reads.md.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.blocks import on_executors
from predict_graph.engines.spark.blocks.graph import cluster_graph
from predict_graph.engines.spark.blocks.packing import packed_graph
from predict_graph.engines.spark.blocks.twin import check_twin, count_run
from predict_graph.engines.spark.tables.reading import SparkGraph
from predict_graph.graph import Graph, check_graph
from predict_graph.prediction import on_cluster
from predict_graph.prediction.request import check_request
from predict_graph.prediction.road import estimates_of
from predict_graph.prediction.work import workload_of

ALGORITHMS = (
    "pagerank",
    "connected-components",
    "neighborhood",
    "topk-ranking",
    "label-propagation",
)
SEED = 1


def count(graphs: list[str], rows: Path) -> None:
    """Estimate on the driver by samples, count on Spark, and run; a line of JSON each."""
    engine = SparkEngine(master="local[2]", workers=2, memory="2g")
    with engine.session() as session:
        for path in graphs:
            for name in ALGORITHMS:
                row: dict[str, float | str] = {
                    "graph": Path(path).name.split(".")[0],
                    "algorithm": name,
                }
                row |= _here(path, name) | _there(session.spark, path, name)
                with rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


def _here(path: str, name: str) -> dict[str, float]:
    """Return what samples on the driver say, and what the run does."""
    request = check_request(name, budget="none", seed=SEED)
    directed = False if request.algorithm.undirected else None
    graph = check_graph(path, directed=directed)
    started = time.perf_counter()
    estimate = estimates_of(graph, request.chain)[-1]
    seconds = time.perf_counter() - started
    table = workload_of(graph, request.algorithm, estimate).table
    run = LocalEngine(workers=1).run(request.algorithm, graph)
    done = run.features_total()
    return {
        "sampled_iterations": estimate.iterations,
        "sampled_messages": int((table["local_messages"] + table["remote_messages"]).sum()),
        "sampled_seconds": seconds,
        "iterations": run.iterations,
        "messages": done["local_messages"] + done["remote_messages"],
        "edges": graph.edges,
    }


def _there(spark: object, path: str, name: str) -> dict[str, float]:
    """Return what is counted on Spark."""
    algorithm = check_algorithm(name)
    directed = False if algorithm.undirected else None
    with packed_graph(spark, path, directed=directed, weights=False) as packed:
        return _counted(packed, algorithm)


def _counted(packed: Any, algorithm: Algorithm) -> dict[str, float]:
    """Count the supersteps of a run, and of those before it."""
    graph = cluster_graph(packed)
    values = None
    for part in filter(None, (algorithm.prior, algorithm)):
        started = time.perf_counter()
        twin = check_twin(part, packed)(part, graph, values)
        run = count_run(twin, packed, lambda curve: True, lambda number: None)
        seconds, values = time.perf_counter() - started, run.values
    return {
        "counted_iterations": len(run.curve),
        "counted_messages": int(run.counters["messages"].sum()),
        "packing_seconds": packed.seconds,
        "pass_seconds": seconds / len(run.curve),
    }


@dataclass
class PackedHere:
    """A graph in blocks in this process, that the code of the executors makes and looks at."""

    graph: Graph

    def __post_init__(self) -> None:
        graph = self.graph
        self.vertices, self.edges, self.directed = graph.vertices, graph.edges, graph.directed
        self.name = self.source = self.fingerprint = graph.name
        self.weighted, self.labels, self.seconds = False, None, 0.0
        sources = np.repeat(np.arange(graph.vertices), graph.out_degrees)
        ends = [pa.array(sources), pa.array(graph.indices.astype(np.int64))]
        listed = [pa.RecordBatch.from_arrays(ends, ["src", "dst"])]
        buckets = on_executors.bucketed(listed, SimpleNamespace(value=None), 8, False, False)
        self.blocks = list(on_executors.built(buckets, False))

    def passed(self, function: Any, shared: Any, kinds: Any, **_: Any) -> Iterator[Any]:
        sent = SimpleNamespace(value=shared)
        for answer in on_executors.looked_at(self.blocks, function, sent):
            places, values = (answer.column(k).to_pylist()[0] for k in (0, 1))
            yield np.frombuffer(places, kinds[0]), np.frombuffer(values, kinds[1])

    def in_degrees(self) -> Any:
        return self.graph.in_degrees.astype(np.int32)

    def out_degrees(self) -> Any:
        return self.graph.out_degrees.astype(np.int32)


def without_spark(graphs: list[str], rows: Path) -> None:
    """Do what :func:`count` does with the blocks in this process."""
    for path in graphs:
        for name in ALGORITHMS:
            algorithm = check_algorithm(name)
            graph = check_graph(path, directed=False if algorithm.undirected else None)
            short = Path(path).name.split(".")[0]
            row: dict[str, float | str] = {"graph": short, "algorithm": name}
            packed = PackedHere(graph)
            row |= _here(path, name) | _counted(packed, algorithm)
            with rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def passes(path: str, memory: str) -> None:
    """Time packing and counting, and measure what this process holds meanwhile."""
    engine = SparkEngine(master="local[2]", workers=2, memory=memory)
    algorithm = check_algorithm("pagerank")
    with engine.session() as session:
        before = _resident()
        with packed_graph(session.spark, path, directed=True) as packed:
            print(
                f"{packed.vertices:,} vertices, {packed.edges:,} edges: packed in "
                f"{packed.seconds:.1f} s",
                flush=True,
            )
            started = time.perf_counter()
            graph = cluster_graph(packed)
            print(f"degrees and a sample of edges in {time.perf_counter() - started:.1f} s")
            started = time.perf_counter()
            twin = check_twin(algorithm, packed)(algorithm, graph)
            run = count_run(twin, packed, lambda curve: True, lambda number: None)
            counting = time.perf_counter() - started
            print(f"{len(run.curve)} supersteps counted in {counting:.1f} s")
        grown = (_peak() - before) / 1e6
        print(f"driver: {before / 1e6:.0f} MB before, {grown:.0f} MB more at most")


def supersteps(path: str, memory: str, count: int) -> None:
    """Time supersteps of PageRank on edges whose ids are those of vertices already."""
    import pyarrow.parquet as pq

    engine = SparkEngine(master="local[2]", workers=2, memory=memory)
    algorithm = check_algorithm("pagerank", {"max_iterations": count})
    edges = pq.ParquetFile(path).metadata.num_rows
    vertices = 1 << math.ceil(math.log2(edges / 16))
    graph = SparkGraph("rmat", Path(path), vertices, edges, True, False, path, "none")
    with engine.session() as session:
        profile = engine._run_stored(
            session, algorithm, graph, Path(path), 0.0, 0.0, count, None, None
        )
    print(f"{edges:,} edges: seconds of supersteps {np.round(profile.iteration_seconds, 1)}")
    print({name: round(seconds, 1) for name, seconds in profile.phases.items()})


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def continued(graphs: list[str]) -> None:
    """Cut convergence curves off after 10 and 15 supersteps, and continue them."""
    errors: dict[str, list[float]] = {}
    for path in graphs:
        for name, parameters in (*((each, {}) for each in ALGORITHMS), ("pagerank", TIGHT)):
            algorithm = check_algorithm(name, parameters)
            graph = check_graph(path, directed=False if algorithm.undirected else None)
            curve = LocalEngine(workers=1).run(algorithm, graph).convergence.tolist()
            for done in (10, 15):
                if len(curve) > done + 1:
                    found = on_cluster._continued(curve[:done], algorithm.threshold(graph.vertices))
                    whole = math.ceil(min(found, algorithm.max_iterations))
                    errors.setdefault(name, []).append(abs(math.log(whole / len(curve))))
    for name, logs in errors.items():
        print(f"| {name} | {len(logs)} | {np.median(logs):.2f} | {max(logs):.2f} |")


TIGHT = {"epsilon": 1e-6}


def rmat(scale: int, path: str, edge_factor: int = 16) -> None:
    """Write the edges of an R-MAT graph in blocks, so that it never is in memory."""
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED)
    left = edge_factor << scale
    schema = pa.schema([("src", pa.int64()), ("dst", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="snappy") as file:
        while left > 0:
            size = min(left, 1 << 21)
            ends = np.zeros((2, size), np.int64)
            for _ in range(scale):  # quadrants of 0.57, 0.19, 0.19 and 0.05, as the generator has
                drawn = rng.random(size)
                right = (drawn >= 0.57) & (drawn < 0.76) | (drawn >= 0.95)
                ends = 2 * ends + [drawn >= 0.76, right]
            file.write_table(pa.table({"src": ends[0], "dst": ends[1]}, schema=schema))
            left -= size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    counting = commands.add_parser("count")
    counting.add_argument("graphs", nargs="+")
    counting.add_argument("--rows", type=Path, required=True)
    counting.add_argument("--without-spark", action="store_true", help="blocks in this process")
    for name in ("passes", "supersteps"):
        timing = commands.add_parser(name)
        timing.add_argument("path")
        timing.add_argument("--memory", default="4g")
        timing.add_argument("--count", type=int, default=3)
    cut = commands.add_parser("continued")
    cut.add_argument("graphs", nargs="+")
    making = commands.add_parser("rmat")
    making.add_argument("scale", type=int)
    making.add_argument("path")
    asked = parser.parse_args()
    if asked.command == "count":
        (without_spark if asked.without_spark else count)(asked.graphs, asked.rows)
    elif asked.command == "passes":
        passes(asked.path, asked.memory)
    elif asked.command == "supersteps":
        supersteps(asked.path, asked.memory, asked.count)
    elif asked.command == "continued":
        continued(asked.graphs)
    else:
        rmat(asked.scale, asked.path)


if __name__ == "__main__":
    main()
