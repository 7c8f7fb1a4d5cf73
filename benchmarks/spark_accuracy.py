"""How well are runs on a Spark cluster predicted, at machine counts that were not trained on?

A standalone cluster of processes on this machine, each worker with a share of a core. For each
algorithm and graph: sample runs on few machines, the prediction for each machine count, then the
real runs, then the comparison.

    PREDICT_GRAPH_DATA=… python -m benchmarks.spark_accuracy --keep FILE --out docs/studies/spark.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common import Row, keep, kept, spread, table, write
from benchmarks.quiet import touch_free_memory
from benchmarks.spark_cluster import CannotCapError, SparkCluster, spark_cluster
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError
from predict_graph.graph import Graph, check_graph
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction import Comparison, Prediction
from predict_graph.prediction.outcome import assembled
from predict_graph.prediction.pipeline import estimates_of
from predict_graph.prediction.request import Request, check_request, direction
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.seconds.cluster.runtime_model import priced
from predict_graph.prediction.work import workload_of

ALGORITHMS = (
    "pagerank",
    "connected-components",
    "topk-ranking",
    "neighborhood",
    "semi-clustering",
    "label-propagation",
)
_WORKER_BYTES = 1200 << 20
WARM_UP = "rmat:scale=15,edge_factor=8,seed=9"
GRAPHS = ("web-NotreDame", "rmat:scale=17,edge_factor=16,seed=1")


class WarmEngine(SparkEngine):
    """A Spark engine whose sessions open and warm up without a cap on the processors.

    Starting and compiling Java on a quarter of a core takes longer than all that is measured here,
    and no cluster has such machines. Runs of the same algorithm on a small graph precede the first
    one of each session; they are no part of any measured time. Nor is making memory ready: touching
    5 GB takes 0.8 s, and 11 s when this virtual machine has handed them back to its host.
    """

    def __init__(self, cluster: SparkCluster, algorithm: str, **options: Any) -> None:
        super().__init__(master=cluster.master, **options)
        self._cluster = cluster
        self._algorithm = algorithm
        self.warming: list[float] = []  # seconds; those of copies for other counts too

    @contextmanager
    def session(self) -> Iterator[Any]:
        """Open a session, warm it up, and cap the processors."""
        if self._session is not None:
            yield self._session
            return
        self._cluster.uncap()
        started = time.perf_counter()
        touch_free_memory((1 + self.workers) * _WORKER_BYTES)
        self.warming.append(time.perf_counter() - started)
        with super().session() as session:
            algorithm = check_algorithm(self._algorithm)
            small = check_graph(WARM_UP, directed=direction(algorithm, None))
            started = time.perf_counter()
            for _ in range(2):
                SparkEngine.run(self, algorithm, small, max_iterations=10)
            self.warming.append(time.perf_counter() - started)
            self._cluster.cap()
            yield session


def cases(given: argparse.Namespace, cluster: SparkCluster) -> list[Row]:
    """Predict and run each job; a job that fails is in the table as such."""
    rows = []
    for graph_name in given.graphs:
        for name in given.algorithms:
            try:
                rows += job(name, graph_name, given, cluster)
            except JobError as error:
                print(f"{name} on {graph_name} failed: {error}", flush=True)
    return rows


def job(name: str, graph_name: str, given: argparse.Namespace, cluster: SparkCluster) -> list[Row]:
    # An executor has one core; Java would otherwise count those of the whole machine. Its memory is
    # touched at the start: a virtual machine may get it slowly from its host (benchmarks/quiet.py).
    java = f"-XX:ActiveProcessorCount=1 -Xms{given.memory} -XX:+AlwaysPreTouch"
    conf = {"spark.executor.extraJavaOptions": java}
    options = {"workers": max(given.machines), "memory": given.memory, "conf": conf}
    engine = (
        SparkEngine(master=cluster.master, **options)
        if given.cold
        else WarmEngine(cluster, name, **options)
    )
    request = check_request(
        name, engine=engine, seed=given.seed, train_machines=given.train_machines
    )
    graph = check_graph(graph_name, directed=direction(request.algorithm, None))
    started = time.perf_counter()
    estimates = estimates_of(graph, request.chain)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    learned = learn(graph, request, engine, estimates)
    seconds += time.perf_counter() - started - sum(getattr(engine, "warming", ()))
    print(f"{name} on {graph_name}: learned in {seconds:.0f} s", flush=True)
    predictions = {
        m: predicted(graph, request, estimates, learned, engine.on(m), seconds)
        for m in given.machines
    }
    rows = []
    real = {}
    for machines in given.machines:
        algorithm = check_algorithm(name)
        real[machines] = engine.on(machines).run(algorithm, graph.fresh())
        comparison = Comparison(predictions[machines], real[machines])
        rows.append(row(comparison, machines, machines in given.train_machines))
        print(rows[-1], flush=True)
    return rows


def learn(
    graph: Graph,
    request: Request,
    engine: SparkEngine,
    estimates: list[IterationEstimate],
) -> Learned:
    """Sample runs on the cluster, as large as the estimated run allows."""
    algorithms = [part.algorithm for part in request.chain]
    workloads = [
        workload_of(graph, algorithm, estimate)
        for algorithm, estimate in zip(algorithms, estimates, strict=False)
    ]
    means = replace(request.means(None, graph.edges), fresh_samples=True)
    return learn_on_cluster(graph, engine, algorithms, means, workloads)


def predicted(
    graph: Graph,
    request: Request,
    estimates: list[IterationEstimate],
    learned: Learned,
    engine: SparkEngine,
    seconds: float,
) -> Prediction:
    """The stages from work on, for the machines of an engine; `seconds` is what learning took."""
    chain = [replace(part, engine=engine) for part in request.chain]
    workloads = [
        workload_of(graph, part.algorithm, estimate)
        for part, estimate in zip(chain, estimates, strict=True)
    ]
    prices = priced(learned, graph, engine, workloads)
    return assembled(graph, chain, estimates, workloads, prices, seconds)


def row(comparison: Comparison, machines: int, trained: bool) -> Row:
    prediction, errors = comparison.prediction, comparison.errors()
    return {
        "algorithm": prediction.algorithm["name"],
        "graph": prediction.graph["name"],
        "machines": machines,
        "trained": trained,
        "iterations": comparison.actual.iterations,
        "iterations error": errors["iterations"],
        "bytes error": errors["features_total"]["remote_message_bytes"],
        "runtime, s": comparison.actual.runtime_seconds,
        "runtime error": errors["runtime_seconds"],
        "inside": comparison.inside()["runtime_seconds"],
        "overhead": prediction.overhead_seconds / comparison.actual.runtime_seconds,
    }


def page(rows: list[Row]) -> list[str]:
    """Return the tables: machine counts that nothing was trained on."""
    new = [row for row in rows if not row["trained"]]
    errors = {
        what: [row[f"{what} error"] for row in new if row[f"{what} error"] is not None]
        for what in ("iterations", "bytes", "runtime")
    }
    inside = sum(row["inside"] for row in new)
    return [
        *table(
            ["error of", "runs", "median", "90%", "worst"],
            [[what, str(len(each)), *spread(each)] for what, each in errors.items()],
        ),
        "",
        f"The 90% intervals of the runtime hold {inside} of {len(new)} runs.",
        "",
        *table(
            [
                *("algorithm", "graph", "machines", "iterations", "error", "remote bytes: error"),
                *("runtime, s", "error", "in 90% interval", "overhead / run"),
            ],
            [
                [
                    *(row["algorithm"], row["graph"], str(row["machines"])),
                    *(str(row["iterations"]), f"{row['iterations error']:+.1%}"),
                    "–" if row["bytes error"] is None else f"{row['bytes error']:+.1%}",
                    *(f"{row['runtime, s']:.0f}", f"{row['runtime error']:+.1%}"),
                    *("yes" if row["inside"] else "no", f"{row['overhead']:.1f}"),
                ]
                for row in new
            ],
            text_columns=2,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="page whose section `runs` is written")
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--machines", nargs="*", type=int, default=[4, 6])
    parser.add_argument("--train-machines", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--cpu", type=float, default=0.25, help="share of a core of a worker")
    parser.add_argument(
        "--cold", action="store_true", help="cap workers from their start, Java's own included"
    )
    parser.add_argument("--keep", type=Path, required=True, help="file to which rows are added")
    parser.add_argument("--memory", default="1g")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.algorithms:
        try:
            with spark_cluster(max(given.machines), memory="1200m", cpu=given.cpu) as cluster:
                keep(given.keep, *cases(given, cluster))
        except CannotCapError as error:
            raise SystemExit(f"error: {error}") from None
    write(given.out, page(kept(given.keep)), "runs")


if __name__ == "__main__":
    main()
