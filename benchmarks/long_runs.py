"""How accurate are predictions of runs of minutes on Spark, within the default budget?

A standalone cluster on this machine whose workers have a share of a core each from their start;
nothing is warmed up, and each case is predicted with the default budget from a history that holds
the cases before it and nothing else. Then it is run, with the clock that runs along, and compared.

    python -m benchmarks.long_runs run --keep DIR --cpu 0.2 --case 'pagerank web-NotreDame 2'
    python -m benchmarks.long_runs report --keep DIR --out docs/studies/long-runs.md

With ``--learn 15m``, what `learn` learns in that time, of ``--algorithms`` or all, is in the
history before the first case.

A case is an algorithm, a graph, a machine count, and parameters such as ``epsilon=1e-6``;
``memory=700m`` among them is that of an executor. Cases are
kept as they end, so that the same command goes on; one that is named twice is run twice.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from benchmarks.common import Row, keep, kept, study_parser, table, write
from benchmarks.remaining import PARTS, error_at
from benchmarks.spark_cluster import spark_cluster
from predict_graph.algorithms import ALGORITHMS
from predict_graph.clock.moment import Moment
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.outcome import Comparison
from predict_graph.prediction.learn import learn
from predict_graph.prediction.request import check_function
from predict_graph.texts import named_values


def learned(engine: SparkEngine, budget: str, names: list[str] | None, history: Path) -> Row:
    """Learn what the cluster charges, as `predict-graph learn` does, and say what was learned."""
    row: Row = {"machines": engine.workers, "budget": budget}
    for kind in (True, False):  # sessions of Spark's libraries have other options
        if own := [name for name in names or ALGORITHMS if name.startswith("graph") == kind]:
            given: Any = {"budget": budget, "history": str(history), "seed": 1, "progress": _told}
            found = learn(engine, algorithms=own, **given)
            print(found, flush=True)
            row |= found.to_dict()
    return row


def measured(text: str, cluster: Any, cpu: float, memory: str, history: Path) -> Row:
    """Predict a case, run it, compare."""
    algorithm, graph, machines, *given = text.split()
    parameters = named_values(given, "the parameter", "NAME=VALUE")
    memory = parameters.pop("memory", memory)
    undirected = check_function(algorithm).undirected
    whole = check_graph(graph, directed=False if undirected else None)
    options: Row = {
        "parameters": parameters,
        "engine": SparkEngine(cluster.master, int(machines), memory=memory),
        "history": str(history),
    }
    found = predict_graph.predict(algorithm, whole, **options, seed=1, progress=_told)
    print(found, flush=True)
    moments: list[Moment] = []
    profile = predict_graph.run(
        algorithm, whole.fresh(), **options, progress=moments.append, expect=found
    )
    elapsed = moments[-1].elapsed
    compared = Comparison(found, profile)
    runtime = found.runtime_seconds
    return {
        "case": text,
        "algorithm": algorithm,
        "graph": whole.name,
        "edges": whole.edges,
        "machines": int(machines),
        "cpu": cpu,
        "memory": memory,
        "predicted": [runtime.predicted, runtime.low, runtime.high],
        "seconds": profile.runtime_seconds,
        "iterations": [found.iterations.predicted, profile.iterations],
        "errors": compared.errors(),
        "inside": compared.inside(),
        "clock": [error_at(moments, elapsed, part) for part in PARTS],
        "prediction": found.to_dict(),
    }


def _told(words: str, _: float) -> None:
    print(time.strftime("%H:%M:%S"), words, flush=True)


def report(studies: list[list[Row]]) -> Iterator[str]:
    """Yield the tables of one or more clusters."""
    head = ["algorithm", "graph", "edges", "machines", "iterations", "error", "remote bytes"]
    head += ["runtime, s", "predicted, s", "90% interval", "error", "cost / run"]
    for rows in studies:
        cpu, training = rows[0]["cpu"], rows[0].get("learned")
        yield f"## Workers with {cpu:g} of a core" if cpu else "## Workers without a quota"
        yield from ("", *table(head, map(_cells, rows), text_columns=2), "")
        yield from (*table(["", "runs", "median", "worst", "in interval"], _errors(rows)), "")
        if training:
            runs = training["training_runs"].items()
            names = ", ".join(f"{name} ({len(of)})" for name, of in runs)
            yield f"First `learn --machines {training['machines']} --budget {training['budget']}`, "
            yield f"{training['seconds']:.0f} s: {training['runs']} sample runs of {names}, on as"
            yield from ("many graphs.", "")


def _cells(row: Row) -> list[str]:
    errors, (middle, low, high) = row["errors"], row["predicted"]
    remote = errors["features_total"]["remote_message_bytes"]
    return [
        *(row["algorithm"], row["graph"], f"{row['edges'] / 1e6:.1f}M", str(row["machines"])),
        *(str(row["iterations"][1]), f"{errors['iterations']:+.0%}"),
        "–" if remote is None else f"{remote:+.1%}",
        *(f"{row['seconds']:.0f}", f"{middle:.0f}", f"{low:.0f}–{high:.0f}"),
        f"{errors['runtime_seconds']:+.1%}",
        f"{row['prediction']['overhead']['seconds'] / row['seconds']:.1%}",
    ]


def _errors(rows: list[Row]) -> Iterator[list[str]]:
    """Yield the rows of the summary: runtimes, and the remaining time at parts of the runs."""
    errors = np.abs([row["errors"]["runtime_seconds"] for row in rows])
    inside = sum(row["inside"]["runtime_seconds"] for row in rows)
    sizes = [f"{np.median(errors):.1%}", f"{errors.max():.1%}"]
    yield ["runtime", str(len(rows)), *sizes, f"{inside} of {len(rows)}"]
    for number, part in enumerate(PARTS):
        clock = [abs(row["clock"][number]) for row in rows if row["clock"][number] is not None]
        if clock:
            sizes = [f"{np.median(clock):.1%}", f"{max(clock):.1%}"]
            yield [f"remaining time at {part:.0%}", str(len(clock)), *sizes, ""]


def main() -> None:
    """Run cases, or write the study."""
    parser = study_parser(__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--keep", type=Path, nargs="+", required=True)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--cpu", type=float, default=0.2, help="0: no quota")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--memory", default="2400m", help="that each worker offers")
    parser.add_argument("--executor-memory", default="2g")
    parser.add_argument("--learn", metavar="TIME", help="learn for so long before the first case")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="to learn; by default all")
    given = parser.parse_args()
    folder = given.keep[0]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "cases.ndjson"
    if given.what == "run":
        done = Counter(row["case"] for row in kept(file))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is taken down
        address = folder / "port"  # the cluster is the same one when the command goes on
        port = int(address.read_text()) if address.exists() else None
        with spark_cluster(
            given.workers, memory=given.memory, cpu=given.cpu or None, port=port
        ) as cluster:
            address.write_text(cluster.master.rpartition(":")[2])
            memory, history = given.executor_memory, folder / "history.sqlite"
            training = folder / "learned.json"
            if given.learn and not training.exists():
                engine = SparkEngine(cluster.master, given.workers, memory=memory)
                found = learned(engine, given.learn, given.algorithms, history)
                training.write_text(json.dumps(found))
            known = json.loads(training.read_text()) if training.exists() else None
            for case in given.case:
                if done[case]:
                    done[case] -= 1
                    continue
                keep(file, measured(case, cluster, given.cpu, memory, history) | {"learned": known})
    studies = [kept(each / "cases.ndjson") for each in given.keep]
    write(given.out, report([rows for rows in studies if rows]), "runs")


if __name__ == "__main__":
    main()
