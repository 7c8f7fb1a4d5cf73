"""How much better is a prediction that may cost more, and one that has seen runs before?

Each algorithm on each graph is run, predicted with each budget, and run again; the published method
is beside them, at several ratios, with what it costs. Then the same with the default budget and a
history of runs of 0, 1, 2, 5 and 10 other graphs. Rows are kept in a folder, so that the same
command goes on where it was ended.

    PREDICT_GRAPH_DATA=… python -m benchmarks.budgets --keep FOLDER --out docs/studies/budgets.md
    python -m benchmarks.budgets --keep FOLDER --engine spark --master URL --machines 2 \
        --learned history.sqlite --graphs web-NotreDame --section budgets
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import predict_graph
from predict_graph.algorithms import ALGORITHMS
from predict_graph.engines import ENGINES
from predict_graph.graph import check_graph
from predict_graph.history import History

BUDGETS = ("1%", "2%", "5%", "10%", "1s", "10s", "60s", "none")
LEAST = "0.0001s"  # buys nothing: a first guess
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

ABOUT = """\
In view of these rows what a run is guessed to take was [measured anew](first-guess.md): the guesses
were three to seventeen times too long, for label propagation most, since they had been made on a
busy machine and the kernels were made faster. The same thirty cases by default, since: of a second
and more off by 14% in the median and 90% at worst (13 and 972% before, asked again), 90% inside
(70%), for 0.04 of the run (0.17); of less 20 and 57% (40 and 146%), for 0.05 (0.07).

On Spark: two workers without a quota, nothing learned, beside other jobs of the machine, which may
be why 60 s of sample runs were worse than none for one of the two algorithms.
""".splitlines()

Row = dict[str, Any]


def measured(name: str, graph: Any, engine: Any) -> Row:
    profile = predict_graph.run(name, graph, engine=engine, history="none")
    return {"seconds": profile.runtime_seconds, "iterations": profile.iterations}


def asked(
    name: str, graph: Any, engine: Any, seed: int, history: str = "none", **options: Any
) -> Row:
    """Predict; what is said, and what it took."""
    started = time.perf_counter()
    found = predict_graph.predict(name, graph, engine=engine, seed=seed, history=history, **options)
    took = time.perf_counter() - started - found.loading_seconds
    runtime = found.runtime_seconds
    return {
        "predicted": runtime.predicted,
        "low": runtime.low,
        "high": runtime.high,
        "iterations_predicted": found.iterations.predicted,
        "method": found.method["name"],
        "took": took,
    }


def budget_rows(case: Row, engine: Any, learned: Path | None) -> Iterator[Row]:
    """Each budget and each ratio of the published method between two real runs."""
    graph = check_graph(case["graph"], directed=case["directed"])
    name = case["algorithm"]
    asked(name, graph, engine, case["seed"])  # loads what is loaded once
    before = measured(name, graph, engine)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for label, options in ways():
            history = "none"
            if learned is not None and "method" not in options:  # a copy: nothing is added to it
                history = str(Path(folder) / "history.sqlite")
                shutil.copy(learned, history)
            found = asked(name, graph, engine, case["seed"], history, **options)
            rows.append({**case, "way": label, **found})
    after = measured(name, graph, engine)
    for row in rows:
        yield {
            **row,
            "seconds": (before["seconds"] + after["seconds"]) / 2,
            "iterations": before["iterations"],
        }


def ways() -> Iterator[tuple[str, Row]]:
    yield "nothing", {"budget": LEAST}
    for budget in BUDGETS:
        yield budget, {"budget": budget}
    yield DEFAULT, {}
    for ratio in RATIOS:
        yield f"published, {ratio:g}", {"method": "published", "ratio": ratio}


def history_rows(case: Row, engine: Any, _: Path | None) -> Iterator[Row]:
    """The default budget with a history of the first runs of the other graphs."""
    graph = check_graph(case["graph"], directed=case["directed"])
    name = case["algorithm"]
    asked(name, graph, engine, case["seed"])
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "history.sqlite")
        rows, seen = [], 0
        for count in SEEN:
            for source in OTHERS[seen:count]:
                other = check_graph(source, directed=case["directed"])
                predict_graph.run(name, other, engine=engine, history=history)
            seen = count
            copy = str(Path(folder) / f"{count}.sqlite")
            if count:
                shutil.copy(history.path, copy)
            found = asked(name, graph, engine, case["seed"], copy if count else "none")
            rows.append({**case, "way": f"{count}", **found})
    actual = measured(name, graph, engine)
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


def table(rows: pd.DataFrame, by: list[str], order: Sequence[str]) -> Iterator[str]:
    """Errors of runtime and iterations, the share inside, and the cost, a line a way."""
    heads = ["runtime off by: median", "90%", "worst", "inside"]
    heads += ["iterations: median", "worst", "cost / run: median", "90%", "cost, s", "cases"]
    yield "| " + " | ".join([*by, *heads]) + " |"
    yield "|" + "---|" * len(by) + "---:|" * len(heads)
    known = {name: place for place, name in enumerate(order)}
    groups = sorted(rows.groupby(by), key=lambda one: (one[0][:-1], known[one[0][-1]]))
    for key, own in groups:
        off = (own["predicted"] / own["seconds"] - 1).abs()
        rounds = (own["iterations_predicted"] / own["iterations"] - 1).abs()
        inside = own["seconds"].between(own["low"], own["high"]).mean()
        cost = own["took"] / own["seconds"]
        yield (
            "| "
            + " | ".join(
                [
                    *key,
                    *(f"{off.quantile(level):.0%}" for level in LEVELS),
                    f"{inside:.0%}",
                    f"{rounds.median():.0%}",
                    f"{rounds.max():.0%}",
                    f"{cost.median():.2f}",
                    f"{cost.quantile(0.9):.2f}",
                    f"{own['took'].median():.2g}",
                    str(len(own)),
                ]
            )
            + " |"
        )


def page(kept: Path) -> str:
    """Return the page of all rows that are kept."""
    lines = [
        "# Error against cost",
        "",
        "What a larger budget buys, beside the published method (PREDIcT, section 4) at several "
        "ratios, and what runs that were seen before are worth. Truth is the mean of two runs, one "
        "before the predictions and one after; a cost is the time that a prediction took, loading "
        "compiled code and reading the graph excluded. *nothing* is a first guess.",
        "",
        "    python -m benchmarks.budgets --keep FOLDER --out docs/studies/budgets.md",
        "",
        *ABOUT,
        "",
    ]
    order = [label for label, _ in ways()]
    for engine in ("local", "spark"):
        found = read(kept, f"{engine}-budgets")
        if len(found):
            lines += [f"Graphs on {engine}: {', '.join(found['graph'].unique())}.", ""]
            large = found["seconds"] >= 1.0
            for title, own in (("a second or more", found[large]), ("less", found[~large])):
                if len(own):
                    cases = own.groupby(["graph", "algorithm", "seed"]).ngroups
                    lines += [f"## Budgets: {engine}, {cases} runs of {title}", ""]
                    lines += [*table(own, ["way"], order), ""]
            lines += [f"### {engine}, by algorithm", ""]
            few = found[found["way"].isin(["nothing", DEFAULT, "none", "published, 0.1"])]
            lines += [*table(few, ["algorithm", "way"], order), ""]
    seen = read(kept, "local-history")
    if len(seen):
        lines += ["## Runs of other graphs in the history, default budget", ""]
        lines += [*table(seen, ["way"], [str(count) for count in SEEN]), ""]
        lines += [*table(seen, ["algorithm", "way"], [str(count) for count in SEEN]), ""]
    return "\n".join(lines)


def read(kept: Path, name: str) -> pd.DataFrame:
    file = kept / f"{name}.jsonl"
    if not file.exists():
        return pd.DataFrame()
    return pd.DataFrame([json.loads(line) for line in file.read_text().splitlines()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--keep", type=Path, required=True, help="folder of the rows")
    parser.add_argument("--out", type=Path, help="Markdown file; it is printed either way")
    parser.add_argument("--section", nargs="*", choices=[*SECTIONS], default=[*SECTIONS])
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS.names()))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--engine", choices=["local", "spark"], default="local")
    parser.add_argument("--master")
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--learned", type=Path, help="history of a cluster that was learned")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    engine = ENGINES.get("local")()
    if arguments.engine == "spark":
        engine = ENGINES.get("spark")(master=arguments.master, workers=arguments.machines)
    for section in arguments.section:
        if section == "history" and arguments.engine == "spark":
            continue
        file = arguments.keep / f"{arguments.engine}-{section}.jsonl"
        done = read(arguments.keep, file.stem)
        known = set() if done.empty else {*zip(done.graph, done.algorithm, done.seed, strict=True)}
        for case in cases(arguments.graphs, arguments.algorithms, arguments.seeds):
            if (case["graph"], case["algorithm"], case["seed"]) in known:
                continue
            print(section, *case.values(), file=sys.stderr, flush=True)
            rows = [json.dumps(row) for row in SECTIONS[section](case, engine, arguments.learned)]
            with file.open("a") as kept:  # a case is kept whole, or not at all
                kept.write("\n".join(rows) + "\n")
    found = page(arguments.keep)
    print(found)
    if arguments.out:
        arguments.out.write_text(found)


if __name__ == "__main__":
    main()
