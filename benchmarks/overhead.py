"""How well is the local runtime predicted, and what does the prediction cost?

Each case is a fresh process of the command line, as a user starts it: predict, then run, then
compare. The overhead is what the prediction took beside reading, in seconds and in edge visits.

    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --out docs/studies/overhead.md
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
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


def command_line(command: str, graph: str, epsilon: float, *extra: str) -> dict[str, Any]:
    """What one command of `predict-graph` on PageRank writes as JSON."""
    name, *options = graph.split(" ")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.json"
        words = [
            *(sys.executable, "-m", "predict_graph", command, "pagerank", name, *options),
            *("-p", f"epsilon={epsilon}", "--json", str(target), *extra),
        ]
        environment = {**os.environ, "PREDICT_GRAPH_HISTORY": "none"}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        found: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        return found


def measure(
    graph: str, epsilon: float, seed: int, options: list[str], *, runs: int
) -> dict[str, Any]:
    """One prediction, then real runs, and the prediction's errors beside their median.

    The median, because runs of the same job differ: the spread of them is in the table too.
    """
    found = command_line("validate", graph, epsilon, "--seed", str(seed), *options)
    real = [found["actual"]]
    real += [command_line("run", graph, epsilon) for _ in range(runs - 1)]
    seconds = [run["runtime_seconds"] for run in real]
    predicted, true = found["runtime_seconds"], float(np.median(seconds))
    supersteps = float(np.median([run["phases"]["superstep"] for run in real]))
    return {
        **found,
        "true_seconds": true,
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="real runs of each case")
    parser.add_argument("--epsilon", type=float, default=0.001)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--options", default="", help="more options of the command line")
    arguments = parser.parse_args()
    command_line("validate", arguments.graphs[0], arguments.epsilon)  # compiles what is not cached
    lines = [
        "| graph | edges | seed | iterations | error | runtime, s | spread of runs | error |"
        " superstep error | in 90% interval | overhead, s | overhead / run | edge visits / run |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|",
    ]
    found: list[dict[str, Any]] = []
    for graph in arguments.graphs:
        for seed in range(arguments.seeds):
            result = measure(
                graph, arguments.epsilon, seed, arguments.options.split(), runs=arguments.runs
            )
            found.append(result)
            overhead = result["overhead"]
            lines.append(
                f"| {graph} | {result['graph']['edges']:,} | {seed} | "
                f"{result['actual']['iterations']} | {result['errors']['iterations']:+.1%} | "
                f"{result['true_seconds']:.3g} | {result['spread']:.0%} | "
                f"{result['runtime_error']:+.1%} | {result['superstep_error']:+.1%} | "
                f"{'yes' if result['inside'] else 'no'} | {overhead['seconds']:.2f} | "
                f"{overhead['seconds'] / result['true_seconds']:.2f} | "
                f"{overhead['edge_visits_fraction']:.2f} |"
            )
            print(lines[-1], flush=True)
    inside = np.mean([result["inside"] for result in found])
    text = [
        "# Local runtime and overhead",
        "",
        "PageRank on the local engine, graphs over a million edges, each case in a fresh process. "
        f"The truth is the median of {arguments.runs} real runs, each in a process of its own and "
        "after the prediction; spread is the slowest over the fastest of them, less one. The "
        "runtime is that of all phases; the superstep phase is shown too, because reading and "
        "setting up are done by the prediction as well, and so are measured rather than predicted.",
        "",
        f"    python -m benchmarks.overhead --seeds {arguments.seeds} --runs {arguments.runs}"
        f" --epsilon {arguments.epsilon}"
        + (f" --options='{arguments.options}'" if arguments.options else ""),
        "",
        "| error of | median | 90th percentile | worst | mean (signed) |",
        "|---|---:|---:|---:|---:|",
        f"| runtime | {spread([r['runtime_error'] for r in found])} |",
        f"| superstep phase | {spread([r['superstep_error'] for r in found])} |",
        f"| iterations | {spread([r['errors']['iterations'] for r in found])} |",
        "",
        f"90% intervals of the runtime hold the truth in {inside:.0%} of {len(found)} cases.",
        "",
        *lines,
    ]
    if arguments.out:
        arguments.out.write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text[:14]))


if __name__ == "__main__":
    main()
