"""How accurate is the remaining time of a local run, at a quarter, a half and three quarters of it?

    python -m benchmarks.remaining --keep FILE --out docs/studies/remaining.md

Each case runs twice: from what is known without any cost (the baseline estimate, no history), and
from what ``predict`` predicted before. At parts of the time that the run took in the end, what was
shown is compared with what was left. The error is a share of the whole run, signed.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import Row, keep, kept, study_parser, table, write
from predict_graph import predict, run
from predict_graph.algorithms import check_algorithm
from predict_graph.clock.moment import Moment
from predict_graph.graph import check_graph

PARTS = (0.25, 0.5, 0.75)
CASES: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("pagerank", "rmat:scale=22,edge_factor=16,seed=7", {"epsilon": 1e-9}),
    ("label-propagation", "rmat:scale=22,edge_factor=8,seed=7", {}),
    ("neighborhood", "rmat:scale=21,edge_factor=16,seed=7", {}),
    ("topk-ranking", "rmat:scale=22,edge_factor=16,seed=7", {}),
    ("triangle-count", "rmat:scale=20,edge_factor=16,seed=7", {}),
    ("semi-clustering", "web-NotreDame", {}),
)
STARTS = ("baseline", "predict")


def measured(number: int, start: str) -> Row:
    """Run a case, with what its clock said."""
    algorithm, source, parameters = CASES[number]
    options: dict[str, Any] = {"parameters": parameters, "history": "none"}
    # Read before, and with compiled code loaded: what is left is a run that lasts.
    graph = check_graph(source, directed=False if check_algorithm(algorithm).undirected else None)
    run(algorithm, "rmat:scale=8,seed=1", history="none")
    found = predict(algorithm, graph, **options, seed=1) if start == "predict" else None
    moments: list[Moment] = []
    profile = run(algorithm, graph.fresh(), **options, progress=moments.append, expect=found)
    whole = moments[-1].elapsed
    return {
        "case": number,
        "start": start,
        "iterations": profile.iterations,
        "seconds": whole,
        "errors": [error_at(moments, whole, part) for part in PARTS],
    }


def error_at(moments: Sequence[Moment], whole: float, part: float) -> float | None:
    """Return what was shown less what was left, over the whole; None where nothing was shown."""
    at = part * whole
    before = [each for each in moments if each.elapsed <= at and each.remaining is not None]
    if not before or before[-1].remaining is None:
        return None
    since = at - before[-1].elapsed
    return (max(before[-1].remaining.predicted - since, 0.0) - (1.0 - part) * whole) / whole


def report(rows: list[Row]) -> list[str]:
    """Return the table of the study."""
    cells = []
    for row in rows:
        algorithm, graph, _ = CASES[row["case"]]
        errors = ["–" if error is None else f"{error:+.0%}" for error in row["errors"]]
        cells.append([algorithm, graph, row["start"], f"{row['seconds']:.1f}", *errors])
    for start in STARTS:
        own = [row["errors"] for row in rows if row["start"] == start]
        known = [[abs(e) for e in column if e is not None] for column in zip(*own, strict=True)]
        middle = [f"{statistics.median(each):.0%}" for each in known]
        cells.append(["median size", "", start, "", *middle])
    head = ["algorithm", "graph", "start", "run, s", *(f"at {part:.0%}" for part in PARTS)]
    return table(head, cells, text_columns=3)


def main() -> None:
    """Run the cases that are not kept yet, and write the study."""
    parser = study_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True)
    given = parser.parse_args()
    done = {(row["case"], row["start"]) for row in kept(given.keep)}
    for number in range(len(CASES)):
        for start in STARTS:
            if (number, start) not in done:
                keep(given.keep, measured(number, start))
    write(given.out, report(kept(given.keep)), "errors")


if __name__ == "__main__":
    main()
