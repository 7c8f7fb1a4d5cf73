"""How well is the local runtime predicted, and what does the prediction cost?

Each case is a fresh process of the command line, as a user starts it: predict, then run, then
compare: by the default budget, and by the full one. The overhead is what the prediction took beside
reading.
Predictions and runs take turns.

    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --out docs/studies/overhead.md
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import spread, study_parser, table, write

Found = dict[str, Any]

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


def command_line(command: str, job: Job, *extra: str) -> Found:
    """What one command of `predict-graph` writes as JSON."""
    name, *options = job.graph.split(" ")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.json"
        words = [
            *(sys.executable, "-m", "predict_graph", command, job.algorithm, name, *options),
            *(*job.parameters, "--json", str(target), *extra, "--history", "none"),
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        found: Found = json.loads(target.read_text(encoding="utf-8"))
        return found


BUDGETS = {"default": (), "full budget": ("--budget", "none")}


@dataclass(frozen=True)
class Job:
    """An algorithm on a graph."""

    algorithm: str
    graph: str
    epsilon: float

    @property
    def parameters(self) -> tuple[str, ...]:
        return ("-p", f"epsilon={self.epsilon}") if self.algorithm == "pagerank" else ()


def in_turns(job: Job, seeds: list[str], runs: int) -> tuple[dict[str, list[Found]], list[Found]]:
    """Predictions by each budget and seed, and real runs of the same job after each seed."""
    predictions: dict[str, list[Found]] = {name: [] for name in BUDGETS}
    real: list[Found] = []
    for seed in seeds:
        for name, budget in BUDGETS.items():
            predictions[name].append(command_line("predict", job, "--seed", seed, *budget))
        real += [command_line("run", job) for _ in range(runs)]
    return predictions, real


def compared(found: Found, real: list[Found]) -> Found:
    """One prediction, and its errors beside the median of real runs.

    The median, because runs of the same job differ.
    """
    seconds = [run["runtime_seconds"] for run in real]
    predicted, true = found["runtime_seconds"], float(np.median(seconds))
    return {
        **found,
        "true_seconds": true,
        "true_iterations": real[0]["iterations"],
        "iterations_error": found["iterations"]["predicted"] / real[0]["iterations"] - 1.0,
        "runtime_error": predicted["predicted"] / true - 1.0,
        "inside": predicted["low"] <= true <= predicted["high"],
    }


def summary(algorithm: str, budget: str, found: list[Found]) -> list[str]:
    """Return a line of the table."""
    overheads = [result["overhead"]["seconds"] for result in found]
    shares = [result["overhead"]["seconds"] / result["true_seconds"] for result in found]
    return [
        *(algorithm, budget, str(len(found)), *spread([r["runtime_error"] for r in found])),
        f"{np.mean([result['inside'] for result in found]):.0%}",
        *spread([result["iterations_error"] for result in found])[::2],
        *(f"{np.median(overheads):.2f}", f"{max(overheads):.2f}", f"{np.median(shares):.2f}"),
    ]


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--algorithms", nargs="*", default=["pagerank"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="real runs for each seed")
    parser.add_argument("--epsilon", type=float, default=0.001)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    arguments = parser.parse_args()
    seeds = [str(seed) for seed in range(arguments.seeds)]
    results: dict[tuple[str, str], list[Found]] = {}
    for algorithm in arguments.algorithms:
        jobs = [Job(algorithm, graph, arguments.epsilon) for graph in arguments.graphs]
        command_line("validate", jobs[0])  # compiles what is not cached
        for job in jobs:
            predictions, real = in_turns(job, seeds, arguments.runs)
            for budget, found in predictions.items():
                for seed, prediction in zip(seeds, found, strict=True):
                    result = compared(prediction, real)
                    results.setdefault((algorithm, budget), []).append(result)
                    print(job, budget, seed, result["runtime_error"], flush=True)
    head = ["algorithm", "budget", "cases", "runtime: median", "90%", "worst", "in interval"]
    head += ["iterations: median", "worst", "overhead, s: median", "most", "overhead / run: median"]
    rows = [summary(*key, found) for key, found in results.items()]
    write(arguments.out, table(head, rows, text_columns=2), "errors")


if __name__ == "__main__":
    main()
