"""How well is the peak memory of a run predicted, and does a prediction need more than the run?

Every run and every prediction is a process of the command line; its peak is the largest resident
set that the system counted for it (``getrusage``). Constants were chosen on the graphs of the first
half alone.

    PREDICT_GRAPH_DATA=… python -m benchmarks.memory --out docs/studies/memory.md
    PREDICT_GRAPH_DATA=… python -m benchmarks.memory --limits --out docs/studies/memory.md

``--limits`` (as root, control groups of version 1) also starts runs where they have less or more
memory than they need, and counts what was said to fit and did not. ``--kept FILE`` keeps what was
measured, and goes on from there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import Row, spread, study_parser, table, write
from predict_graph.prediction.memory import LIBRARIES

PROGRAM = Path(__file__).with_name("memory_program.py")
FOUR = ("pagerank", "connected-components", "topk-ranking", "neighborhood")

# Graphs and algorithms; a name that ends in a suffix of a format after ">" is converted first.
FIRST_HALF = {
    "web-NotreDame": ("pagerank", "semi-clustering"),
    "soc-Epinions1 > .parquet": ("neighborhood",),
    "rmat:scale=17,edge_factor=16,seed=1": ("semi-clustering", "topk-ranking"),
    "rmat:scale=19,edge_factor=8,seed=1": ("pagerank", "connected-components", "topk-ranking"),
    "rmat:scale=20,edge_factor=16,seed=1": (*FOUR, "hops"),
    "rmat:scale=19,edge_factor=16,seed=1 > .txt": ("pagerank", "connected-components"),
    "rmat:scale=20,edge_factor=8,seed=1 > .parquet": ("topk-ranking",),
    "grid:rows=1000,columns=1500": ("connected-components",),
    "barabasi-albert:n=50000,m=4,seed=1": ("pagerank",),
}
SECOND_HALF = {
    "uk-2007-05@100000": ("pagerank", "semi-clustering"),
    "uk-2007-05@100000.graph": ("topk-ranking",),
    "musae_git_edges.csv.gz": ("connected-components",),
    "rmat:scale=18,edge_factor=24,seed=5": ("semi-clustering", "neighborhood", "hops"),
    "rmat:scale=21,edge_factor=16,seed=2": (*FOUR, "hops"),
    "rmat:scale=21,edge_factor=12,seed=2 > .npz": ("pagerank", "connected-components"),
    "rmat:scale=20,edge_factor=10,seed=4 > .txt.gz": ("neighborhood", "pagerank"),
    "rmat:scale=20,edge_factor=20,seed=4 > .parquet": ("pagerank", "connected-components"),
    "rmat:scale=20,edge_factor=12,seed=4 > .npz": ("topk-ranking",),
    "erdos-renyi:n=60000,p=0.0001,seed=2": ("neighborhood",),
    "path:n=2000000": ("hops", "neighborhood"),
}
LIMITS = (0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5)  # of what is predicted


CASES = [
    (half, algorithm, graph)
    for half, graphs in (("first", FIRST_HALF), ("second", SECOND_HALF))
    for graph, algorithms in graphs.items()
    for algorithm in algorithms
]


def source_of(name: str, folder: Path) -> str:
    """Return what the command line takes for a graph of the study; converts it if need be."""
    origin, _, suffix = (part.strip() for part in name.partition(">"))
    data = Path(os.environ.get("PREDICT_GRAPH_DATA", ".")) / "graphs" / origin
    if not suffix:
        return str(data) if data.is_file() else origin
    target = folder / (origin.replace(":", "-").replace(",", "-").replace("=", "") + suffix)
    if not target.exists():
        words = [sys.executable, "-m", "benchmarks.memory", "--convert", origin, str(target)]
        subprocess.run(words, check=True)
    return str(target)


def convert(origin: str, target: Path) -> None:
    """Write a graph in the format that a name says."""
    from predict_graph.graph import check_graph
    from predict_graph.graph.storage import save_graph, write_edges

    graph = check_graph(origin)
    if target.suffix == ".npz":
        save_graph(graph, target)
        return
    plain = target.with_suffix("") if target.suffix == ".gz" else target
    write_edges(plain, graph)
    if plain != target:
        with gzip.open(target, "wb") as packed:
            packed.write(plain.read_bytes())


def peak_of(words: list[str], group: Path | None = None) -> tuple[int, int, str]:
    """Run a process; return its exit status, the peak of its resident set, and what it wrote."""

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    with tempfile.TemporaryFile("w+") as written:
        quiet = subprocess.DEVNULL
        child = subprocess.Popen(words, stdout=written, stderr=quiet, preexec_fn=enter)  # noqa: PLW1509
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        written.seek(0)
        return child.returncode, usage.ru_maxrss * 1024, written.read()


def command(kind: str, algorithm: str, source: str) -> list[str]:
    """Return the words of a run or a prediction, which writes JSON."""
    words = [sys.executable, "-m", "predict_graph", kind, algorithm, source]
    return [*words, "--history", "none", "--plugin", str(PROGRAM), "--json", "-"]


def measured(algorithm: str, source: str) -> Row:
    """Return the peaks of a run and of a prediction, and what is predicted; none that failed."""
    found: Row = {}
    for kind in ("run", "predict"):
        status, peak, text = peak_of(command(kind, algorithm, source))
        if status == 0:
            found[kind] = peak
    if "predict" in found:
        found["predicted"] = json.loads(text)["verdict"]["peak_memory_bytes"]
    return found


def limited(algorithm: str, source: str, predicted: Row, kept: Row) -> None:
    """Run a case with less and with more memory than it is said to need."""
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    own = next(line.split(":", 2)[2] for line in groups if ":memory:" in line)
    group = Path("/sys/fs/cgroup/memory") / own.strip("/") / f"memory-study-{os.getpid()}"
    group.mkdir()
    try:
        for share in LIMITS:
            if str(share) in kept:
                continue
            room = int(share * predicted["predicted"])
            (group / "memory.limit_in_bytes").write_text(str(room))
            status, _, _ = peak_of(command("run", algorithm, source), group)
            fits = True if predicted["high"] <= room else None
            fits = False if predicted["low"] > room else fits
            kept[str(share)] = {"fits": fits, "done": status == 0}
    finally:
        group.rmdir()


def report(found: Row, limits: Row) -> list[str]:
    """Return the tables of the study."""
    halves = []
    for half in ("first", "second"):
        known = [found.get(f"{name} {graph}", {}) for own, name, graph in CASES if own == half]
        rows = [row for row in known if "run" in row and "predicted" in row]
        run, prediction = (np.array([row[kind] for row in rows]) for kind in ("run", "predict"))
        said = pd.DataFrame([row["predicted"] for row in rows])
        own = (said.predicted - run) / np.maximum(run - LIBRARIES, 1)
        inside = ((said.low <= run) & (run <= said.high)).sum()
        shares = prediction / run
        cells = [half, str(len(rows)), *spread(said.predicted / run - 1.0)]
        cells += [f"{own.abs().median():.0%}", f"{inside} of {len(rows)}"]
        halves.append([*cells, f"{np.median(shares):.2f}", f"{shares.max():.2f}"])
    head = ["half", "runs", "error: median", "90%", "worst", "without libraries: median"]
    head += ["in interval", "peak of the prediction / run: median", "worst"]
    outcomes = [outcome for kept in limits.values() for outcome in kept.values()]
    verdicts = []
    for fits, verdict in ((True, "fits"), (None, "may not fit"), (False, "needs more")):
        done = [outcome["done"] for outcome in outcomes if outcome["fits"] is fits]
        verdicts.append([verdict, str(sum(done)), str(len(done) - sum(done))])
    shares_run = ", ".join(map(str, LIMITS))
    cases_run = f"Limits of {shares_run} of the predicted peak, {len(limits)} cases:"
    head_of_limits = ["verdict of the prediction", "ended", "was stopped"]
    return [*table(head, halves), "", cases_run, "", *table(head_of_limits, verdicts)]


def main() -> None:
    """Measure what is not kept yet, and write the page."""
    parser = study_parser(__doc__)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--limits", action="store_true", help="run with limits, too")
    parser.add_argument("--convert", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.convert:
        convert(arguments.convert[0], Path(arguments.convert[1]))
        return
    kept = arguments.kept
    found: Row = json.loads(kept.read_text()) if kept and kept.exists() else {}
    limits: Row = found.setdefault("limits", {})
    with tempfile.TemporaryDirectory() as scratch:
        for _, algorithm, graph in CASES:
            key = f"{algorithm} {graph}"
            row = found.setdefault(key, {})
            limit = arguments.limits and len(limits.get(key, {})) < len(LIMITS)
            if row and not limit:
                continue
            source = source_of(graph, Path(scratch))
            if not row:
                row |= measured(algorithm, source)
            if limit and "predicted" in row:
                limited(algorithm, source, row["predicted"], limits.setdefault(key, {}))
            print(key, row, flush=True)
            if kept:
                kept.write_text(json.dumps(found, indent=1))
    write(arguments.out, report(found, limits), "errors")


if __name__ == "__main__":
    main()
