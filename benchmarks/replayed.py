"""What does the code as it is say of runs on Spark that an earlier campaign made?

Each case that `benchmarks.long_runs run --keep DIR` kept is predicted again, from the history as it
was before its run: bytes that leave a machine, and seconds. Nothing runs on Spark. In view of such
rows code may have been changed, which a page that shows them has to say.

    python -m benchmarks.replayed --keep DIR DIR --out docs/studies/record-bytes.md
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import predict_graph
from benchmarks.long_runs import parameters_of
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.history import History

Row = dict[str, Any]
REMOTE = "remote_message_bytes"
SAMPLED = ("semi-clustering",)

ABOUT = """\
Written by `python -m benchmarks.replayed`. Runs of [longer runs on Spark](long-runs.md), predicted
again by the code as it is from the history as it was before each of them. *Then* is what was said
before the run; since, records are encoded and compressed here, from the messages of the graph
itself after 0, 2, 6 and 14 supersteps, as far as the budget goes; not those of semi-clustering.
What Spark does to a row was taken from its format; the order of blocks, which decides how labels
compress, was found in the rows after the first seven. Errors are predicted / actual - 1; *cost* is
what the prediction took over the run.""".splitlines()


def replayed(folder: Path) -> Iterator[Row]:
    """Predict each case of a campaign again."""
    history = History(folder / "history.sqlite")
    runs = history.runs()
    real = runs[runs["kind"] == "run"].sort_values("time")
    for line in (folder / "cases.ndjson").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        same = (real["algorithm"] == case["algorithm"]) & (real["graph"] == case["graph"])
        before = real[same].iloc[0]["time"]
        with tempfile.TemporaryDirectory() as scratch:
            known = Path(scratch) / "history.sqlite"
            shutil.copy(history.path, known)
            with closing(sqlite3.connect(known)) as store, store:
                later = [(int(each),) for each in runs.loc[runs["time"] >= before, "id"]]
                store.executemany("DELETE FROM runs WHERE id = ?", later)
            yield {**case, "again": _predicted(case, known)}


def _predicted(case: Row, history: Path) -> Row:
    undirected = check_algorithm(case["algorithm"]).undirected
    told = case["prediction"]["engine"]
    found = predict_graph.predict(
        case["algorithm"],
        check_graph(case["graph"], directed=False if undirected else None),
        parameters=parameters_of(case["case"]),
        engine=SparkEngine(told["master"], case["machines"], memory=told["memory"]),
        history=str(history),
        seed=1,
    )
    return {
        "seconds": found.runtime_seconds.predicted,
        "low": found.runtime_seconds.low,
        "high": found.runtime_seconds.high,
        REMOTE: found.features_total()[REMOTE],
        "took": found.overhead_seconds,
    }


def report(rows: list[Row]) -> str:
    """Return the page."""
    lines = ["# Bytes of records, and runs predicted again", "", *ABOUT, ""]
    lines += [
        "| algorithm | graph | machines x cores | remote bytes: then | now | runtime: then | now "
        "| cost then | now |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        then = row["errors"]
        cost = row["prediction"]["overhead"]["seconds"] / row["seconds"]
        again = row["again"]["seconds"] / row["seconds"] - 1
        lines.append(
            f"| {row['algorithm']} | {row['graph']} | {row['machines']} x {row['cpu'] or 1:g} "
            f"| {then['features_total'][REMOTE]:+.1%} | {_bytes_error(row):+.1%} "
            f"| {then['runtime_seconds']:+.1%} | {again:+.1%} "
            f"| {cost:.1%} | {row['again']['took'] / row['seconds']:.1%} |"
        )
    lines += ["", "| remote bytes, without their sign | runs | then: median, worst | now |"]
    lines += ["|---|---:|---:|---:|"]
    for title, own in (
        ("encoded", [row for row in rows if row["algorithm"] not in SAMPLED]),
        ("by samples", [row for row in rows if row["algorithm"] in SAMPLED]),
        ("all", rows),
    ):
        then = [abs(row["errors"]["features_total"][REMOTE]) for row in own]
        now = [abs(_bytes_error(row)) for row in own]
        if own:
            lines.append(f"| {title} | {len(own)} | {_spread(then)} | {_spread(now)} |")
    return "\n".join(lines) + "\n"


def _bytes_error(row: Row) -> float:
    return float(row["again"][REMOTE] / row["totals"][1][REMOTE] - 1.0)


def _spread(errors: list[float]) -> str:
    return f"{statistics.median(errors):.1%}, {max(errors):.1%}"


def main() -> None:
    """Predict kept runs again, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for folder in given.keep:
        for row in replayed(folder):
            rows.append(row)
            print(row["case"], f"{_bytes_error(row):+.1%}", file=sys.stderr, flush=True)
    text = report(rows)
    if given.out is None:
        sys.stdout.write(text)
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
