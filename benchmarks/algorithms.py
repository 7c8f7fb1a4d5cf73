"""The kernels of the local engine beside what else computes the same.

    python -m benchmarks.algorithms --out docs/studies/algorithms.md

Everyone runs on the same graph, in the same process, in turns, with structures built before; best
of `--repeats`. A kernel goes superstep by superstep, as a distributed system does, and counts
nothing while it is timed; igraph, networkit and scipy may take shorter ways to the same result.
Nothing known to us computes semi-clusters or top-k rankings, so what stands beside these is what a
message costs.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csgraph

from predict_graph.algorithms import (
    Algorithm,
    ConnectedComponents,
    Neighborhood,
    SemiClustering,
    TopKRanking,
)
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.team import available_threads
from predict_graph.files import written_beside
from predict_graph.graph import Graph, check_graph

GRAPHS = ("web-NotreDame", "uk-2007-05@100000", "rmat:scale=18,edge_factor=16,seed=1")
ALGORITHMS: tuple[Algorithm, ...] = (
    ConnectedComponents(),
    Neighborhood(),
    TopKRanking(),
    SemiClustering(),
)

Job = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    engine = LocalEngine(threads=arguments.threads)
    kernels: list[dict[str, object]] = []
    components: list[dict[str, object]] = []
    neighborhoods: list[dict[str, object]] = []
    for source in arguments.graphs:
        directed, undirected = check_graph(source), check_graph(source, directed=False)
        for algorithm in ALGORITHMS:
            graph = undirected if algorithm.undirected else directed
            kernels.append(kernel_row(engine, algorithm, graph, arguments.repeats))
            print(kernels[-1], flush=True)
        components.append(components_row(engine, undirected, arguments))
        print(components[-1], flush=True)
        neighborhoods.append(neighborhood_row(engine, undirected, arguments))
        print(neighborhoods[-1], flush=True)
    text = report(kernels, components, neighborhoods, arguments)
    if arguments.out is None:
        print(text)
        return
    with written_beside(arguments.out) as beside:
        beside.write_text(text)


def kernel_row(
    engine: LocalEngine, algorithm: Algorithm, graph: Graph, repeats: int
) -> dict[str, object]:
    """Run a kernel; the fastest run of all."""
    runs, walls = [], []
    for _ in range(repeats):
        seconds, profile = timed(lambda: engine.run(algorithm, graph))
        runs.append(profile)
        walls.append(seconds)
    best = min(runs, key=own_seconds)
    sent = best.features_total()
    messages = sent["local_messages"] + sent["remote_messages"]
    size = (sent["local_message_bytes"] + sent["remote_message_bytes"]) / max(messages, 1)
    return {
        "graph": graph.name,
        "algorithm": algorithm.name,
        "edges": graph.edges,
        "iterations": best.iterations,
        "messages": messages,
        "bytes a message": size,
        "supersteps s": own_seconds(best),
        "ns a message": 1e9 * own_seconds(best) / max(messages, 1),
        "prior s": 0.0 if best.prior is None else best.prior.phases["superstep"],
        "setup s": best.phases["setup"],
        "whole call s": min(walls),
    }


def components_row(
    engine: LocalEngine, graph: Graph, arguments: argparse.Namespace
) -> dict[str, object]:
    """Time everyone who finds connected components, and see that all find as many."""
    import networkit

    of_igraph, of_networkit = igraph_graph(graph), networkit_graph(graph, arguments.threads)
    matrix = graph.to_scipy()
    algorithm = ConnectedComponents()
    profile = engine.run(algorithm, graph)

    def networkit_components() -> Any:
        return networkit.components.ParallelConnectedComponents(of_networkit).run()

    jobs: dict[str, Job] = {
        "numpy, same supersteps": lambda: numpy_propagation(graph),
        "scipy": lambda: csgraph.connected_components(matrix, directed=False),
        "igraph": of_igraph.connected_components,
        "networkit": networkit_components,
    }
    found = {
        profile.result["components"],
        len(np.unique(jobs["numpy, same supersteps"]())),
        jobs["scipy"]()[0],
        len(jobs["igraph"]()),
        networkit_components().numberOfComponents(),
    }
    if len(found) != 1:
        sys.exit(f"{graph.name}: different numbers of components: {found}")
    seconds = in_turns(engine, algorithm, graph, jobs, arguments.repeats)
    return {
        "graph": graph.name,
        "edges": graph.edges,
        "components": found.pop(),
        "iterations": profile.iterations,
        **seconds,
    }


def neighborhood_row(
    engine: LocalEngine, graph: Graph, arguments: argparse.Namespace
) -> dict[str, object]:
    """Time everyone who estimates neighbourhoods on the largest component.

    networkit takes no other graph. All keep 64 estimators a vertex: bytes of HyperLogLog in the
    kernel and in numpy, bit strings of Flajolet and Martin in networkit's ANF.
    """
    import networkit

    graph = largest_component(engine, graph)
    of_networkit = networkit_graph(graph, arguments.threads)
    algorithm = Neighborhood(registers=64)
    profile = engine.run(algorithm, graph)
    anf = networkit.distance.EffectiveDiameterApproximation(of_networkit, 0.9, 64)
    seconds = in_turns(engine, algorithm, graph, {"networkit ANF": anf.run}, arguments.repeats)
    by_hand, _ = timed(lambda: numpy_counters(graph, profile.iterations))
    return {
        "largest component of": graph.name,
        "vertices": graph.vertices,
        "edges": graph.edges,
        "iterations": profile.iterations,
        "effective diameter": profile.result["effective_diameter"],
        "networkit's": float(anf.getEffectiveDiameter()),
        **seconds,
        "numpy, same supersteps": by_hand,
    }


def in_turns(
    engine: LocalEngine, algorithm: Algorithm, graph: Graph, jobs: dict[str, Job], repeats: int
) -> dict[str, float]:
    """Return the best seconds of the kernel and of each job, which take turns."""
    rounds = [
        {
            "predict-graph": own_seconds(engine.run(algorithm, graph)),
            **{name: timed(job)[0] for name, job in jobs.items()},
        }
        for _ in range(repeats)
    ]
    return {name: min(each[name] for each in rounds) for name in rounds[0]}


def own_seconds(profile: RunProfile) -> float:
    """Return the seconds of the supersteps, without those of a prior."""
    return float(profile.iteration_seconds.sum())


def timed(job: Job) -> tuple[float, Any]:
    started = time.perf_counter()
    result = job()
    return time.perf_counter() - started, result


def numpy_propagation(graph: Graph) -> Any:
    """Propagate smallest ids with one pass of numpy over all edges a superstep."""
    labels = np.arange(graph.vertices, dtype=graph.indices.dtype)
    rows = np.flatnonzero(graph.out_degrees)
    starts = graph.indptr[rows]
    while True:
        heard = np.minimum.reduceat(labels[graph.indices], starts)
        following = labels.copy()
        following[rows] = np.minimum(labels[rows], heard)
        if np.array_equal(following, labels):
            return labels
        labels = following


def numpy_counters(graph: Graph, iterations: int) -> Any:
    """Take the maximum of 64 bytes of all in-neighbours, so many times."""
    reverse, rng = graph.reverse, np.random.default_rng(0)
    n = graph.vertices
    counters = np.zeros((n, 64), np.uint8)
    counters[np.arange(n), rng.integers(0, 64, n)] = rng.geometric(0.5, n)
    rows = np.flatnonzero(reverse.out_degrees)
    starts = reverse.indptr[rows]
    for _ in range(iterations):
        heard = np.maximum.reduceat(counters[reverse.indices], starts, axis=0)
        following = counters.copy()
        following[rows] = np.maximum(counters[rows], heard)
        np.count_nonzero((following != counters).any(axis=1))
        counters = following
    return counters


def largest_component(engine: LocalEngine, graph: Graph) -> Graph:
    labels = engine.run(ConnectedComponents(), graph).values
    return graph.subgraph(np.flatnonzero(labels == np.bincount(labels).argmax()))


def half_of_the_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return sources and targets of an undirected graph, each edge once."""
    rows = np.repeat(np.arange(graph.vertices, dtype=graph.indices.dtype), graph.out_degrees)
    once = rows <= graph.indices
    return rows[once], graph.indices[once]


def igraph_graph(graph: Graph) -> Any:
    import igraph

    pairs = np.column_stack(half_of_the_edges(graph)).astype(np.int64)
    return igraph.Graph(n=graph.vertices, edges=pairs)


def networkit_graph(graph: Graph, threads: int) -> Any:
    import networkit

    networkit.setNumberOfThreads(threads)
    rows, targets = (ends.astype(np.uint64) for ends in half_of_the_edges(graph))
    return networkit.GraphFromCoo((rows, targets), n=graph.vertices, directed=False)


def report(
    kernels: list[dict[str, object]],
    components: list[dict[str, object]],
    neighborhoods: list[dict[str, object]],
    arguments: argparse.Namespace,
) -> str:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lines = [
        "# The kernels of the local engine",
        "",
        f"    python -m benchmarks.algorithms {' '.join(sys.argv[1:])}".rstrip(),
        "",
        f"{arguments.threads} threads, {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}; load average {os.getloadavg()[0]:.1f} at the end; "
        f"peak memory of the process {peak:.2g} GiB. The best of {arguments.repeats} runs.",
        "",
        "## What a message costs",
        "",
        "Parameters are the defaults. A message is counted on each edge of a vertex that sends, so "
        "a kernel that pulls, or that leaves out what cannot matter, may touch fewer. `prior` is "
        "the PageRank that top-k ranking runs first; the whole call adds setup, counting and the "
        "figures of the result.",
        "",
        markdown(kernels),
        "",
        "## Connected components",
        "",
        "Seconds, structures built before. The kernel sends labels superstep by superstep; scipy "
        "and igraph search once through the graph; networkit is its `ParallelConnectedComponents`. "
        "numpy does the same supersteps as the kernel, over all edges. All found as many "
        "components.",
        "",
        markdown(components),
        "",
        "## Neighborhood estimation",
        "",
        "Seconds, structures built before. networkit's approximate neighbourhood function takes "
        "connected graphs only, so all get the largest component. All keep 64 estimators a vertex. "
        "The effective diameter is a mean over vertices in networkit and a quantile over pairs "
        "here, so figures differ. numpy, which ran once, gathers the counters of all in-neighbours "
        "in each superstep; the kernel those of vertices that changed.",
        "",
        markdown(neighborhoods),
        "",
    ]
    return "\n".join(lines)


def markdown(records: list[dict[str, object]]) -> str:
    def shown(value: object) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    table = pd.DataFrame(records)
    rows = [list(table.columns), ["---"] * len(table.columns)]
    rows += [[shown(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
