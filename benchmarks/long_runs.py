"""How well are runs of ten minutes and more on Spark predicted, at the price of the default budget?

A standalone cluster on this machine whose workers have a share of a core each, as in
``benchmarks.spark_accuracy``, but used as a person uses one: the workers are slow from their start,
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

import argparse
import json
import signal
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import predict_graph
from benchmarks.remaining import BARS, PARTS, error_at, inside_at
from benchmarks.spark_cluster import spark_cluster
from predict_graph.clock import Moment
from predict_graph.engines import COUNTERS
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.prediction import Comparison
from predict_graph.prediction.learn import learn
from predict_graph.prediction.request import check_function

Row = dict[str, Any]

ABOUT = """\
Written by `python -m benchmarks.long_runs report`. A standalone cluster of processes on one machine
with two cores; each worker has a loopback address and a share of a core, from its start on. Cases
were predicted and run in this order, by the default budget (5% of the predicted run and a second),
from a history that began empty, or with what `learn` learned, and holds the cases above. *Cost* is
what the prediction took beside the run, reading the graph and loading compiled code left out.
*Seen* is how many runs of the algorithm the history had, and *of others* how many of other
algorithms. Errors are predicted / actual - 1.

What was seen and learned before a row is in its history; nothing else. Graphs, seeds and machine
counts are of no lesson, each predicted before it was run.

The two tables of workers with 0.2 of a core are of code in which `learn` has [one session for all
algorithms](../spark-predictions.md), and of lessons of the package from graphs of up to sixteen
million edges; nothing else ran on the machine. In the one with two runs, lessons that were too few
for a model told what a session takes that begins by runs that began none: setting up was said to
take 160 s, and took 65; and the larger graph was run once, while Java was not warm yet. In view of
these rows both were mended, and setting up is told as work of tasks. The other table is of that
code, and of graphs that were in no table before; nothing was changed in view of it. Components took
118 s of supersteps in the one, and 169 in the other, on graphs that differ by their seed. GraphX is
followed superstep by superstep since.""".splitlines()


def learned(
    cluster: Any, machines: int, memory: str, budget: str, names: list[str] | None, history: Path
) -> Row:
    """Learn what the cluster charges, as `predict-graph learn` does, and say what was learned."""
    engine: Any = SparkEngine(cluster.master, machines, memory=memory)
    found = learn(
        engine, algorithms=names, budget=budget, history=str(history), seed=1, progress=_told
    )
    print(found, flush=True)
    return {"machines": machines, "budget": budget, **found.to_dict()}


def measured(text: str, cluster: Any, cpu: float, memory: str, history: Path) -> Row:
    """Predict a case, run it, compare."""
    algorithm, graph, machines, *_ = text.split()
    parameters = parameters_of(text)
    memory = str(parameters.pop("memory", memory))
    undirected = check_function(algorithm).undirected
    whole = check_graph(graph, directed=False if undirected else None)
    options: Row = {
        "parameters": parameters,
        "engine": SparkEngine(cluster.master, int(machines), memory=memory),
        "history": str(history),
    }
    kept = [json.loads(line) for line in _lines(history.with_name("cases.ndjson"))]
    seen = sum(row["algorithm"] == algorithm for row in kept)
    began = time.perf_counter()
    found = predict_graph.predict(algorithm, whole, **options, seed=1, progress=_told)
    asked = time.perf_counter() - began
    print(found, flush=True)
    moments: list[Moment] = []
    profile = predict_graph.run(
        algorithm, whole.fresh(), **options, progress=moments.append, expect=found
    )
    elapsed = moments[-1].elapsed
    compared = Comparison(found, profile)
    totals = profile.features_total()
    runtime = found.runtime_seconds
    return {
        "case": text,
        "algorithm": algorithm,
        "graph": graph,
        "edges": whole.edges,
        "machines": int(machines),
        "cpu": cpu,
        "memory": memory,
        "spilled": float(profile.table["spilled_bytes"].sum()),
        "executors": found.to_dict().get("executors"),
        "seen": seen,
        "others": len(kept) - seen,
        "asked_seconds": asked,
        "predicted": [runtime.predicted, runtime.low, runtime.high],
        "seconds": profile.runtime_seconds,
        "iterations": [found.iterations.predicted, profile.iterations],
        "phases": [dict(found.phases), dict(profile.phases)],
        "totals": [found.features_total(), {name: totals[name] for name in COUNTERS}],
        "errors": compared.errors(),
        "inside": compared.inside(),
        "clock": [error_at(moments, elapsed, part) for part in PARTS],
        "clock_inside": [inside_at(moments, elapsed, part) for part in PARTS],
        "moments": [_said(each) for each in moments[:: max(len(moments) // 300, 1)]],
        "prediction": found.to_dict(),
    }


def parameters_of(case: str) -> dict[str, float | str]:
    """Return the parameters of a case: what comes after algorithm, graph and machines."""
    pairs = (each.split("=") for each in case.split()[3:])
    return {name: _number(value) for name, value in pairs}


def _said(moment: Moment) -> list[float | None]:
    """Return when something was said, of which superstep, and what was said to be left."""
    left = moment.remaining
    return [moment.elapsed, moment.done, None if left is None else left.predicted]


def _number(text: str) -> float | str:
    if text.isdigit():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _told(words: str, _: float) -> None:
    print(time.strftime("%H:%M:%S"), words, flush=True)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.is_file() else []


def report(studies: list[list[Row]]) -> str:
    """Return the study, of one or more clusters."""
    lines = ["# Longer runs on Spark", "", *ABOUT]
    order = sorted(studies, key=lambda rows: "learned" not in rows[0] or not rows[0]["learned"])
    for rows in order:
        cpu, lessons = rows[0]["cpu"], rows[0].get("learned")
        name = f"## Workers with {cpu:g} of a core" if cpu else "## Workers without a quota"
        minutes = [row["seconds"] / 60.0 for row in rows]
        name += f": {len(rows)} runs of {min(minutes):.0f} to {max(minutes):.0f} minutes"
        lines += ["", name + (", after `learn`" if lessons else "")]
        if lessons:
            lines += [
                "",
                f"`learn --machines {lessons['machines']} --budget {lessons['budget']}` first: "
                f"{lessons['seconds']:.0f} s, {lessons['runs']} sample runs of "
                + ", ".join(f"{name} ({len(of)})" for name, of in lessons["lessons"].items())
                + ", on as many graphs as is said.",
            ]
        lines += _table(rows)
    before = Path(__file__).with_name("long_runs_before.md").read_text(encoding="utf-8")
    return "\n".join([*lines, "", before])


def _table(rows: list[Row]) -> list[str]:
    lines = [
        "",
        "| algorithm | graph | edges | machines x cores | seen | of others | iterations | error "
        "| remote bytes | runtime | predicted (90% interval) | error | cost / run |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---|---:|---:|",
    ]
    for row in rows:
        errors = row["errors"]
        middle, low, high = row["predicted"]
        remote = errors["features_total"]["remote_message_bytes"]
        cost = row["prediction"]["overhead"]["seconds"] / row["seconds"]
        mark = "" if row["inside"]["runtime_seconds"] else ", outside"
        lines.append(
            f"| {row['algorithm']} | {row['graph']} | {row['edges'] / 1e6:.1f}M | {row['machines']}"
            f" x {row['cpu'] or 1:g} | {row['seen']} | {row['others']} | {row['iterations'][1]} "
            f"| {errors['iterations']:+.0%} | {'–' if remote is None else f'{remote:+.1%}'} "
            f"| {row['seconds']:.0f} s | {middle:.0f} s ({low:.0f} to {high:.0f}{mark}) "
            f"| {errors['runtime_seconds']:+.1%} | {cost:.1%} |"
        )
    for row in rows:
        if row.get("spilled"):
            said = row["executors"]
            needed = said["execution_bytes"] + said["storage_bytes"]
            lines += [
                "",
                f"`{row['case']}` spilled {row['spilled'] / 2**20:.0f} MiB: an executor needed "
                f"{needed / 2**20:.0f} MiB, as was said before, and had "
                f"{said['available_bytes'] / 2**20:.0f}.",
            ]
    lines += ["", "| | bar | here |", "|---|---|---|"]
    for what, own in (
        ("runtime, learned", [row for row in rows if row.get("learned")]),
        (
            "runtime, nothing seen",
            [row for row in rows if not (row.get("learned") or row["seen"] or row["others"])],
        ),
        (
            "runtime, other algorithms seen",
            [row for row in rows if row["others"] and not (row.get("learned") or row["seen"])],
        ),
        (
            "runtime, runs of the algorithm seen",
            [row for row in rows if row["seen"] and not row.get("learned")],
        ),
    ):
        errors = sorted(abs(row["errors"]["runtime_seconds"]) for row in own)
        if errors:
            inside = sum(row["inside"]["runtime_seconds"] for row in own)
            lines.append(
                f"| {what}: median, worst, inside | 8%, 20% | {statistics.median(errors):.1%}, "
                f"{errors[-1]:.1%}, {inside} of {len(own)} |"
            )
    for number, (part, bar) in enumerate(zip(PARTS, BARS, strict=True)):
        clock = [abs(row["clock"][number]) for row in rows if row["clock"][number] is not None]
        if clock:
            lines.append(
                f"| remaining time at {part:.0%} of a run, median | {bar:.0%} "
                f"| {statistics.median(clock):.1%} |"
            )
    return lines


def main() -> None:
    """Run cases, or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--keep", type=Path, nargs="+", required=True)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--cpu", type=float, default=0.2, help="0: no quota")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--memory", default="2400m", help="that each worker offers")
    parser.add_argument("--executor-memory", default="2g")
    parser.add_argument("--learn", metavar="TIME", help="learn for so long before the first case")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="to learn; by default all")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder = given.keep[0]
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "cases.ndjson"
    if given.what == "run":
        done = Counter(json.loads(line)["case"] for line in _lines(kept))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is taken down
        address = folder / "port"  # the cluster is the same one when the command goes on
        port = int(address.read_text()) if address.exists() else None
        with spark_cluster(
            given.workers, memory=given.memory, cpu=given.cpu or None, port=port
        ) as cluster:
            address.write_text(cluster.master.rpartition(":")[2])
            memory, history = given.executor_memory, folder / "history.sqlite"
            lessons = folder / "learned.json"
            if given.learn and not lessons.exists():
                found = learned(
                    cluster, given.workers, memory, given.learn, given.algorithms, history
                )
                lessons.write_text(json.dumps(found))
            known = json.loads(lessons.read_text()) if lessons.exists() else None
            for case in given.case:
                if done[case]:
                    done[case] -= 1
                    continue
                row = measured(case, cluster, given.cpu, memory, history) | {"learned": known}
                with kept.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    kept_rows = [_lines(each / "cases.ndjson") for each in given.keep]
    text = report([[json.loads(line) for line in lines] for lines in kept_rows if lines])
    if given.out is None:
        sys.stdout.write(text)
    else:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
