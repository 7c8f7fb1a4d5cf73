"""The samplers of this project: time, edges touched, and memory beyond the graph.

    python benchmarks/samplers.py --out docs/studies/samplers.md

Graphs are read, and the reverse made where there is one, before.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

# A script's own folder comes first on the path, where this file would hide the package.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from benchmarks.common import table, write  # noqa: E402
from samplers import SAMPLERS  # noqa: E402


def median_seconds(job: Callable[[int], object], repeats: int) -> float:
    """Return the median wall time of `job`, which is given the number of the run as a seed."""
    seconds = []
    for seed in range(repeats):
        start = time.perf_counter()
        job(seed)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def own_row(title: str, graph: object, name: str, ratio: float, repeats: int) -> list[str]:
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
        *(title, name, f"{1e3 * seconds:.1f} ms", str(len(sample)), str(sample.steps)),
        *(str(sample.unreached), f"{sample.edges_scanned / max(1, len(graph.indices)):.0%}"),
        f"{1 + peak / size:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = ["web-NotreDame", "soc-Epinions1", "rmat:scale=22,edge_factor=16,seed=1"]
    parser.add_argument("--graphs", nargs="*", default=usual)
    parser.add_argument("--ratio", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the table to this file")
    options = parser.parse_args()

    from predict_graph.graph import check_graph

    lines = [
        "# Samplers",
        "",
        f"`python benchmarks/samplers.py`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}. Sampling ratio "
        f"{options.ratio:g}, median of {options.repeats} runs of different seeds "
        "(graphs of ten million edges and more: 3), compilation excluded.",
        "",
        "Vertices only, default options. *Edges* is the share of the graph's edges that leave the "
        "sampled vertices; *memory* is the peak during sampling over that of the graph, the graph "
        "included. mhrw walks a directed graph both ways, with the reverse of the graph, which is "
        "at hand and not counted.",
        "",
    ]
    rows = []
    for title in options.graphs:
        graph = check_graph(title)
        repeats = options.repeats if len(graph.indices) < 10_000_000 else 3
        graph.reverse  # noqa: B018, computed once and kept
        rows += [own_row(title, graph, name, options.ratio, repeats) for name in SAMPLERS]
        del graph
    head = ["graph", "sampler", "time", "vertices", "steps", "filled in", "edges", "memory"]
    write(options.out, [*lines, *table(head, rows, text_columns=2)])


if __name__ == "__main__":
    main()
