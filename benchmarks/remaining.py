"""How good the remaining time of a run is, at a quarter, a half and three quarters of it.

    python -m benchmarks.remaining run NAME --out FILE.ndjson    one case, its line added
    python -m benchmarks.remaining report FILE.ndjson            docs/studies/remaining.md
    python -m benchmarks.remaining list

Each case runs twice: by what is known without any cost (a first guess, no history), and by what
``predict`` said before. At 25, 50 and 75% of the time that the run took in the end, what was shown
then is held against what was left. The error is a share of the whole run, signed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import predict_graph
from predict_graph.algorithms import check_algorithm
from predict_graph.clock import Moment
from predict_graph.graph import check_graph

PARTS = (0.25, 0.5, 0.75)
BARS = (0.08, 0.05, 0.03)
ABOUT = """\
Written by `python -m benchmarks.remaining report`. What the clock of `run` showed at 25, 50 and 75%
of the time that a run took in the end, less what was left: a share of the whole run, signed. *By*
says where the clock started: from a first guess, with no history, or from what `predict` said
before (default budget). The graph is in memory and compiled code is loaded; the run is all that is
then waited for: setting up, opening a Spark session, the supersteps, reading Spark's log. Spark is
one process with two threads; the machine has two cores and was shared by several people while this
ran, who slowed it down by factors: the same run took 5 and 18 s. No constant of the clock was
changed after these runs were seen.

The bars are for runs that last, and these are short: setting up is a quarter to a half of most of
them, and until the first superstep nothing corrects what was expected. Where few supersteps are
unlike each other (label propagation, components, top-k), a first guess, which has no shape, is no
use before the end. Runs of an hour, and Spark where no line has it, are not
measured.""".splitlines()

TARGET = Path(__file__).parents[1] / "docs" / "studies" / "remaining.md"

CASES: dict[str, dict[str, Any]] = {
    "local-pagerank-rmat": {
        "call": ("pagerank", "rmat:scale=20,edge_factor=16,seed=7"),
        "parameters": {"epsilon": 1e-8},
    },
    "local-pagerank-web": {
        "call": ("pagerank", "web-NotreDame"),
        "parameters": {"epsilon": 1e-9},
    },
    "local-semi-clustering": {
        "call": ("semi-clustering", "soc-Epinions1"),
        "parameters": {"tau": 1e-5},
    },
    "local-topk": {"call": ("topk-ranking", "rmat:scale=20,edge_factor=16,seed=7")},
    "local-neighborhood": {"call": ("neighborhood", "web-NotreDame")},
    "local-labels": {"call": ("label-propagation", "rmat:scale=20,edge_factor=16,seed=7")},
    "local-components": {"call": ("connected-components", "rmat:scale=21,edge_factor=8,seed=7")},
    "spark-pagerank": {
        "call": ("pagerank", "email-Enron"),
        "parameters": {"epsilon": 1e-4},
        "spark": 2,
    },
    "spark-pagerank-web": {"call": ("pagerank", "web-NotreDame"), "spark": 2},
    "spark-components": {"call": ("connected-components", "web-NotreDame"), "spark": 2},
    "spark-labels": {"call": ("label-propagation", "email-Enron"), "spark": 2},
    "spark-neighborhood": {"call": ("neighborhood", "soc-Epinions1"), "spark": 2},
    "spark-semi-clustering": {"call": ("semi-clustering", "wiki-Vote"), "spark": 2},
}


def measured(name: str, *, expect: bool) -> dict[str, Any]:
    """Run a case, and say how far off the clock was."""
    case = CASES[name]
    algorithm, graph = case["call"]
    options = {"parameters": case.get("parameters", {}), "history": "none"}
    if "spark" in case:
        from predict_graph.engines.spark import SparkEngine

        options["engine"] = SparkEngine(workers=case["spark"], memory="2g")
    # Read before, and with compiled code loaded: what is left is a run that lasts.
    whole_graph = check_graph(
        graph, directed=False if check_algorithm(algorithm).undirected else None
    )
    if "spark" not in case:
        predict_graph.run(algorithm, "rmat:scale=8,seed=1", history="none")
    found = None
    if expect:
        found = predict_graph.predict(algorithm, whole_graph, **options, seed=1)
    moments: list[Moment] = []
    profile = predict_graph.run(
        algorithm, whole_graph.fresh(), **options, progress=moments.append, expect=found
    )
    whole = moments[-1].elapsed
    return {
        "case": name,
        "algorithm": algorithm,
        "graph": graph,
        "engine": "spark" if "spark" in case else "local",
        "expected": "predict" if expect else "first guess",
        "iterations": profile.iterations,
        "seconds": whole,
        "first": (moments[0].first or 0.0) / whole - 1.0,
        "errors": [error_at(moments, whole, part) for part in PARTS],
        "inside": [inside_at(moments, whole, part) for part in PARTS],
        "overhead": 0.0 if found is None else found.overhead_seconds,
    }


def shown_at(moments: list[Moment], at: float) -> tuple[Moment | None, float]:
    """Return the last moment by then, and the seconds since."""
    before = [each for each in moments if each.elapsed <= at and each.remaining is not None]
    return (before[-1], at - before[-1].elapsed) if before else (None, 0.0)


def error_at(moments: list[Moment], whole: float, part: float) -> float | None:
    """Return what was shown less what was left, over the whole; None where nothing was shown."""
    moment, since = shown_at(moments, part * whole)
    if moment is None or moment.remaining is None:
        return None
    return (max(moment.remaining.predicted - since, 0.0) - (1.0 - part) * whole) / whole


def inside_at(moments: list[Moment], whole: float, part: float) -> bool | None:
    """Return whether what was left was in the interval that was shown."""
    moment, since = shown_at(moments, part * whole)
    if moment is None or moment.remaining is None:
        return None
    left = (1.0 - part) * whole
    return max(moment.remaining.low - since, 0.0) <= left <= moment.remaining.high - since


def report(rows: list[dict[str, Any]]) -> str:
    """Return the study."""
    lines = [
        "# How good the remaining time is",
        "",
        *ABOUT,
        "",
        "| case | by | supersteps | seconds | first prediction | at 25% | at 50% | at 75% |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [f"{error:+.0%}" if error is not None else "–" for error in row["errors"]]
        lines.append(
            f"| {row['engine']}: {row['algorithm']}, {row['graph']} | {row['expected']} "
            f"| {row['iterations']} | {row['seconds']:.1f} | {row['first']:+.0%} "
            f"| {' | '.join(cells)} |"
        )
    lines += [
        "",
        "| median error | runs | at 25% (bar 8%) | at 50% (bar 5%) | at 75% (bar 3%) |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind in ("first guess", "predict"):
        for engine in ("local", "spark", "both"):
            own = [
                row for row in rows if row["expected"] == kind and engine in (row["engine"], "both")
            ]
            if own:
                lines.append(f"| {kind}, {engine} | {len(own)} | {' | '.join(_medians(own))} |")
    told = [each for row in rows for each in row["inside"] if each is not None]
    lines += [
        "",
        f"What was left was inside the 90% interval that was shown in {sum(told)} of {len(told)} "
        "cases.",
        "",
    ]
    return "\n".join(lines)


def _medians(rows: list[dict[str, Any]]) -> list[str]:
    cells = []
    for number, bar in enumerate(BARS):
        errors = [abs(row["errors"][number]) for row in rows if row["errors"][number] is not None]
        middle = statistics.median(errors)
        cells.append(f"{middle:.1%}{'' if middle <= bar else ' (missed)'}")
    return cells


def main() -> None:
    """Run one case, or write the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report", "list"))
    parser.add_argument("name", nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--by", choices=("guess", "predict"), default="guess")
    given = parser.parse_args()
    if given.what == "list":
        print("\n".join(CASES))
    elif given.what == "run":
        row = measured(given.name, expect=given.by == "predict")
        print(json.dumps(row))
        with given.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    else:
        rows = [json.loads(line) for line in Path(given.name).read_text().splitlines()]
        TARGET.write_text(report(rows))


if __name__ == "__main__":
    main()
