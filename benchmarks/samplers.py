"""The samplers of this project: time, edges touched, and memory beyond the graph.

    python -m benchmarks.samplers --out docs/studies/samplers.md

Graphs are read, and the reverse made where there is one, before.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from importlib import import_module

from benchmarks.common import machine, study_parser, table, write
from samplers import SAMPLERS


def own_row(title: str, graph, name: str, ratio: float, repeats: int) -> list[str]:
    """Return the row of one of our samplers: time, edges touched, memory beyond the graph."""
    module, _, attribute = SAMPLERS[name].partition(":")
    sampler = getattr(import_module(module), attribute)()
    sampler.sample(graph, ratio, 0)
    taken = []
    for seed in range(repeats):
        start = time.perf_counter()
        sampler.sample(graph, ratio, seed)
        taken.append(time.perf_counter() - start)
    seconds = statistics.median(taken)
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
    parser = study_parser(__doc__)
    usual = ["web-NotreDame", "soc-Epinions1", "rmat:scale=22,edge_factor=16,seed=1"]
    parser.add_argument("--graphs", nargs="*", default=usual)
    parser.add_argument("--ratio", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    from predict_graph.graph import check_graph

    rows = []
    for title in options.graphs:
        graph = check_graph(title)
        repeats = options.repeats if len(graph.indices) < 10_000_000 else 3
        graph.reverse  # noqa: B018, computed once and kept
        rows += [own_row(title, graph, name, options.ratio, repeats) for name in SAMPLERS]
        del graph
    head = ["graph", "sampler", "time", "vertices", "steps", "filled in", "edges", "memory"]
    measured = f"ratio {options.ratio:g}, {options.repeats} runs"
    write(options.out, [f"{machine()}, {time.strftime('%Y-%m-%d')}, {measured}."], "machine")
    write(options.out, table(head, rows, text_columns=2), "runs")


if __name__ == "__main__":
    main()
