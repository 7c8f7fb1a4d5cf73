"""What a run costs before anything is known of it: iterations, and seconds an edge and iteration.

    python -m benchmarks.baseline --out docs/studies/baseline.md

Over graphs, the quartiles and extremes of what the baseline
estimate of a prediction is made of (predict_graph/prediction/baseline.py). The least of the repeats
counts: what disturbs one run seldom disturbs all.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence

import numpy as np

from benchmarks.common import study_parser, table, write
from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.hops import depth_of
from predict_graph.prediction.baseline import baselines_of
from predict_graph.prediction.request import direction

GRAPHS = (
    "web-NotreDame",
    "uk-2007-05@100000",
    "soc-Epinions1",
    "wiki-Vote",
    "p2p-Gnutella31",
    "email-Enron",
    "rmat:scale=14,edge_factor=16,seed=1",
    "rmat:scale=16,edge_factor=32,seed=1",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=20,edge_factor=8,seed=2",
    "barabasi-albert:n=100000,m=8,seed=1",
    "watts-strogatz:n=100000,k=8,p=0.05,seed=1",
    "grid:rows=150,columns=150",
)
MESHES = (
    "grid:rows=200,columns=200",
    "grid:rows=10,columns=3000",
    "watts-strogatz:n=20000,k=6,p=0.0005,seed=1",
    "wing",
    "graphs/road-sf.txt.gz",
    "graphs/mesh-fe_body.txt.gz",
    "graphs/power-activsg10k.txt.gz",
)


def measured(name: str, source: str, repeats: int) -> dict[str, float]:
    """Return iterations of a run, and seconds an edge of setting up and of an iteration."""
    algorithm = check_algorithm(name)
    graph = check_graph(source, directed=direction(algorithm, None), seed=1)
    engine = LocalEngine()
    runs = [engine.run(algorithm, graph.fresh()) for _ in range(repeats)]
    work = graph.edges + graph.vertices
    own = [
        (run.table.groupby("iteration")["seconds"].first().sum(), run.iterations) for run in runs
    ]
    setups = [
        run.phases["setup"] - (run.prior.phases["setup"] if run.prior else 0.0) for run in runs
    ]
    return {
        "edges": graph.edges,
        "iterations": own[0][1],
        "setup_ns": 1e9 * min(setups) / work,
        "iteration_ns": 1e9 * min(seconds / count for seconds, count in own) / work,
    }


def depths(graphs: Sequence[str]) -> list[str]:
    """Return the table of algorithms that go through the graph by hops."""
    lines = []
    for name in ALGORITHMS.names():
        algorithm = check_algorithm(name)
        if not algorithm.by_hops:
            continue
        usual, deep, seconds = [], [], []
        for source in graphs:
            folder = os.environ.get("PREDICT_GRAPH_DATA", ".")
            where = f"{folder}/{source}" if source.startswith("graphs/") else source
            graph = check_graph(where, directed=False, seed=1)
            run = LocalEngine().run(algorithm, graph)
            depth = depth_of(graph)
            (baseline,) = baselines_of(graph, [algorithm], None)
            if depth is None:
                continue
            own = run.table.groupby("iteration")["seconds"].first().sum()
            usual.append(math.log(run.iterations / algorithm.usual.iterations))
            deep.append(math.log(run.iterations / min(depth + 1, algorithm.max_iterations)))
            seconds.append(math.log(own / baseline.superstep_seconds))
        cells = [
            [f"{np.mean(each):+.2f}", f"{np.std(each):.2f}"] for each in (usual, deep, seconds)
        ]
        lines.append([name, str(len(deep)), *itertools.chain(*cells)])
    head = ["algorithm", "graphs", "iterations by medians: mean", "std", "by depth: mean", "std"]
    return table([*head, "seconds by depth: mean", "std"], lines)


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--algorithms", nargs="*", default=ALGORITHMS.names())
    parser.add_argument("--depths", action="store_true", help="the second table alone")
    options = parser.parse_args()
    lines = []
    for name in [] if options.depths else options.algorithms:
        rows = [measured(name, graph, options.repeats) for graph in options.graphs]
        cells = []
        for key in ("iterations", "setup_ns", "iteration_ns"):
            values = np.array([row[key] for row in rows])
            cells += [f"{np.median(values):.3g}", f"{values.min():.3g} to {values.max():.3g}"]
        lines.append([name, str(len(rows)), *cells])
        print(*lines[-1], flush=True)
    if lines:
        head = ["algorithm", "graphs", "iterations: median", "least to most", "setup ns: median"]
        head += ["least to most", "iteration ns: median", "least to most"]
        write(options.out, table(head, lines), "runs")
    write(options.out, depths((*GRAPHS, *MESHES)), "depths")


if __name__ == "__main__":
    main()
