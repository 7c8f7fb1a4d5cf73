"""How well is the local runtime predicted, and what does the prediction cost?

Each case is a fresh process of the command line, as a user starts it: predict, then run, then
compare. The overhead is what the prediction took beside reading, in seconds and in edge visits.
Predictions and runs take turns, and are repeated when the machine was disturbed (`--disturbed`
keeps them all).

    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --out docs/studies/overhead.md
    PREDICT_GRAPH_DATA=… python -m benchmarks.overhead --algorithms semi-clustering topk-ranking \
        connected-components neighborhood label-propagation --history --out docs/studies/runtime.md
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quiet import QuietMachine

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


def command_line(command: str, job: Job, *extra: str, history: str = "none") -> Found:
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
        found: Found = json.loads(target.read_text(encoding="utf-8"))
        return found


ABOUT = """\
By the default budget, unless options below say otherwise: such runs are over in a second or
two, and a prediction may take as long at the most; of most of those under a second nothing is
asked but a first guess, which is why their iterations are far off. With all samples
(`--budget none`) the runtime was 8% off in the median, at 2.7 times the run, on a slower day of the
machine.""".splitlines()


@dataclass(frozen=True)
class Job:
    """An algorithm on a graph."""

    algorithm: str
    graph: str
    epsilon: float

    @property
    def parameters(self) -> tuple[str, ...]:
        return ("-p", f"epsilon={self.epsilon}") if self.algorithm == "pagerank" else ()


class Bench:
    """Commands, repeated while the machine is disturbed, and runs that histories are made of."""

    def __init__(self, quiet: QuietMachine | None, folder: Path) -> None:
        self._quiet = quiet
        self._folder = folder

    def measured(self, command: str, job: Job, *extra: str, history: str = "none") -> Found:
        """What a command writes; begun with a copy of a history."""

        def run() -> Found:
            own = history
            if history != "none":
                own = str(shutil.copy(history, self._folder / "own.sqlite"))
            return command_line(command, job, *extra, history=own)

        return run() if self._quiet is None else self._quiet.measure(run)

    def learned(self, jobs: list[Job]) -> str:
        """A history of one real run of each job; a prediction leaves its own graph out."""
        file, own = (self._folder / name for name in ("learned.sqlite", "own.sqlite"))
        file.unlink(missing_ok=True)
        command_line("run", jobs[0], history=str(file))
        for job in jobs[1:]:
            self.measured("run", job, history=str(file))
            shutil.copy(own, file)
        return str(file)

    def in_turns(
        self, job: Job, seeds: list[str], options: list[str], histories: list[str], runs: int
    ) -> tuple[list[list[Found]], list[Found]]:
        """Predictions for each history and seed, and real runs of the same job after each seed."""
        predictions: list[list[Found]] = [[] for _ in histories]
        real: list[Found] = []
        for seed in seeds:
            for number, history in enumerate(histories):
                predictions[number].append(
                    self.measured("predict", job, "--seed", seed, *options, history=history)
                )
            real += [self.measured("run", job) for _ in range(runs)]
        return predictions, real


def compared(found: Found, real: list[Found]) -> Found:
    """One prediction, and its errors beside the median of real runs.

    The median, because runs of the same job differ: the spread of them is in the table too.
    """
    seconds = [run["runtime_seconds"] for run in real]
    predicted, true = found["runtime_seconds"], float(np.median(seconds))
    supersteps = float(np.median([run["phases"]["superstep"] for run in real]))
    return {
        **found,
        "true_seconds": true,
        "true_iterations": real[0]["iterations"],
        "edges": real[0]["graph"]["edges"],  # a first look at a file may not have counted them
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


def row(job: Job, seed: str, result: Found, history: bool) -> str:
    overhead, squared = result["overhead"], (result.get("cost_model") or {}).get("r2")
    return (
        f"| {job.algorithm} | {job.graph} | {result['edges']:,} | "
        f"{'yes' if history else 'no'} | {seed} | {result['true_iterations']} | "
        f"{result['iterations_error']:+.1%} | {result['true_seconds']:.3g} | "
        f"{result['spread']:.0%} | {result['runtime_error']:+.1%} | "
        f"{result['superstep_error']:+.1%} | {'yes' if result['inside'] else 'no'} | "
        f"{'–' if squared is None else format(squared, '.2f')} | {overhead['seconds']:.2f} | "
        f"{overhead['seconds'] / result['true_seconds']:.2f} | "
        f"{overhead.get('edge_visits_fraction') or 0.0:.2f} |"
    )


def summary(found: list[Found]) -> list[str]:
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
    parser.add_argument("--runs", type=int, default=3, help="real runs for each seed")
    parser.add_argument("--epsilon", type=float, default=0.001)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--options", default="", help="more options of the command line")
    parser.add_argument("--history", action="store_true", help="with history of the others too")
    parser.add_argument(
        "--disturbed", action="store_true", help="keep what was measured on a busy machine"
    )
    arguments = parser.parse_args()
    quiet = None if arguments.disturbed else QuietMachine()
    seeds = [str(seed) for seed in range(arguments.seeds)]
    lines = [
        "| algorithm | graph | edges | history | seed | iterations | error | runtime, s |"
        " spread of runs | error | superstep error | in 90% interval | R² | overhead, s |"
        " overhead / run | edge visits / run |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    results: dict[tuple[str, bool], list[Found]] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(quiet, Path(folder))
        for algorithm in arguments.algorithms:
            jobs = [Job(algorithm, graph, arguments.epsilon) for graph in arguments.graphs]
            command_line("validate", jobs[0])  # compiles what is not cached
            histories = ["none", bench.learned(jobs)] if arguments.history else ["none"]
            options = arguments.options.split()
            for job in jobs:
                predictions, real = bench.in_turns(job, seeds, options, histories, arguments.runs)
                for known, found in zip((False, True), predictions, strict=False):
                    for seed, prediction in zip(seeds, found, strict=True):
                        result = compared(prediction, real)
                        results.setdefault((algorithm, known), []).append(result)
                        lines.append(row(job, seed, result, known))
                        print(lines[-1], flush=True)
    text = [
        "# Local runtime and overhead",
        "",
        *ABOUT,
        "",
        "Graphs over a million edges on the local engine, each prediction and each run in a "
        f"process of its own. The truth is the median of real runs, {arguments.runs} after the "
        "predictions of each seed; spread is the slowest over the fastest of them, less one. The "
        "runtime is that of all phases; the superstep phase is shown too, because reading and "
        "setting up are done by the prediction as well, and so are measured rather than "
        "predicted. "
        "History: one real run of each of the other graphs.",
        "",
        *([] if quiet is None else [quiet.report(), ""]),
        f"    python -m benchmarks.overhead --seeds {arguments.seeds} --runs {arguments.runs}"
        f" --algorithms {' '.join(arguments.algorithms)}"
        + (" --history" if arguments.history else "")
        + (f" --options='{arguments.options}'" if arguments.options else "")
        + (f" --graphs {shlex.join(arguments.graphs)}" if arguments.graphs != [*GRAPHS] else ""),
        "",
    ]
    for (algorithm, known), cases in results.items():
        text += [f"## {algorithm}{', with history' if known else ''}", "", *summary(cases)]
    if arguments.out:
        arguments.out.write_text(
            "\n".join([*text, "## Cases", "", *lines]) + "\n", encoding="utf-8"
        )
    print("\n".join(text))


if __name__ == "__main__":
    main()
