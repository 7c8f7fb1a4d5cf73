"""How well is the local runtime predicted, and what does the prediction cost?

Each case is a fresh process of the command line, as a user starts it: predict, then run, then
compare. The overhead is what the prediction took beside reading, in seconds and in edge visits.

    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --out docs/studies/overhead.md
    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --algorithms semi-clustering topk-ranking \
        connected-components neighborhood --history --out docs/studies/runtime.md
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

GRAPHS = (
    "web-NotreDame",
    "web-NotreDame --undirected",
    "uk-2007-05@100000",
    "uk-2007-05@100000 --undirected",
    "rmat:scale=16,edge_factor=32,seed=1",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=19,edge_factor=8,seed=2",
    "rmat:scale=20,edge_factor=16,seed=1",
    "rmat:scale=21,edge_factor=8,seed=3",
    "rmat:scale=22,edge_factor=16,seed=1",
)


def command_line(command: str, job: Job, *extra: str, history: str = "none") -> dict[str, Any]:
    """What one command of `predict-graph` writes as JSON."""
    name, *options = job.graph.split(" ")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.json"
        words = [
            *(sys.executable, "-m", "predict_graph", command, job.algorithm, name, *options),
            *(*job.parameters, "--json", str(target), *extra, "--history", history),
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        found: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        return found


@dataclass(frozen=True)
class Job:
    """An algorithm on a graph."""

    algorithm: str
    graph: str
    epsilon: float

    @property
    def parameters(self) -> tuple[str, ...]:
        return ("-p", f"epsilon={self.epsilon}") if self.algorithm == "pagerank" else ()


def learned(jobs: list[Job], left_out: str, folder: Path) -> str:
    """A history of one real run of the algorithm on each graph but one."""
    file = folder / f"{len(list(folder.iterdir()))}.sqlite"
    for job in jobs:
        if job.graph != left_out:
            command_line("run", job, history=str(file))
    return str(file)


def measure(
    job: Job, seed: int, options: list[str], real: list[dict[str, Any]], history: str = "none"
) -> dict[str, Any]:
    """One prediction, and its errors beside the median of real runs.

    The median, because runs of the same job differ: the spread of them is in the table too.
    """
    found = command_line("predict", job, "--seed", str(seed), *options, history=history)
    seconds = [run["runtime_seconds"] for run in real]
    predicted, true = found["runtime_seconds"], float(np.median(seconds))
    supersteps = float(np.median([run["phases"]["superstep"] for run in real]))
    return {
        **found,
        "true_seconds": true,
        "true_iterations": real[0]["iterations"],
        "iterations_error": found["iterations"]["predicted"] / real[0]["iterations"] - 1.0,
        "spread": max(seconds) / min(seconds) - 1.0,
        "runtime_error": predicted["predicted"] / true - 1.0,
        "superstep_error": found["phases"]["superstep"] / supersteps - 1.0,
        "inside": predicted["low"] <= true <= predicted["high"],
    }


def spread(values: list[float]) -> str:
    sizes = np.abs(values)
    return (
        f"{np.median(sizes):.1%} | {np.quantile(sizes, 0.9):.1%} | {sizes.max():.1%} | "
        f"{np.mean(values):+.1%}"
    )


def row(job: Job, seed: int, result: dict[str, Any], history: bool) -> str:
    overhead = result["overhead"]
    return (
        f"| {job.algorithm} | {job.graph} | {result['graph']['edges']:,} | "
        f"{'yes' if history else 'no'} | {seed} | {result['true_iterations']} | "
        f"{result['iterations_error']:+.1%} | {result['true_seconds']:.3g} | "
        f"{result['spread']:.0%} | {result['runtime_error']:+.1%} | "
        f"{result['superstep_error']:+.1%} | {'yes' if result['inside'] else 'no'} | "
        f"{result['cost_model']['r2']:.2f} | {overhead['seconds']:.2f} | "
        f"{overhead['seconds'] / result['true_seconds']:.2f} | "
        f"{overhead['edge_visits_fraction']:.2f} |"
    )


def summary(found: list[dict[str, Any]]) -> list[str]:
    inside = np.mean([result["inside"] for result in found])
    return [
        "| error of | median | 90th percentile | worst | mean (signed) |",
        "|---|---:|---:|---:|---:|",
        f"| runtime | {spread([r['runtime_error'] for r in found])} |",
        f"| superstep phase | {spread([r['superstep_error'] for r in found])} |",
        f"| iterations | {spread([r['iterations_error'] for r in found])} |",
        "",
        f"90% intervals of the runtime hold the truth in {inside:.0%} of {len(found)} cases.",
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--algorithms", nargs="*", default=["pagerank"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="real runs of each job, and seed")
    parser.add_argument("--epsilon", type=float, default=0.001)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--options", default="", help="more options of the command line")
    parser.add_argument("--history", action="store_true", help="with history of the others too")
    arguments = parser.parse_args()
    lines = [
        "| algorithm | graph | edges | history | seed | iterations | error | runtime, s |"
        " spread of runs | error | superstep error | in 90% interval | R² | overhead, s |"
        " overhead / run | edge visits / run |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    results: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in arguments.algorithms:
            jobs = [Job(algorithm, graph, arguments.epsilon) for graph in arguments.graphs]
            command_line("validate", jobs[0])  # compiles what is not cached
            for job in jobs:
                told = [("none", False)]
                if arguments.history:
                    told.append((learned(jobs, job.graph, Path(folder)), True))
                for seed in range(arguments.seeds):
                    for history, known in told:
                        real = [command_line("run", job) for _ in range(arguments.runs)]
                        result = measure(job, seed, arguments.options.split(), real, history)
                        results.setdefault((algorithm, known), []).append(result)
                        lines.append(row(job, seed, result, known))
                        print(lines[-1], flush=True)
    text = [
        "# Local runtime and overhead",
        "",
        "Graphs over a million edges on the local engine, each prediction and each run in a "
        f"process of its own. The truth is the median of {arguments.runs} real runs around the "
        "prediction; spread is the slowest over the fastest of them, less one. The runtime is "
        "that of all phases; the superstep phase is shown too, because reading and setting up "
        "are done by the prediction as well, and so are measured rather than predicted. "
        "History: one real run of each of the other graphs.",
        "",
        f"    python -m benchmarks.overhead --seeds {arguments.seeds} --runs {arguments.runs}"
        f" --algorithms {' '.join(arguments.algorithms)}"
        + (" --history" if arguments.history else "")
        + (f" --options='{arguments.options}'" if arguments.options else ""),
        "",
    ]
    for (algorithm, known), found in results.items():
        text += [f"## {algorithm}{', with history' if known else ''}", "", *summary(found)]
    if arguments.out:
        arguments.out.write_text(
            "\n".join([*text, "## Cases", "", *lines]) + "\n", encoding="utf-8"
        )
    print("\n".join(text))


if __name__ == "__main__":
    main()
