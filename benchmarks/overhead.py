"""How well is the local runtime predicted, and what does the prediction cost?

Each case is a fresh process of the command line, as a user starts it: predict, then run, then
compare: by the default budget, and by the full one. The overhead is what the prediction took beside
reading. Predictions and runs take turns.

    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --out docs/studies/overhead.md
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from benchmarks.accuracy import LARGE, result, summary
from benchmarks.common import Row, study_parser, write

GRAPHS = (
    *("web-NotreDame", "web-NotreDame --undirected"),
    *("uk-2007-05@100000", "uk-2007-05@100000 --undirected"),
    "rmat:scale=16,edge_factor=32,seed=1",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=19,edge_factor=8,seed=2",
    *LARGE,
    "rmat:scale=22,edge_factor=16,seed=1",
)
BUDGETS = {"default": (), "full budget": ("--budget", "none")}


def command_line(command: str, algorithm: str, graph: str, *extra: str) -> Row:
    """Return what a command of `predict-graph` writes as JSON."""
    words = [sys.executable, "-m", "predict_graph", command, algorithm, *graph.split(" "), *extra]
    words += ["--history", "none", "--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def measured(algorithm: str, graph: str, seeds: int, runs: int) -> list[Row]:
    """Return predictions by each budget and seed, beside real runs of the job after each seed."""
    predictions: dict[str, list[Row]] = {name: [] for name in BUDGETS}
    real: list[Row] = []
    for seed in range(seeds):
        for name, budget in BUDGETS.items():
            words = ("--seed", str(seed), *budget)
            predictions[name].append(command_line("predict", algorithm, graph, *words))
        real += [command_line("run", algorithm, graph) for _ in range(runs)]
    # The median, because runs of the same job differ.
    seconds = statistics.median(run["runtime_seconds"] for run in real)
    truth = {**real[0], "runtime_seconds": seconds}
    return [
        result((graph, "", algorithm, name), prediction, truth)
        for name, found in predictions.items()
        for prediction in found
    ]


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--algorithms", nargs="*", default=["pagerank"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="real runs for each seed")
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    given = parser.parse_args()
    results: list[Row] = []
    for algorithm in given.algorithms:
        command_line("validate", algorithm, given.graphs[0])  # compiles what is not cached
        for graph in given.graphs:
            results += measured(algorithm, graph, given.seeds, given.runs)
            print(algorithm, graph, results[-1]["runtime_error"], flush=True)
    write(given.out, summary(results, "job"), "errors")


if __name__ == "__main__":
    main()
