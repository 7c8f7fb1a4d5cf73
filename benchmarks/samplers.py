"""Graph samplers of this project beside those users have today: same graph, same run.

    python benchmarks/samplers.py --out docs/studies/samplers.md

Needs the `bench` extra. littleballoffur samples undirected graphs only, so the comparison is on the
undirected form of the graph; the second table has all our samplers on the graphs as they are.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy import sparse

# A script's own folder comes first on the path, where this file would hide the package.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from benchmarks.common import table, write  # noqa: E402
from samplers import (  # noqa: E402
    SAMPLERS,
    MetropolisHastingsRandomWalk,
    RandomJump,
    RandomWalkWithRestart,
    induced_csr,
)

RESTART = 0.15
TITLES = ("RJ", "RWR", "MHRW, no restarts")


def lively_start(graph: SimpleNamespace, ratio: float) -> int:
    """Return the first vertex from which our random walk with restart never stalls.

    Tools that do not give a start up can take minutes from another one.
    """
    for v in range(graph.shape[0]):
        stalls = [
            RandomWalkWithRestart(restart=RESTART, start=v).sample(graph, ratio, seed).unreached
            for seed in range(3)
        ]
        if not any(stalls):
            return v
    raise SystemExit("random walks with restart stall from every vertex of this graph")


def median_seconds(job: Callable[[int], object], repeats: int) -> float:
    """Return the median wall time of `job`, which is given the number of the run as a seed."""
    seconds = []
    for seed in range(repeats):
        start = time.perf_counter()
        job(seed)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def undirected(graph: object) -> SimpleNamespace:
    """Return both directions of every edge, without self-loops and parallel edges."""
    n = graph.shape[0]
    ones = np.ones(len(graph.indices), dtype=np.int8)
    matrix = sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return SimpleNamespace(
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32),
        shape=(n, n),
        directed=False,
    )


def edge_list(graph: SimpleNamespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of each undirected edge, once."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    once = rows < graph.indices
    return rows[once], graph.indices[once]


def ours(
    graph: SimpleNamespace, ratio: float, start: int, repeats: int
) -> dict[str, dict[str, float]]:
    """Time our samplers: the vertices alone, and with the subgraph they induce."""

    def with_subgraph(sampler: object, seed: int) -> None:
        vertices = sampler.sample(graph, ratio, seed).vertices
        induced_csr(graph.indptr, graph.indices, vertices)

    samplers = (
        RandomJump(restart=RESTART),
        RandomWalkWithRestart(restart=RESTART, start=start),
        MetropolisHastingsRandomWalk(restart=0),
    )
    vertices, subgraph = {}, {}
    for name, sampler in zip(TITLES, samplers, strict=True):
        with_subgraph(sampler, 0)
        vertices[name] = median_seconds(
            lambda seed, s=sampler: s.sample(graph, ratio, seed), repeats
        )
        subgraph[name] = median_seconds(lambda seed, s=sampler: with_subgraph(s, seed), repeats)
    return {"ours: vertices": vertices, "ours: vertices and subgraph": subgraph}


def networkit_loops(
    graph: SimpleNamespace, count: int, start: int, repeats: int
) -> dict[str, dict]:
    """Time loops in Python over networkit's random neighbours, and littleballoffur on top of it."""
    import networkit

    rows, columns = edge_list(graph)
    # It reads the arrays as 64-bit words, whatever their type.
    ends = rows.astype(np.uint64), columns.astype(np.uint64)
    network = networkit.GraphFromCoo(ends, n=graph.shape[0], directed=False)
    neighbour = networkit.graphtools.randomNeighbor
    n = graph.shape[0]

    def random_jump(seed: int) -> None:
        random.seed(seed)
        networkit.setSeed(seed, False)
        chance = random.random
        v = random.randrange(n)
        seen = {v}
        while len(seen) < count:
            v = random.randrange(n) if chance() < RESTART else neighbour(network, v)
            seen.add(v)

    def restart(seed: int) -> None:
        random.seed(seed)
        networkit.setSeed(seed, False)
        chance = random.random
        v = start
        seen = {v}
        while len(seen) < count:
            v = start if chance() < RESTART else neighbour(network, v)
            seen.add(v)

    def metropolis(seed: int) -> None:
        random.seed(seed)
        networkit.setSeed(seed, False)
        chance, degree = random.random, network.degree
        v = random.randrange(n)
        seen = {v}
        while len(seen) < count:
            w = neighbour(network, v)
            if chance() * degree(w) < degree(v):
                v = w
                seen.add(v)

    loops = {"RJ": random_jump, "RWR": restart, "MHRW, no restarts": metropolis}
    return {
        "networkit loop by hand: vertices": {
            name: median_seconds(loop, repeats) for name, loop in loops.items()
        },
        "littleballoffur on networkit: subgraph": littleballoffur(network, count, start, repeats),
    }


def littleballoffur(network: object, count: int, start: int, repeats: int) -> dict[str, float]:
    """Time the samplers of littleballoffur on a networkit or networkx graph."""
    from littleballoffur import exploration_sampling as theirs

    jobs = {
        "RJ": lambda seed: theirs.RandomWalkWithJumpSampler(count, seed, RESTART),
        "RWR": lambda seed: theirs.RandomWalkWithRestartSampler(count, seed, RESTART),
        "MHRW, no restarts": lambda seed: theirs.MetropolisHastingsRandomWalkSampler(count, seed),
    }
    return {
        name: median_seconds(lambda seed, make=make: make(seed).sample(network, start), repeats)
        for name, make in jobs.items()
    }


def comparison(graph: object, ratio: float, repeats: int) -> list[str]:
    """Return the table of all tools on the undirected form of a graph."""
    plain = undirected(graph)
    count = max(1, round(ratio * plain.shape[0]))
    start = lively_start(plain, ratio)
    measured = ours(plain, ratio, start, 3 * repeats)
    measured |= networkit_loops(plain, count, start, repeats)
    reference = measured["ours: vertices and subgraph"]
    rows = [
        [
            tool,
            *(f"{1e3 * each:.1f} ms ({each / reference[name]:.2g})" for name, each in by.items()),
        ]
        for tool, by in measured.items()
    ]
    lines = table(["tool", *TITLES], rows)
    for kind in ("vertices", "subgraph"):
        fastest = {
            name: min(
                seconds[name]
                for tool, seconds in measured.items()
                if name in seconds and tool.endswith(": " + kind) and not tool.startswith("ours")
            )
            for name in TITLES
        }
        mine = measured["ours: vertices" if kind == "vertices" else "ours: vertices and subgraph"]
        ratios = ", ".join(f"{name} {fastest[name] / mine[name]:.1f}" for name in TITLES)
        lines += ["", f"Fastest other tool that returns the {kind}, over ours: {ratios}."]
    return lines


def own_row(
    title: str, graph: object, name: str, ratio: float, repeats: int, remark: str = ""
) -> list[str]:
    """Return the row of one of our samplers: time, edges touched, memory beyond the graph."""
    module, _, attribute = SAMPLERS[name].partition(":")
    sampler = getattr(import_module(module), attribute)()
    sampler.sample(graph, ratio, 0)
    seconds = median_seconds(lambda seed: sampler.sample(graph, ratio, seed), repeats)
    tracemalloc.start()
    sample = sampler.sample(graph, ratio, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = graph.indptr.nbytes + graph.indices.nbytes
    return [
        *(title, name + remark, f"{1e3 * seconds:.1f} ms", str(len(sample)), str(sample.steps)),
        *(str(sample.unreached), f"{sample.edges_scanned / max(1, len(graph.indices)):.0%}"),
        f"{1 + peak / size:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", default="web-NotreDame", help="graph of the comparison")
    parser.add_argument(
        "--more",
        nargs="*",
        default=["soc-Epinions1", "rmat:scale=22,edge_factor=16,seed=1"],
        help="graphs of the second table, besides --graph",
    )
    parser.add_argument("--ratio", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the tables to this file, too")
    options = parser.parse_args()

    from predict_graph.graph import check_graph

    graph = check_graph(options.graph)
    lines = [
        "# Samplers",
        "",
        f"`python benchmarks/samplers.py`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}. Sampling ratio "
        f"{options.ratio:g}, median of {options.repeats} runs of different seeds "
        "(ours in the first table: three times as many; graphs of ten million edges and more: 3), "
        "restart probability 0.15, compilation and conversion excluded.",
        "",
        f"## {options.graph}, undirected",
        "",
        "Wall time, and in brackets the ratio to ours with the subgraph. RWR starts at the first "
        "vertex from which ours never stalls: from others it can take the other tools minutes.",
        "",
        *comparison(graph, options.ratio, options.repeats),
        "",
        "## All our samplers",
        "",
        "Vertices only, default options. *Edges* is the share of the graph's edges that leave the "
        "sampled vertices; *memory* is the peak during sampling over that of the graph, the graph "
        "included. mhrw walks a directed graph both ways, with the reverse of the graph, which is "
        "at hand and not counted.",
        "",
    ]
    rows = []
    for title in [options.graph, *options.more]:
        graph = check_graph(title)
        repeats = options.repeats if len(graph.indices) < 10_000_000 else 3
        graph.reverse  # noqa: B018, computed once and kept
        rows += [own_row(title, graph, name, options.ratio, repeats) for name in SAMPLERS]
        del graph
    head = ["graph", "sampler", "time", "vertices", "steps", "filled in", "edges", "memory"]
    write(options.out, [*lines, *table(head, rows, text_columns=2)])


if __name__ == "__main__":
    main()
