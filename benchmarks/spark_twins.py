"""Are the twins of GraphX's and GraphFrames' algorithms right, and how well are runs predicted?

``check`` runs every algorithm on ten small graphs and compares, superstep by superstep, the records
that were sent with those that the twin counted: of GraphFrames where a jar of it is found (with
Spark 3.5: ``make spark35``), else of GraphX. ``predict`` opens a session on a standalone
cluster of processes on this machine, as a person would, predicts a run in it, runs it, and
compares. Both keep what they found in a folder, of which ``write`` makes the page.

    python -m benchmarks.spark_twins check --keep DIR
    PREDICT_GRAPH_DATA=… python -m benchmarks.spark_twins predict --keep DIR \
        graphx:labelPropagation,maxSteps=5,soc-Epinions1 graphx:connectedComponents,soc-Epinions1
    python -m benchmarks.spark_twins write --keep DIR --out docs/studies/spark-twins.md
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from benchmarks.spark_cluster import spark_cluster
from predict_graph.builtin.libraries import library_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.engines.spark.session.graphframes import graphframes_conf, graphframes_jars
from predict_graph.graph import check_graph

GRAPHS = (
    ("rmat:scale=8,edge_factor=4,seed=3", True),
    ("rmat:scale=8,edge_factor=4,seed=3", False),
    ("rmat:scale=10,edge_factor=8,seed=5", True),
    ("barabasi-albert:n=600,m=3,seed=1", False),
    ("erdos-renyi:n=500,p=0.01,seed=2", True),
    ("watts-strogatz:n=400,k=6,p=0.1,seed=4", False),
    ("path:n=12", True),
    ("star:n=40", False),
    ("cycle:n=30", True),
    ("powerlaw-cluster:n=300,m=4,p=0.5,seed=6", False),
)
CASES: tuple[tuple[str, dict[str, str]], ...] = (
    ("graphx:pageRank", {"tol": "0.01"}),
    ("graphx:pageRank", {"numIter": "3"}),
    ("graphx:connectedComponents", {}),
    ("graphx:labelPropagation", {"maxSteps": "4"}),
    ("graphx:shortestPaths", {"landmarks": "1,5"}),
    ("graphx:personalizedPageRank", {"srcId": "1", "tol": "0.01"}),
    ("graphx:personalizedPageRank", {"srcId": "1", "numIter": "3"}),
    ("graphx:stronglyConnectedComponents", {"numIter": "4"}),
    ("graphx:triangleCount", {}),
)
FRAMES: tuple[tuple[str, dict[str, str]], ...] = (
    ("graphframes:connectedComponents", {}),
    ("graphframes:connectedComponents", {"algorithm": "graphx"}),
    ("graphframes:pageRank", {"tol": "0.01"}),
    ("graphframes:pageRank", {"maxIter": "3"}),
    ("graphframes:pageRank", {"tol": "0.01", "sourceId": "1"}),
    ("graphframes:labelPropagation", {"maxIter": "4"}),
    ("graphframes:shortestPaths", {"landmarks": "1,5"}),
    ("graphframes:stronglyConnectedComponents", {"maxIter": "4"}),
)
PARTITIONS = 2
_NO_RUNS = ("## Predicted, then run", "", "Not measured yet.")


def check(keep: Path) -> None:
    """Compare each algorithm with its twin on each graph."""
    # Runs are short: to optimise what Java compiles would take longer than they do.
    conf = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    engine = SparkEngine(master=f"local[{PARTITIONS}]", workers=PARTITIONS, conf=conf)
    rows = []
    cases, library = (FRAMES, "graphframes") if graphframes_jars() else (CASES, "graphx")
    with engine.session():
        for source, directed in GRAPHS:
            graph = check_graph(source, directed=directed)
            for name, parameters in cases:
                job = library_algorithm(name, parameters)
                rounds = rounds_of(job, graph, PARTITIONS)
                profile = engine.run(job, graph)
                found = list(profile.result["combined_records"])
                row = {
                    "graph": f"{source}{'' if directed else ' (both ways)'}",
                    "algorithm": _named(name, parameters),
                    "supersteps": profile.iterations,
                    "records": int(sum(found)),
                    "equal": found == rounds["records"].tolist(),
                }
                rows.append(row)
                print(row, flush=True)
    (keep / f"check-{library}.json").write_text(json.dumps(rows))


def predict(
    keep: Path, cases: list[str], workers: int, seed: int, master: str | None, cpu: float | None
) -> None:
    """Predict runs in an open session, run each, and keep the comparison."""
    from pyspark.sql import SparkSession

    with ExitStack() as stack:
        if master is None:
            master = stack.enter_context(spark_cluster(workers, memory="1500m", cpu=cpu)).master
        builder: Any = SparkSession.builder.master(master)
        for name, value in graphframes_conf(None).items():
            builder = builder.config(name, value)
        spark = (
            builder.config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.executor.memory", "1300m")
            .config("spark.log.level", "ERROR")
            .config("spark.shuffle.reduceLocality.enabled", "false")
            .getOrCreate()
        )
        try:
            while not master.startswith("local") and len(_executors(spark)) < workers:
                time.sleep(0.2)
            for case in cases:
                name, *given, source = case.split(",")
                parameters = dict(each.split("=", 1) for each in given)
                _predict(keep, spark, name, parameters, source, workers, seed, cpu)
        finally:
            spark.stop()


def _predict(
    keep: Path,
    spark: Any,
    name: str,
    parameters: dict[str, str],
    source: str,
    workers: int,
    seed: int,
    cpu: float | None,
) -> None:
    """Predict a run, run it, and keep the comparison."""
    options: dict[str, Any] = {
        "parameters": parameters,
        "engine": "spark",
        "spark": spark,
        "history": "none",
    }
    print(f"predicting {name} on {source}", flush=True)
    started = time.perf_counter()
    prediction = predict_graph.predict(name, source, seed=seed, budget="none", **options)
    overhead = time.perf_counter() - started
    actual = predict_graph.run(name, source, **options)
    names = ["local_message_bytes", "remote_message_bytes"]
    sent = actual.table[names].to_numpy().sum()
    told = sum(prediction.to_dict()["features_total"][name] for name in names)
    seconds = float(sum(actual.phases.values()))
    row = {
        "algorithm": _named(name, parameters),
        "graph": source,
        "workers": actual.engine["workers"],
        "master": actual.engine["master"],
        "cpu": cpu,
        "supersteps": actual.iterations,
        "predicted_supersteps": prediction.iterations.predicted,
        "seconds": seconds,
        "predicted": prediction.runtime_seconds.predicted,
        "low": prediction.runtime_seconds.low,
        "high": prediction.runtime_seconds.high,
        "phases": actual.phases,
        "predicted_phases": prediction.phases,
        "bytes": int(sent),
        "predicted_bytes": int(told),
        "overhead": overhead,
        "each": actual.iteration_seconds.tolist(),
        "predicted_each": [row["seconds"] for row in prediction.to_dict()["per_iteration"]],
    }
    print(json.dumps(row, indent=1), flush=True)
    label = "-".join([row["algorithm"], Path(source).name, str(workers), str(seed)])
    safe = "".join(each if each.isalnum() or each in "-=." else "_" for each in label)
    (keep / f"predict-{safe}.json").write_text(json.dumps(row))


def write(keep: Path, out: Path, note: str = "") -> None:
    """Write the page from what was kept."""
    files = sorted(keep.glob("check-*.json"), reverse=True)  # GraphX first
    checked = [row for file in files for row in json.loads(file.read_text())]
    runs = [json.loads(file.read_text()) for file in sorted(keep.glob("predict-*.json"))]
    lines = [
        "# Twins of GraphX's and GraphFrames' algorithms",
        "",
        "    python -m benchmarks.spark_twins check|predict|write",
        "",
        "## The same, superstep by superstep?",
        "",
        "Records that the partitions sent in each superstep, as Spark counted them, against those "
        "that the twin counted; GraphX with Spark 4.1, GraphFrames 0.8.2 with Spark 3.5:",
        f"equal in {sum(row['equal'] for row in checked)} of {len(checked)} runs, on "
        f"{len({row['graph'] for row in checked})} graphs.",
        "",
        "| graph | algorithm | supersteps | records | equal |",
        "|---|---|---|---|---|",
        *(
            f"| {row['graph']} | {row['algorithm']} | {row['supersteps']} | {row['records']} "
            f"| {'yes' if row['equal'] else 'no'} |"
            for row in checked
        ),
    ]
    lines += ["", *(_runs_page(runs, note) if runs else _NO_RUNS)]
    out.write_text("\n".join(lines) + "\n")


def _runs_page(runs: list[dict[str, Any]], note: str) -> list[str]:
    """Return the part about predictions."""
    errors = np.array([run["predicted"] / run["seconds"] - 1.0 for run in runs])
    volumes = np.array([run["predicted_bytes"] / max(run["bytes"], 1) - 1.0 for run in runs])
    capped = np.array([bool(run.get("cpu")) for run in runs])
    return [
        "## Predicted, then run",
        "",
        "In a session that was open before; the prediction made sample runs there, of the graph "
        "that is predicted, and the run came next. One run each; errors are predicted/actual - 1.",
        "",
        "| algorithm | graph | workers | supersteps | runtime | error | in 90% interval "
        "| bytes | overhead |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {run['algorithm']} | {run['graph']} | {run['workers']} ({_where(run)}) "
            f"| {run['supersteps']} "
            f"| {run['seconds']:.1f} s | {error:+.1%} "
            f"| {'yes' if run['low'] <= run['seconds'] <= run['high'] else 'no'} "
            f"| {volume:+.1%} | {run['overhead'] / run['seconds']:.1f} |"
            for run, error, volume in zip(runs, errors, volumes, strict=True)
        ),
        "",
        "The bars are 12% (median) and 30% (worst) for the runtime, 10% and 30% for bytes.",
        *(
            f"{name}: runtime median {np.median(np.abs(errors[some])):.1%}, worst "
            f"{np.max(np.abs(errors[some])):.1%}; bytes exchanged median "
            f"{np.median(np.abs(volumes[some])):.1%}, worst {np.max(np.abs(volumes[some])):.1%}."
            for name, some in (("In one process", ~capped), ("On capped workers", capped))
            if some.any()
        ),
        *([note] if note else []),
    ]


def _where(run: dict[str, Any]) -> str:
    """Return what the workers of a run were."""
    return f"{run['cpu']} cores each" if run.get("cpu") else str(run["master"]).partition(":")[0]


def _named(name: str, parameters: dict[str, str]) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def _executors(spark: Any) -> list[int]:
    listed = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return [n for n in range(listed.size()) if listed.apply(n).id() != "driver"]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("check", "predict", "write"))
    parser.add_argument("cases", nargs="*", metavar="NAME,KEY=VALUE,GRAPH")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--master", help="instead of a cluster of its own")
    parser.add_argument("--cpu", type=float, help="share of a core that each worker gets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--note", default="", help="to be written below the predictions")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_intermixed_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    if asked.what == "check":
        check(asked.keep)
    elif asked.what == "predict":
        predict(asked.keep, asked.cases, asked.workers, asked.seed, asked.master, asked.cpu)
    else:
        write(asked.keep, asked.out, asked.note)


if __name__ == "__main__":
    main()
