"""Does the work that kernels report explain their seconds better than messages do?

Each superstep of the whole graph and of rooted samples of it: seconds a unit of work, and seconds a
message. Where work says all, the first is the same everywhere. The weights of vertices, edges and
messages in `Work` were fitted to such supersteps, by non-negative least squares.

    PREDICT_GRAPH_DATA=… python -m benchmarks.kernel_work --out docs/studies/kernel-work.md
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.algorithms import ALGORITHMS
from predict_graph.engines.local.kernel import kernel_of
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.graph import Graph, check_graph
from predict_graph.iterations.rooted.recipes import recipe_of

ALGORITHMS_WITH_WORK = ("neighborhood", "semi-clustering", "label-propagation")
GRAPHS = (
    "web-NotreDame",
    "uk-2007-05@100000",
    "soc-Epinions1",
    "rmat:scale=16,edge_factor=32,seed=1",
    "rmat:scale=18,edge_factor=16,seed=1",
)
RATIOS = (0.025, 0.1)
LEAST_SHARE = 0.1  # of the slowest superstep: shorter ones are idle time


def supersteps(algorithm: Any, graph: Graph, team: Team, limit: int, repeats: int) -> np.ndarray:
    """Seconds, work and messages of each superstep; the best of the repeats."""
    best: list[float] = []
    for _ in range(repeats):
        kernel = kernel_of(algorithm)(algorithm, graph, team)
        rows = []
        for number in range(limit):
            started = time.perf_counter()
            superstep = kernel.step()
            seconds = time.perf_counter() - started
            sent = superstep.messages(graph)
            work = superstep.work.amount(np.ones(graph.vertices), graph.edges, sent)
            rows.append((seconds, work, sent))
            best[number:] = [min([seconds, *best[number : number + 1]]), *best[number + 1 :]]
            if superstep.convergence == 0.0:
                break
    return np.column_stack([best, np.array(rows)[:, 1:]])


def spread(seconds: np.ndarray, amounts: np.ndarray) -> float:
    """Standard deviation of the logarithm of seconds a unit."""
    return float(np.std(np.log(seconds / np.maximum(amounts, 1.0))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS_WITH_WORK))
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    lines = [
        "# What the seconds of a superstep are in proportion to",
        "",
        "Supersteps of whole graphs and of rooted samples (" + ", ".join(f"{r:g}" for r in RATIOS)
        + "): standard deviation of the logarithm of seconds a unit, over the supersteps of a graph"
        " and its samples. 0.1 is 10%.",
        "",
        f"    python -m benchmarks.kernel_work --algorithms {' '.join(arguments.algorithms)}",
        "",
        "| algorithm | graph | of work | of messages | ns a unit of work, whole graph / sample |",
        "|---|---|---:|---:|---:|",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    for name in arguments.algorithms:
        algorithm = ALGORITHMS.get(name)()
        for source in arguments.graphs:
            graph = check_graph(source, directed=False if algorithm.undirected else None)
            sampler = recipe_of(algorithm, graph).sampler
            subgraphs = [sampler.draw(int(r * graph.vertices), rng).graph for r in RATIOS]
            limits = (arguments.iterations, arguments.repeats)
            with Team(available_threads()) as team:
                found = [supersteps(algorithm, g, team, *limits) for g in (graph, *subgraphs)]
            found = [rows[rows[:, 0] > LEAST_SHARE * rows[:, 0].max()] for rows in found]
            seconds, work, messages = np.vstack(found).T
            cost = [float(rows[:, 0].sum() / rows[:, 1].sum()) * 1e9 for rows in found]
            lines.append(
                f"| {name} | {source} | {spread(seconds, work):.2f} | "
                f"{spread(seconds, messages):.2f} | {cost[0]:.1f} / {cost[-1]:.1f} |"
            )
            print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
