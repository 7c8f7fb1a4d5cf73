"""Measure public functions of graph libraries on graphs of every kind: the atlas of the package.

    python -m benchmarks.atlas --keep FILE [--minutes 60]   # goes on where it was stopped
    python -m benchmarks.atlas --keep FILE --write          # into the package

Each function runs on graphs of growing size, of each kind until its next run would take too long.
Seconds are those of the CPU, and are kept beside those of one fixed piece of Python code at the
time (:func:`predict_graph.functions.atlas.measured_unit`).
"""

from __future__ import annotations

import gzip
import json
import math
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

# Threads that wait for others would count.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.common import Row, keep, kept, study_parser
from benchmarks.functions import functions, graph_of
from predict_graph.functions.atlas import key_of, measured_unit
from predict_graph.functions.atlas_file import FILE
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.functions.forms import build
from predict_graph.functions.growth import drivers_of
from predict_graph.functions.naming import GraphFunction
from predict_graph.graph.build import symmetric

KINDS = (
    *("enron", "small world", "notredame", "road", "preferential", "wiki-vote", "mesh", "facebook"),
    *("clustered", "gnutella", "grid", "citations", "tree", "protein", "brightkite"),
)
LONG = ("enron", "small world", "notredame")  # kinds with longer runs
SIZES = (250, 1000, 4000, 16_000, 60_000)
SECONDS, LONG_SECONDS = 2.0, 8.0  # that the next run may be expected to take
_LEAST, _OF_A_KIND = 0.006, 3  # seconds and number of the runs that are kept
_MEMORY = 6 * 2**30  # bytes of a run
_OVER = 3.0  # times that, after which a run is stopped
_MOST_FAILURES = 4  # kinds of graphs on which a function fails before others are left out
_LARGE = 4000  # vertices from which functions that take no time on small graphs are run
_BRIEF = 5e-3  # seconds of a run that show nothing: a call alone takes two thousandths


class Ladder:
    """What is known of each function on each kind, and what its next run should take."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows: dict[tuple[str, str], list[Row]] = {}
        self.failed: Counter[tuple[str, int, bool]] = Counter()  # by size, and whether by an error
        self.brief: set[str] = set()  # functions whose runs on small graphs show nothing
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        self.rows.setdefault((row["function"], row["kind"]), []).append(row)
        if row["state"] != "done":
            self.failed[row["function"], row["size"], row["state"] == "error"] += 1
        elif row["size"] == SIZES[0] and row["seconds"] < _BRIEF:
            self.brief.add(row["function"])

    def has(self, function: str, kind: str, size: int) -> bool:
        return any(row["size"] == size for row in self.rows.get((function, kind), []))

    def next(self, function: str, kind: str, size: int) -> float:
        """Return the seconds that a run should take; infinite for none."""
        rows = self.rows.get((function, kind), [])
        sizes = [each for each in SIZES if each <= size]
        outlasts = any(self.failed[function, each, False] > _MOST_FAILURES for each in sizes)
        refused = self.failed[function, SIZES[0], True] > _MOST_FAILURES
        ran = sorted((row for row in rows if row["size"] < size), key=lambda row: row["size"])
        if any(row["state"] != "done" for row in ran) or outlasts or refused:
            return math.inf
        if function in self.brief and size < _LARGE:
            return math.inf
        if not ran:
            return 0.0
        last = ran[-1]
        if last["seconds"] < _BRIEF and last["size"] * 5 > size and size != SIZES[-1]:
            return math.inf
        power = 2.0
        if len(ran) > 1 and last["vertices"] > ran[-2]["vertices"]:
            grown = max(last["seconds"], 0.01) / max(ran[-2]["seconds"], 0.01)
            power = math.log(grown) / math.log(last["vertices"] / ran[-2]["vertices"])
        power = min(max(power, 1.0), 4.0)
        return float(last["seconds"] * (size / last["vertices"]) ** power)


def measure(file: Path, ends: float) -> None:
    """Run what is not in the file yet."""
    ladder, everything = Ladder(kept(file)), list(functions())
    print(f"{len(everything)} functions", flush=True)
    for size in SIZES:
        for kind in KINDS:
            graph = graph_of(kind, size)
            if graph is None:
                continue
            variants = [graph, symmetric(graph)] if graph.directed else [graph]
            drivers = [drivers_of(each, np.random.default_rng(0)) for each in variants]
            built: dict[tuple[str, int], Any] = {}
            units: list[float] = []
            for number, function in enumerate(everything):
                if time.perf_counter() > ends:
                    return
                limit = LONG_SECONDS if kind in LONG else SECONDS
                expected = ladder.next(function.name, kind, size)
                if ladder.has(function.name, kind, size) or expected > limit:
                    continue
                if number % 20 == 0 or not units:
                    units.append(measured_unit())
                for place, variant in enumerate(variants):
                    made = built.get((function.form, place))
                    if made is None:
                        made = built[function.form, place] = build(variant, function.form)
                    seconds = min(_OVER * limit, max(9.0 * expected, 2.0))
                    run = called(function, made, seconds)
                    if run.state != "error":
                        break
                row = {
                    "function": function.name,
                    "library": function.library_version,
                    "arguments": function.arguments,
                    "kind": kind,
                    "size": size,
                    "vertices": variant.vertices,
                    "directed": variant.directed,
                    "drivers": drivers[place],
                    "state": run.state,
                    "seconds": run.seconds,
                    "unit": float(np.median(units[-3:])),
                    "peak_bytes": run.peak_bytes,
                    "sentence": run.sentence[:100],
                }
                ladder.add(row)
                keep(file, row)
            print(time.strftime("%H:%M:%S"), kind, size, f"unit {np.median(units):.4f}", flush=True)


def called(function: GraphFunction, graph: Any, seconds: float) -> ChildRun:
    """Run a function on a graph, once more if it had to import modules."""
    limits = Limits(seconds=seconds, memory=_MEMORY)
    for _ in range(2):
        run = run_in_child(lambda: graph, function, limits, sample=True)
        if not (run.done and run.imported):
            break
    return run


def write_atlas(rows: list[Row]) -> None:
    """Write the longest runs of each function, and some that were stopped, into the package."""
    graphs: dict[tuple[str, int, bool], int] = {}
    functions: dict[str, list[Row]] = {}
    for row in rows:
        if row["state"] == "done":
            functions.setdefault(key_of(row["function"], row["arguments"]), []).append(row)
    found: dict[str, list[tuple[int, float, float]]] = {}
    described: list[tuple[str, dict[str, float]]] = []
    for name, own in sorted(functions.items()):
        for row in informative(own):
            graph = row["kind"], row["size"], row["directed"]
            if graph not in graphs:
                graphs[graph] = len(described)
                drivers = {key: float(f"{value:.6g}") for key, value in row["drivers"].items()}
                described.append((row["kind"], drivers))
            units = float(f"{row['seconds'] / row['unit']:.3g}")
            peak = round(row["peak_bytes"] / 2**20, 1)
            found.setdefault(name, []).append((graphs[graph], units, peak))
    text = json.dumps({"graphs": described, "functions": found}, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def informative(rows: list[Row]) -> list[Row]:
    """Return the runs of a function that the atlas keeps: of each kind of graphs the longest."""
    once = {(row["kind"], row["size"]): row for row in rows}
    done = sorted(once.values(), key=lambda row: -row["seconds"])
    kinds: dict[str, list[Row]] = {}
    for row in [row for row in done if row["seconds"] > _LEAST] or done[:4]:
        kinds.setdefault(row["kind"], []).append(row)
    return [row for own in kinds.values() for row in own[:_OF_A_KIND]]


def main() -> None:
    """Measure, or write what was measured into the package."""
    parser = study_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="file in which runs are kept")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which none is begun")
    parser.add_argument("--write", action="store_true", help="write the atlas of the package")
    given = parser.parse_args()
    if given.write:
        write_atlas(kept(given.keep))
        print(f"{FILE.stat().st_size:,} bytes")
    else:
        measure(given.keep, time.perf_counter() + 60.0 * given.minutes)


if __name__ == "__main__":
    main()
