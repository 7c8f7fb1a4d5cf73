"""How well are runs on a Spark cluster predicted, at machine counts that were not trained on?

A standalone cluster of processes on this machine, each worker with a share of a core. For each
algorithm and graph: sample runs on few machines, the prediction for each machine count, then the
real runs, then the comparison.

    PREDICT_GRAPH_DATA=… python -m benchmarks.spark_accuracy --out docs/studies/spark.md
"""

from __future__ import annotations

import argparse
import pickle
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quiet import touch_free_memory
from benchmarks.spark_cluster import CannotCapError, SparkCluster, spark_cluster
from predict_graph.algorithms import check_algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError
from predict_graph.graph import Graph, check_graph
from predict_graph.history import History
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction import Comparison, Prediction
from predict_graph.prediction.outcome import assembled
from predict_graph.prediction.request import Request, check_request, direction
from predict_graph.prediction.road import estimates_of
from predict_graph.prediction.seconds.cluster.costing import priced
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
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


def cases(given: argparse.Namespace, cluster: SparkCluster) -> list[dict[str, Any]]:
    """Predict and run each job; a job that fails is in the table as such."""
    rows = []
    for graph_name in given.graphs:
        for name in given.algorithms:
            try:
                rows += job(name, graph_name, given, cluster)
            except JobError as error:
                print(f"{name} on {graph_name} failed: {error}", flush=True)
    return rows


def job(
    name: str, graph_name: str, given: argparse.Namespace, cluster: SparkCluster
) -> list[dict[str, Any]]:
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
    if given.lesson:
        learned = learned_elsewhere(given.lesson, graph, request, engine)
    else:
        learned = learn(graph, request, engine, estimates, None)
        seconds += time.perf_counter() - started - sum(getattr(engine, "warming", ()))
    print(f"{name} on {graph_name}: learned in {seconds:.0f} s", flush=True)
    predictions = {
        m: predicted(graph, request, estimates, learned, engine.on(m), seconds)
        for m in given.machines
    }
    rows = []
    real: dict[int, RunProfile] = {}  # of each machine count the run of median length
    for machines in given.machines:
        runs = [real_run(name, graph, engine.on(machines)) for _ in range(given.runs)]
        middle = sorted(runs, key=lambda run: run.runtime_seconds)[len(runs) // 2]
        real[machines] = middle
        comparison = Comparison(predictions[machines], middle)
        rows.append(row(comparison, machines, runs, machines in given.train_machines))
        print(rows[-1], flush=True)
    if given.keep:
        kept = {"samples": learned.runs, "seconds": seconds, "runs": real, "rows": rows}
        name = f"{name}-{re.sub(r'[^a-zA-Z0-9]+', '-', graph_name)}-{given.seed}.pickle"
        given.keep.mkdir(parents=True, exist_ok=True)
        (given.keep / name).write_bytes(pickle.dumps(kept))
    return rows


def learned_elsewhere(lesson: str, graph: Graph, request: Request, engine: SparkEngine) -> Learned:
    """Sample runs of another graph, as a prediction takes lessons; not in the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "history.sqlite")
        other = check_graph(lesson, directed=direction(request.algorithm, None))
        learn(other, request, engine, estimates_of(other, request.chain), history)
        return learn(graph, request, engine, [], history, fresh=False)


def learn(
    graph: Graph,
    request: Request,
    engine: SparkEngine,
    estimates: list[IterationEstimate],
    history: History | None,
    *,
    fresh: bool = True,
) -> Learned:
    """Sample runs on the cluster, as large as the estimated run allows."""
    algorithms = [part.algorithm for part in request.chain]
    workloads = [
        workload_of(graph, algorithm, estimate)
        for algorithm, estimate in zip(algorithms, estimates, strict=False)
    ]
    means = replace(request.means(history, graph.edges), fresh_samples=fresh)
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


def real_run(name: str, graph: Graph, engine: SparkEngine) -> RunProfile:
    return engine.run(check_algorithm(name), graph.fresh())


def row(
    comparison: Comparison, machines: int, runs: list[RunProfile], trained: bool
) -> dict[str, Any]:
    prediction, errors = comparison.prediction, comparison.errors()
    seconds = [run.runtime_seconds for run in runs]
    return {
        "algorithm": prediction.algorithm["name"],
        "graph": prediction.graph["name"],
        "edges": prediction.graph["edges"],
        "machines": machines,
        "trained": "yes" if trained else "no",
        "iterations": comparison.actual.iterations,
        "iterations error": errors["iterations"],
        "remote bytes": comparison.actual.features_total()["remote_message_bytes"],
        "bytes error": errors["features_total"]["remote_message_bytes"],
        "messages error": errors["features_total"]["remote_messages"],
        "superstep, s": comparison.actual.phases["superstep"] / comparison.actual.iterations,
        "superstep error": errors["superstep_seconds"],
        "runtime, s": comparison.actual.runtime_seconds,
        "runtime error": errors["runtime_seconds"],
        "spread": max(seconds) / min(seconds) - 1.0,
        "inside": "yes" if comparison.inside()["runtime_seconds"] else "no",
        "overhead": prediction.overhead_seconds / comparison.actual.runtime_seconds,
    }


def summary(table: pd.DataFrame) -> list[str]:
    lines = [
        "| error of | cases | median | 90th percentile | worst | mean (signed) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    new = table[table["trained"] == "no"]
    for part, title in ((new, "machine counts not trained on"), (table, "all")):
        for column in ("iterations", "bytes", "messages", "superstep", "runtime"):
            errors = part[f"{column} error"].dropna().to_numpy(dtype=float)
            if len(errors) == 0:
                continue
            sizes = np.abs(errors)
            lines.append(
                f"| {column}, {title} | {len(errors)} | {np.median(sizes):.1%} | "
                f"{np.quantile(sizes, 0.9):.1%} | {sizes.max():.1%} | {errors.mean():+.1%} |"
            )
    inside = (table["inside"] == "yes").mean()
    return [*lines, "", f"90% intervals of the runtime hold {inside:.0%} of {len(table)} runs.", ""]


def written(table: pd.DataFrame) -> list[str]:
    columns = list(table.columns)
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for _, found in table.iterrows():
        cells = []
        for name in columns:
            value = found[name]
            if isinstance(value, float) and ("error" in name or name in ("spread", "overhead")):
                cells.append("" if np.isnan(value) else f"{value:+.1%}")
            elif isinstance(value, float):
                cells.append(f"{value:.3g}")
            else:
                cells.append(f"{value:,}" if isinstance(value, int) else str(value))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def draw(table: pd.DataFrame, target: Path) -> None:
    """Draw predicted against real seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = plt.subplots(figsize=(6, 5))
    for algorithm, part in table.groupby("algorithm"):
        real = part["runtime, s"]
        axes.scatter(real, real * (1 + part["runtime error"]), label=algorithm, s=24)
    ends = [table["runtime, s"].min() * 0.8, table["runtime, s"].max() * 1.25]
    axes.plot(ends, ends, color="gray", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="real, s", ylabel="predicted, s")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.set_title("Runtime on Spark")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, dpi=120)


def kept_in(folder: Path) -> list[dict[str, Any]]:
    """Return what `--keep` kept in a folder, a job after the other: see :func:`job`."""
    files = sorted(folder.glob("*.pickle"))
    if not files:
        raise SystemExit(f"error: {folder} has no runs that spark_accuracy --keep kept")
    return [pickle.loads(file.read_bytes()) for file in files]


def report(table: pd.DataFrame, about: list[str], target: Path | None) -> None:
    """Print the table, and write it with its picture."""
    lines = ["# Runs on a Spark cluster", "", *about, *summary(table), *written(table)]
    print("\n".join(lines))
    if target:
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draw(table, target.with_suffix(".png"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--machines", nargs="*", type=int, default=[1, 2, 4, 6])
    parser.add_argument("--train-machines", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--lesson", metavar="GRAPH", help="take sample runs of this graph instead")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--cpu", type=float, default=0.25, help="share of a core of a worker")
    parser.add_argument(
        "--cold", action="store_true", help="cap workers from their start, Java's own included"
    )
    parser.add_argument("--keep", type=Path, help="keep sample runs and real runs in this folder")
    parser.add_argument("--kept", type=Path, help="run nothing; show what is in this folder")
    parser.add_argument("--memory", default="1g")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.kept:
        rows = [row for kept in kept_in(given.kept) for row in kept["rows"]]
        report(pd.DataFrame(rows), [], given.out)
        return
    started = time.perf_counter()
    try:
        with spark_cluster(max(given.machines), memory="1200m", cpu=given.cpu) as cluster:
            rows = cases(given, cluster)
    except CannotCapError as error:
        raise SystemExit(f"error: {error}") from None
    table = pd.DataFrame(rows)
    command = (
        f"    python -m benchmarks.spark_accuracy --machines {' '.join(map(str, given.machines))} "
        f"--train-machines {' '.join(map(str, given.train_machines))} --runs {given.runs} "
        f"--cpu {given.cpu} --seed {given.seed}"
        + (f" --lesson {given.lesson}" if given.lesson else "")
    )
    about = [
        "A standalone cluster of processes on one machine; each worker has a loopback address and "
        f"{given.cpu} of a core of its own"
        + ("" if given.cold else ", once its Java has started and warmed up")
        + f". Sample runs on {given.train_machines} machines, then "
        "the prediction for every machine count, then the real runs. The truth is the median of "
        f"{given.runs} runs; spread is the slowest over the fastest, less one. Overhead is what "
        "learning took over the real run, warming up left out; one lesson serves all counts.",
        "",
        command,
        "",
        f"The study took {(time.perf_counter() - started) / 60:.0f} minutes.",
        "",
    ]
    report(table, about, given.out)


if __name__ == "__main__":
    main()
