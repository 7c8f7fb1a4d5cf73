"""How much better is a prediction that may cost more, and one that has seen runs before?

Each algorithm on each graph is run, predicted with each budget, and run again; the published method
is beside them, at several ratios. Then the same with the default budget and a history of runs of
other graphs. Cases are kept in a folder, so that the same command goes on where it was ended.

    PREDICT_GRAPH_DATA=… python -m benchmarks.budgets --keep FOLDER --out docs/studies/budgets.md
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import predict_graph
from benchmarks.common import Row, keep, kept, study_parser, table, write
from predict_graph.algorithms import ALGORITHMS
from predict_graph.graph import check_graph
from predict_graph.history import History

BUDGETS = ("1%", "2%", "5%", "10%", "1s", "10s", "60s", "none")
LEAST = "0.0001s"  # buys nothing: the baseline estimate
RATIOS = (0.01, 0.05, 0.1, 0.2)
SEEN = (0, 1, 2, 5, 10)
DEFAULT = "default"
LEVELS = (0.5, 0.9, 1.0)  # median, 90th percentile, worst
GRAPHS = (
    "web-NotreDame",
    "uk-2007-05@100000",
    "soc-Epinions1",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=20,edge_factor=16,seed=1",
    "barabasi-albert:n=300000,m=8,seed=1",
)
OTHERS = (
    "email-Enron",
    "wiki-Vote",
    "p2p-Gnutella31",
    "rmat:scale=14,edge_factor=12,seed=5",
    "rmat:scale=16,edge_factor=32,seed=6",
    "rmat:scale=17,edge_factor=8,seed=7",
    "barabasi-albert:n=50000,m=6,seed=8",
    "watts-strogatz:n=60000,k=8,p=0.1,seed=9",
    "grid:rows=300,columns=300",
    "rmat:scale=19,edge_factor=8,seed=10",
)
"""Runs that a history has seen, in this order; none is a graph that is predicted."""


def measured(name: str, graph: Any) -> Row:
    """Run a job."""
    profile = predict_graph.run(name, graph, history="none")
    return {"seconds": profile.runtime_seconds, "iterations": profile.iterations}


def predicted(name: str, graph: Any, seed: int, history: str = "none", **options: Any) -> Row:
    """Predict a job; what is predicted, and what it took."""
    started = time.perf_counter()
    found = predict_graph.predict(name, graph, seed=seed, history=history, **options)
    took = time.perf_counter() - started - found.loading_seconds
    runtime = found.runtime_seconds
    return {
        "predicted": runtime.predicted,
        "low": runtime.low,
        "high": runtime.high,
        "iterations_predicted": found.iterations.predicted,
        "took": took,
    }


def budget_rows(case: Row) -> Iterator[Row]:
    """Yield each budget and each ratio of the published method, between two real runs."""
    graph = check_graph(case["graph"], directed=case["directed"])
    name, seed = case["algorithm"], case["seed"]
    predicted(name, graph, seed)  # loads what is loaded once
    before = measured(name, graph)
    rows = [{**case, "way": way, **predicted(name, graph, seed, **by)} for way, by in ways()]
    after = measured(name, graph)
    seconds = (before["seconds"] + after["seconds"]) / 2
    for row in rows:
        yield {**row, "seconds": seconds, "iterations": before["iterations"]}


def ways() -> Iterator[tuple[str, Row]]:
    yield "baseline", {"budget": LEAST}
    for budget in BUDGETS:
        yield budget, {"budget": budget}
    yield DEFAULT, {}
    for ratio in RATIOS:
        yield f"published, {ratio:g}", {"method": "published", "ratio": ratio}


def history_rows(case: Row) -> Iterator[Row]:
    """Yield the default budget with a history of the first runs of the other graphs."""
    graph = check_graph(case["graph"], directed=case["directed"])
    name = case["algorithm"]
    predicted(name, graph, case["seed"])
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "history.sqlite")
        rows, seen = [], 0
        for count in SEEN:
            for source in OTHERS[seen:count]:
                other = check_graph(source, directed=case["directed"])
                predict_graph.run(name, other, history=history)
            seen = count
            copy = str(Path(folder) / f"{count}.sqlite")
            if count:
                shutil.copy(history.path, copy)
            found = predicted(name, graph, case["seed"], copy if count else "none")
            rows.append({**case, "way": f"{count}", **found})
    actual = measured(name, graph)
    for row in rows:
        yield {**row, **actual}


SECTIONS = {"budgets": budget_rows, "history": history_rows}


def cases(graphs: Sequence[str], algorithms: Sequence[str], seeds: int) -> Iterator[Row]:
    for graph in graphs:
        for algorithm in algorithms:
            undirected = ALGORITHMS.get(algorithm).undirected
            for seed in range(seeds):
                yield {
                    "graph": graph,
                    "algorithm": algorithm,
                    "seed": seed,
                    "directed": False if undirected else None,
                }


def summary(rows: pd.DataFrame, what: str, order: Sequence[str]) -> list[str]:
    """Return errors of runtime and iterations, the share inside, and the cost, a line a way."""
    lines = []
    for way, own in sorted(rows.groupby("way"), key=lambda one: order.index(str(one[0]))):
        errors = (own["predicted"] / own["seconds"] - 1).abs()
        rounds = (own["iterations_predicted"] / own["iterations"] - 1).abs()
        inside = own["seconds"].between(own["low"], own["high"]).mean()
        cost = own["took"] / own["seconds"]
        lines.append(
            [
                *(str(way), *(f"{errors.quantile(level):.0%}" for level in LEVELS)),
                *(f"{inside:.0%}", f"{rounds.median():.0%}", f"{rounds.max():.0%}"),
                *(f"{cost.median():.2f}", f"{cost.quantile(0.9):.2f}"),
                f"{own['took'].median():.2g}",
            ]
        )
    head = [what, "runtime: median", "90%", "worst", "in interval", "iterations: median", "worst"]
    return table([*head, "cost / run: median", "90%", "cost, s"], lines)


def page(folder: Path) -> Iterator[str]:
    """Yield the tables of all cases that are kept."""
    found = pd.DataFrame(kept(folder / "local-budgets.jsonl"))
    if len(found):
        large = found["seconds"] >= 1.0
        for title, own in (("a second or more", found[large]), ("less", found[~large])):
            if len(own):
                cases = own.groupby(["graph", "algorithm", "seed"]).ngroups
                yield from ("", f"## {cases} runs of {title}", "")
                yield from summary(own, "budget", [label for label, _ in ways()])
    seen = pd.DataFrame(kept(folder / "local-history.jsonl"))
    if len(seen):
        cases = seen.groupby(["graph", "algorithm", "seed"]).ngroups
        yield from ("", f"## Runs of other graphs in the history: default budget, {cases} runs", "")
        yield from summary(seen, "runs of the algorithm", [str(count) for count in SEEN])


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="folder of the cases")
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS.names()))
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for section in SECTIONS:
        file = arguments.keep / f"local-{section}.jsonl"
        done = {(row["graph"], row["algorithm"], row["seed"]) for row in kept(file)}
        for case in cases(arguments.graphs, arguments.algorithms, arguments.seeds):
            if (case["graph"], case["algorithm"], case["seed"]) not in done:
                print(section, *case.values(), file=sys.stderr, flush=True)
                keep(file, *SECTIONS[section](case))  # a case is kept whole, or not at all
    write(arguments.out, page(arguments.keep), "errors")


if __name__ == "__main__":
    main()
