"""The kernels of the local engine beside other programs that compute the same.

    python -m benchmarks.algorithms --out docs/studies/algorithms.md

All run on the same graph, in the same process, in turns, with structures built before; the best of
`--repeats` counts. A kernel goes superstep by superstep, as a distributed system does; scipy,
igraph and networkit may take shorter ways to the same result. Nothing known to us computes
semi-clusters or top-k rankings, so these only have the cost of a message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from benchmarks.common import machine, study_parser, table, write
from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.team import available_threads
from predict_graph.functions.subject import build
from predict_graph.graph import Graph, check_graph

GRAPHS = ("web-NotreDame", "uk-2007-05@100000", "rmat:scale=18,edge_factor=16,seed=1")
KERNELS = ("connected-components", "neighborhood", "topk-ranking", "semi-clustering")
OTHERS = ("scipy", "igraph", "networkit")
DAMPING, EPSILON = 0.85, 0.001

Job = Callable[[], Any]


def seconds_of(profile: RunProfile) -> float:
    """Return the seconds of the supersteps, without those of a prior."""
    return float(profile.iteration_seconds.sum())


def kernel_row(engine: LocalEngine, algorithm: Algorithm, graph: Graph, repeats: int) -> list[str]:
    """Return the cost of a message, from the fastest of some runs."""
    best = min((engine.run(algorithm, graph) for _ in range(repeats)), key=seconds_of)
    sent = best.features_total()
    messages = max(sent["local_messages"] + sent["remote_messages"], 1)
    size = (sent["local_message_bytes"] + sent["remote_message_bytes"]) / messages
    seconds = seconds_of(best)
    return [
        *(graph.name, algorithm.name, f"{graph.edges:,}", str(best.iterations), f"{messages:,}"),
        *(f"{size:.3g}", f"{seconds:.3g}", f"{1e9 * seconds / messages:.3g}"),
    ]


def compared(
    engine: LocalEngine, algorithm: Algorithm, graph: Graph, jobs: dict[str, Job], repeats: int
) -> list[str]:
    """Return the best seconds of the kernel and of each other program, which take turns."""
    taken: dict[str, list[float]] = {}
    for _ in range(repeats):
        run = engine.run(algorithm, graph)
        taken.setdefault("ours", []).append(seconds_of(run))
        for name, job in jobs.items():
            started = time.perf_counter()
            job()
            taken.setdefault(name, []).append(time.perf_counter() - started)
    cells = [f"{min(taken[name]):.3g}" if name in taken else "" for name in ("ours", *OTHERS)]
    return [algorithm.name, graph.name, f"{graph.edges:,}", str(run.iterations), *cells]


def comparisons(source: str, engine: LocalEngine, repeats: int) -> Iterator[list[str]]:
    """Yield the rows of one graph: PageRank, connected components, neighborhood."""
    import networkit

    graph = check_graph(source)
    algorithm = check_algorithm("pagerank", {"epsilon": EPSILON, "damping": DAMPING})
    other = build(graph, "networkit")
    other.indexEdges()
    jobs: dict[str, Job] = {
        "scipy": scipy_pagerank(graph, engine.run(algorithm, graph).iterations),
        "igraph": partial(build(graph, "igraph").pagerank, damping=DAMPING),
        "networkit": lambda: networkit_pagerank(other),
    }
    yield compared(engine, algorithm, graph, jobs, repeats)
    graph, components = check_graph(source, directed=False), check_algorithm(KERNELS[0])
    matrix, undirected = graph.to_scipy(), build(graph, "networkit")
    jobs = {
        "scipy": lambda: csgraph.connected_components(matrix, directed=False),
        "igraph": build(graph, "igraph").connected_components,
        "networkit": lambda: networkit.components.ParallelConnectedComponents(undirected).run(),
    }
    yield compared(engine, components, graph, jobs, repeats)
    labels = engine.run(components, graph).values  # networkit takes connected graphs
    graph = graph.subgraph(np.flatnonzero(labels == np.bincount(labels).argmax()))
    diameter = networkit.distance.EffectiveDiameterApproximation(build(graph, "networkit"), 0.9, 64)
    jobs = {"networkit": diameter.run}
    registers = check_algorithm("neighborhood", {"registers": 64})
    yield compared(engine, registers, graph, jobs, repeats)


def scipy_pagerank(graph: Graph, iterations: int) -> Job:
    """Return PageRank by products of sparse matrices, of as many iterations."""
    degrees, n = graph.out_degrees, graph.vertices
    scale = np.where(degrees > 0, 1.0 / np.maximum(degrees, 1), 0.0)
    transition = sparse.csr_array(graph.reverse.to_scipy().astype(np.float64))
    dangling = np.flatnonzero(degrees == 0)

    def run() -> Any:
        rank = np.full(n, 1.0 / n)
        for _ in range(iterations):
            base = (1.0 - DAMPING + DAMPING * rank[dangling].sum()) / n
            updated = DAMPING * (transition @ (rank * scale)) + base
            np.abs(updated - rank).mean()
            rank = updated
        return rank

    return run


def networkit_pagerank(graph: Any) -> None:
    """Stop at the same change: a mean below epsilon / N is an L1 norm below epsilon."""
    import networkit

    ranking = networkit.centrality.PageRank(graph, damp=DAMPING, tol=EPSILON)
    ranking.norm = networkit.centrality.Norm.L1_NORM
    ranking.run()


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=available_threads())
    given = parser.parse_args()
    import networkit

    engine = LocalEngine(threads=given.threads)
    networkit.setNumberOfThreads(given.threads)
    kernels, rows = [], []
    for source in given.graphs:
        for algorithm in map(check_algorithm, KERNELS):
            graph = check_graph(source, directed=False if algorithm.undirected else None)
            kernels.append(kernel_row(engine, algorithm, graph, given.repeats))
        rows += comparisons(source, engine, given.repeats)
        rows.sort(key=lambda row: row[0])
        print(*kernels[-len(KERNELS) :], *rows[-3:], sep="\n", flush=True)
    said = f"{given.threads} threads, {machine()}; the best of {given.repeats} runs."
    write(given.out, [said], "machine")
    head = ["graph", "algorithm", "edges", "iterations", "messages", "bytes a message"]
    head += ["supersteps, s", "ns a message"]
    write(given.out, table(head, kernels, text_columns=2), "kernels")
    head = ["algorithm", "graph", "edges", "iterations", "predict-graph", *OTHERS]
    write(given.out, table(head, rows, text_columns=2), "programs")


if __name__ == "__main__":
    main()
