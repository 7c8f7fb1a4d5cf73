"""Do the intervals of sampled iterations hold on every graph, and not only in the mean?

    python -m benchmarks.intervals --keep FILE --out docs/studies/intervals.md

Ten graphs, ten seeds, all algorithms whose iterations are not given; the compiled run on the whole
graph says what is true. Rows are kept, so that the same command goes on where it was ended.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from predict_graph.algorithms import ALGORITHMS
from predict_graph.graph import check_graph
from predict_graph.prediction.request import direction

GRAPHS = (
    "web-NotreDame",
    "soc-Epinions1",
    "wiki-Vote",
    "p2p-Gnutella31",
    "uk-2007-05@100000",
    "email-Enron",
    "musae_git_edges.csv.gz",
    "gemsec_deezer_HU_edges.csv.gz",
    "musae_facebook_edges.csv.gz",
    "rmat:scale=15,edge_factor=12,seed=77",
)
GIVEN = ("triangle-count",)  # its supersteps are two, whatever the graph
SEEDS = 10
WIDE = (0.85, 0.97)  # of the intervals that should hold

Row = tuple[str, str, int, list[list[int]]]
"""Graph, algorithm, true iterations; and of each seed what is predicted, and the interval."""


def measured(graph: str, algorithm: str) -> Row:
    """Run, and predict with ten seeds, whatever that costs."""
    checked = ALGORITHMS.get(algorithm)
    path = Path(os.environ["PREDICT_GRAPH_DATA"]) / "graphs" / graph
    source = str(path) if graph.endswith(".gz") else graph
    whole = check_graph(source, directed=direction(checked(), None))
    true = predict_graph.run(algorithm, whole, history="none").iterations
    told = []
    for seed in range(SEEDS):
        found = predict_graph.predict(
            algorithm, whole, budget="none", seed=seed, history="none", probe=False
        ).iterations
        told.append([found.predicted, found.low, found.high])
    return graph, algorithm, true, told


def page(rows: Sequence[Row]) -> Iterator[str]:
    """Return the lines of the study."""
    yield "# Intervals of sampled iterations, graph by graph"
    yield ""
    yield __doc__.splitlines()[0]
    yield ""
    yield "    python -m benchmarks.intervals --keep FILE --out docs/studies/intervals.md"
    yield ""
    yield f"Iterations by samples alone (`--budget none`), {SEEDS} seeds; the truth is the run."
    yield "Each cell: true iterations; median of the predictions; how many of ten intervals held."
    yield ""
    graphs = [graph for graph in GRAPHS if any(row[0] == graph for row in rows)]
    short = [graph.partition("_edges")[0].partition(":")[0] for graph in graphs]
    yield "| algorithm | " + " | ".join(short) + " | all | graphs with 85% and more |"
    yield "|---" * (len(graphs) + 3) + "|"
    everything = []
    for algorithm in dict.fromkeys(row[1] for row in rows):
        cells, held = [], []
        for graph in graphs:
            own = [row for row in rows if row[:2] == (graph, algorithm)]
            if not own:
                cells.append("")
                continue
            _, _, true, told = own[0]
            inside = sum(low <= true <= high for _, low, high in told)
            held.append(inside / len(told))
            cells.append(f"{true}; {np.median([each[0] for each in told]):.0f}; {inside}")
        everything += held
        enough = sum(share >= WIDE[0] for share in held)
        yield (
            f"| {algorithm} | {' | '.join(cells)} | {np.mean(held):.0%} | {enough} of {len(held)} |"
        )
    enough = sum(share >= WIDE[0] for share in everything)
    yield ""
    yield (
        f"All: {np.mean(everything):.0%} of the intervals hold (bar: {WIDE[0]:.0%} to "
        f"{WIDE[1]:.0%} on each graph); {enough} of {len(everything)} rows have {WIDE[0]:.0%} "
        "and more."
    )
    yield ""


def main() -> None:
    """Measure what is not kept yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--algorithms", nargs="*")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = given.keep.read_text().splitlines() if given.keep.exists() else []
    rows: list[Any] = [json.loads(line) for line in lines]
    done = {(row[0], row[1]) for row in rows}
    names = given.algorithms or [name for name in ALGORITHMS.names() if name not in GIVEN]
    for algorithm in names:
        for graph in GRAPHS:
            if (graph, algorithm) in done:
                continue
            row = measured(graph, algorithm)
            rows.append(row)
            with given.keep.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row[:3], flush=True)
    text = "\n".join(page([(row[0], row[1], row[2], row[3]) for row in rows]))
    if given.out:
        given.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
