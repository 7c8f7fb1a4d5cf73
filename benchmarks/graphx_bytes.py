"""How well are the bytes told that supersteps of GraphX read, encoded here or by sample runs?

Runs on two executors of one machine; a line of JSON each is kept in a file, and those in it are not
run again. Each is then told by the shipped lessons alone, and by what is encoded.

    python -m benchmarks.graphx_bytes --keep FILE --out docs/studies/graphx-bytes.md
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predict_graph.engines import FULL
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.errors import PredictGraphError
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function
from predict_graph.prediction.seconds.cluster.encoded_exchanges import exchanged_bytes
from predict_graph.prediction.seconds.cluster.library_work import bytes_read, library_rows
from predict_graph.prediction.seconds.cluster.shipped_lessons import shipped_runs

Row = dict[str, Any]
PARTITIONS = 2  # a choice: one machine with two cores
DEVELOPED_ON = ("email-Enron", "rmat:scale=16,edge_factor=8,seed=7")
OTHERS = (
    *("soc-Epinions1", "web-NotreDame", "p2p-Gnutella31", "uk-2007-05@100000"),
    *("rmat:scale=17,edge_factor=16,seed=5", "rmat:scale=18,edge_factor=16,seed=6"),
)
JOBS: tuple[tuple[str, Row], ...] = (
    ("connectedComponents", {}),
    ("pageRank", {"numIter": 5}),
    ("pageRank", {"tol": 0.01}),
    ("personalizedPageRank", {"numIter": 5}),
    ("personalizedPageRank", {"tol": 0.001}),
    ("shortestPaths", {}),
    ("labelPropagation", {"maxSteps": 4}),
)

ABOUT = """\
Written by `python -m benchmarks.graphx_bytes`. Bytes that other executors send, of a whole run on
two executors of one machine, each with one core: predicted / actual - 1. *By lessons*: records,
entries and copies are counted exactly, and their bytes fitted to the shipped sample runs, which are
of other graphs (and of other parameters: ranks by rounds are told by ranks until they change less).
*Encoded*: what partitions send each other in some supersteps is made here as GraphX and Spark write
it, and compressed. *Takes* is the processor time of that on a machine that was busy with other
work. The code was developed on the first graphs; the others were run and told after it was done,
but for the share of ranks that still change after three rounds (p2p-Gnutella31), and for how blocks
of long streams of maps are chosen (web-NotreDame). Runs that were too long are left out.

What is left is mostly Spark's, as far as the sizes of single supersteps tell: where two stages ask
for the same partition at the same time, both read what it is made of. So it seems to be with the
routing tables in the first superstep of some runs, and with label propagation of web-NotreDame,
where the second and third superstep read about half of the messages once more; the other supersteps
of these runs are right.""".splitlines()


def cases() -> Iterator[tuple[str, Row, str]]:
    """Yield job, parameters and graph."""
    for graph in (*DEVELOPED_ON, *OTHERS):
        for name, parameters in JOBS:
            yield name, parameters, graph


def run(keep: Path) -> None:
    """Run what has not been run."""
    known = {_key(row) for row in rows_of(keep)}
    engine = SparkEngine("local-cluster[2,1,1024]", PARTITIONS)
    with engine.session(), keep.open("a", encoding="utf-8") as file:
        for name, parameters, source in cases():
            row: Row = {"a": name, "p": parameters, "g": source}
            if _key(row) in known:
                continue
            graph, started = check_graph(source), time.perf_counter()
            try:
                job = check_function(f"graphx:{name}", parameters).on(graph)
                table = engine.run(job, graph).table
            except PredictGraphError as error:
                print(name, source, error)
                continue
            sums = table.groupby("iteration")[["local_message_bytes", "remote_message_bytes"]].sum()
            row |= {"local": sums.iloc[:, 0].tolist(), "remote": sums.iloc[:, 1].tolist()}
            file.write(json.dumps({**row, "s": time.perf_counter() - started}) + "\n")
            file.flush()


def rows_of(keep: Path) -> list[Row]:
    """Return the rows of a file."""
    return [json.loads(line) for line in keep.read_text().splitlines()] if keep.exists() else []


def _key(row: Row) -> tuple[str, str, str]:
    return row["a"], json.dumps(row["p"]), row["g"]


def told(row: Row) -> Row:
    """Tell the remote bytes of a run, by lessons and encoded."""
    graph, remote = check_graph(row["g"]), sum(row["remote"])
    job = check_function(f"graphx:{row['a']}", row["p"]).on(graph)
    runs = shipped_runs(f"graphx:{row['a']}", first=True)
    fitted = library_rows(bytes_read(runs), job, graph, PARTITIONS, PARTITIONS, PARTITIONS)
    rounds = rounds_of(job, graph, PARTITIONS)
    started = time.process_time()
    found = exchanged_bytes(job, graph, PARTITIONS, rounds, FULL)
    assert found is not None
    return {
        **row,
        "then": float(fitted["remote_message_bytes"].sum()) / remote - 1,
        "now": float(found.sum()) * (1 - 1 / PARTITIONS) / remote - 1,
        "took": time.process_time() - started,
    }


def report(rows: list[Row]) -> str:
    """Return the page."""
    lines = ["# Bytes that GraphX reads", "", *ABOUT, ""]
    lines += ["| job | graph | by lessons | encoded | takes |", "|---|---|---:|---:|---:|"]
    for row in rows:
        given = ", ".join(f"{name} {value}" for name, value in row["p"].items())
        lines.append(
            f"| {row['a']}{f' ({given})' if given else ''} | {row['g']} | {row['then']:+.1%} "
            f"| {row['now']:+.1%} | {row['took']:.2f} s |"
        )
    lines += ["", "| without their sign | runs | by lessons: median, worst | encoded |"]
    lines += ["|---|---:|---:|---:|"]
    for title, own in (
        ("developed on", [row for row in rows if row["g"] in DEVELOPED_ON]),
        ("others", [row for row in rows if row["g"] not in DEVELOPED_ON]),
    ):
        spreads = [_spread([abs(row[name]) for row in own]) for name in ("then", "now")]
        lines.append(f"| {title} | {len(own)} | {spreads[0]} | {spreads[1]} |")
    return "\n".join(lines) + "\n"


def _spread(errors: list[float]) -> str:
    return f"{statistics.median(errors):.1%}, {max(errors):.1%}" if errors else "-"


def main() -> None:
    """Run, tell, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--no-runs", action="store_true", help="only those that are kept")
    given = parser.parse_args()
    if not given.no_runs:
        run(given.keep)
    order = [_key({"a": name, "p": parameters, "g": graph}) for name, parameters, graph in cases()]
    kept = sorted(rows_of(given.keep), key=lambda row: order.index(_key(row)))
    given.out.write_text(report([told(row) for row in kept]), encoding="utf-8")


if __name__ == "__main__":
    main()
