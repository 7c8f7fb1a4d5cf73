"""PageRank of the local engine beside scipy by hand, igraph and networkit; and the cost probe.

    python benchmarks/pagerank.py --out docs/studies/pagerank.md

Everyone runs on the same graph, in the same process, in turns; best of `--repeats`.
scipy by hand iterates as often as our engine did; igraph and networkit stop by a rule of their own
(igraph solves for a fixed precision of its own; networkit stops at an L1 change of N x tau).
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

# A script's own folder comes first on the path, where samplers.py would hide the package.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from predict_graph.algorithms import PageRank  # noqa: E402
from predict_graph.builtin.pagerank.probe import probe_cost  # noqa: E402
from predict_graph.engines.local import LocalEngine  # noqa: E402
from predict_graph.engines.local.team import available_threads  # noqa: E402
from predict_graph.files import written_beside  # noqa: E402
from predict_graph.graph import Graph  # noqa: E402
from predict_graph.graph.coerce import check_graph  # noqa: E402

DAMPING = 0.85
GRAPHS = (
    "web-NotreDame",
    "uk-2007-05@100000",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=20,edge_factor=16,seed=1",
    "rmat:scale=22,edge_factor=16,seed=1",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--epsilon", type=float, default=0.001)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--skip-others", action="store_true", help="only our engine and the probe")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    warm_up(arguments.threads)
    speeds, probes = [], []
    for source in arguments.graphs:
        graph = check_graph(source)
        probes.append(probe(graph, arguments))
        print(pd.Series(probes[-1]).to_string(), flush=True)
        if not arguments.skip_others:
            speeds.append(compare(graph, arguments))
            print(pd.Series(speeds[-1]).to_string(), flush=True)
    text = report(speeds, probes, arguments)
    if arguments.out:
        with written_beside(arguments.out) as beside:
            beside.write_text(text)
    else:
        print(text)


def warm_up(threads: int) -> None:
    """Load the compiled code, so that no figure contains it."""
    ring = sparse.csr_array(np.roll(np.eye(8), 1, axis=1))
    graph = Graph(ring.indptr.astype(np.int64), ring.indices.astype(np.int32), name="ring")
    LocalEngine(threads=threads).run(PageRank(), graph)
    probe_cost(graph, threads=threads)
    _ = graph.reverse


def compare(graph: Graph, arguments: argparse.Namespace) -> dict[str, object]:
    """Time everyone: seconds of the iterations alone, data structures built before."""
    algorithm = PageRank(epsilon=arguments.epsilon, damping=DAMPING)
    engine = LocalEngine(threads=arguments.threads)
    iterations = engine.run(algorithm, graph).iterations
    jobs = {
        "predict-graph": lambda: engine.run(algorithm, graph).phases["superstep"],
        "scipy": timed(scipy_pagerank(graph, iterations)),
        "igraph": timed(igraph_pagerank(graph)),
        "networkit": timed(networkit_pagerank(graph, arguments.epsilon, arguments.threads)),
    }
    # In turns, so that a busy moment of the machine hits everyone.
    rounds = [{name: job() for name, job in jobs.items()} for _ in range(arguments.repeats)]
    best = {name: min(times[name] for times in rounds) for name in jobs}
    return {
        "graph": graph.name,
        "vertices": graph.vertices,
        "edges": graph.edges,
        "iterations": iterations,
        **best,
        "ratio to the best": best["predict-graph"]
        / min(best["scipy"], best["igraph"], best["networkit"]),
    }


def timed(job: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        job()
        return time.perf_counter() - started

    return run


def scipy_pagerank(graph: Graph, iterations: int) -> Callable[[], object]:
    degrees = graph.out_degrees
    scale = np.where(degrees > 0, 1.0 / np.maximum(degrees, 1), 0.0)
    transition = sparse.csr_array(graph.reverse.to_scipy().astype(np.float64))
    dangling = np.flatnonzero(degrees == 0)
    n = graph.vertices

    def run() -> object:
        rank = np.full(n, 1.0 / n)
        for _ in range(iterations):
            base = (1.0 - DAMPING + DAMPING * rank[dangling].sum()) / n
            updated = DAMPING * (transition @ (rank * scale)) + base
            np.abs(updated - rank).mean()
            rank = updated
        return rank

    return run


def igraph_pagerank(graph: Graph) -> Callable[[], object]:
    import igraph

    rows = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
    pairs = np.column_stack([rows, graph.indices.astype(np.int64)])
    other = igraph.Graph(n=graph.vertices, edges=pairs, directed=True)
    return lambda: other.pagerank(damping=DAMPING)


def networkit_pagerank(graph: Graph, epsilon: float, threads: int) -> Callable[[], object]:
    import networkit

    networkit.setNumberOfThreads(threads)
    rows = np.repeat(np.arange(graph.vertices, dtype=np.uint64), graph.out_degrees)
    other = networkit.GraphFromCoo(
        (rows, graph.indices.astype(np.uint64)), n=graph.vertices, directed=True
    )
    other.indexEdges()

    def run() -> object:
        # Mean change below epsilon / N is an L1 change below epsilon.
        ranking = networkit.centrality.PageRank(other, damp=DAMPING, tol=epsilon)
        ranking.norm = networkit.centrality.Norm.L1_NORM
        return ranking.run()

    return run


def probe(graph: Graph, arguments: argparse.Namespace) -> dict[str, object]:
    """Compare what the probe says of an iteration with a real run."""
    algorithm = PageRank(epsilon=arguments.epsilon, damping=DAMPING)
    engine = LocalEngine(threads=arguments.threads)
    setup = engine.prepare(algorithm, graph)
    probes, runs = [], []
    for seed in range(arguments.repeats):
        probes.append(probe_cost(graph, random_state=seed, threads=arguments.threads))
        runs.append(engine.run(algorithm, graph))
    predicted = np.median([each.iteration_seconds(graph.vertices, graph.edges) for each in probes])
    actual = np.median([run.iteration_seconds.mean() for run in runs])
    return {
        "graph": graph.name,
        "edges": graph.edges,
        "predicted ms": 1e3 * float(predicted),
        "actual ms": 1e3 * float(actual),
        "error": float(predicted / actual) - 1.0,
        "first / mean": float(
            np.median([run.iteration_seconds[0] / run.iteration_seconds.mean() for run in runs])
        ),
        "ns an edge": 1e9 * float(actual) / max(graph.edges, 1),
        "probe ms": 1e3 * float(np.median([each.overhead_seconds for each in probes])),
        "setup ms": 1e3 * setup,
        "setup ns an edge": 1e9 * setup / max(graph.edges, 1),
        "run ms": 1e3 * float(np.median([run.phases["superstep"] for run in runs])),
    }


def report(
    speeds: list[dict[str, object]],
    probes: list[dict[str, object]],
    arguments: argparse.Namespace,
) -> str:
    lines = [
        "# PageRank on the local engine",
        "",
        f"    python benchmarks/pagerank.py {' '.join(sys.argv[1:])}",
        "",
        f"{arguments.threads} threads, {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}; load average {os.getloadavg()[0]:.1f} at the end.",
    ]
    if speeds:
        lines += [
            "",
            "Seconds of the iterations (structures built before), the best of the repeats. scipy "
            "runs as many iterations as we do, networkit stops at the same change, igraph solves "
            "to a precision of its own.",
            "",
            markdown(pd.DataFrame(speeds)),
        ]
    lines += [
        "",
        "What the cost probe (3 x 2% of the vertices) says of an iteration, the median of the "
        "repeats, beside the mean iteration of runs in turns with it. Setup builds the reverse "
        "graph and the arrays; the probe uses that reverse graph.",
        "",
        markdown(pd.DataFrame(probes)),
        "",
    ]
    return "\n".join(lines)


def markdown(table: pd.DataFrame) -> str:
    def shown(value: object) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    rows = [list(table.columns), ["---"] * len(table.columns)]
    rows += [[shown(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
