"""Measure public functions of graph libraries on graphs of every kind: the atlas of the package.

    python -m benchmarks.atlas --keep FILE [--minutes 60]   # goes on where it was stopped
    python -m benchmarks.atlas --keep FILE --write          # adds them to those of the package

Each function runs on graphs of one kind after the other. Of a kind, the next graph is as large as
a run on it is expected to take so many seconds, by all runs of the function that are known, until
runs take about as long as is wanted. Seconds are those of the CPU, and are kept beside those of one
fixed piece of Python code at the time (:func:`predict_graph.functions.atlas.measured_unit`).
"""

from __future__ import annotations

import gzip
import json
import math
import os
import time
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

# Threads that wait for others would count.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.common import Row, keep, kept, study_parser
from benchmarks.functions import functions, graph_of, seed_of
from predict_graph.functions.atlas import key_of, measured_unit
from predict_graph.functions.atlas_file import FILE, content
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.functions.growth import Point, drivers_of, extrapolate
from predict_graph.functions.naming import GraphFunction, check_function
from predict_graph.functions.subject import build
from predict_graph.graph import Graph
from predict_graph.graph.build import symmetric

KINDS = (
    *("enron", "small world", "notredame", "road", "preferential", "wiki-vote", "mesh", "facebook"),
    *("clustered", "gnutella", "grid", "citations", "tree", "protein", "brightkite"),
)
SIZES = tuple(int(250 * 2**step) for step in np.arange(0.0, 9.5, 0.5))  # vertices
WANTED = (0.5, 6.0)  # seconds of the shorter and of the longest run of a kind
_LEAST, _OF_A_KIND = 1.5, 4  # units (0.006 s) and number of the runs that are kept
_MEMORY = 6 * 2**30  # bytes of a run
_OVER = 3.0  # times the seconds that are wanted, after which a run is stopped
_MOST_FAILURES = 2  # kinds of graphs on which a function fails before others are left out
_GROWN = 1.3  # times the vertices of the run before, from which another run says more


@lru_cache(maxsize=24)
def graphs(kind: str, size: int, directed: bool) -> Graph | None:
    """Return a graph of a kind, without its directions if it is to have none."""
    graph = graph_of(kind, size)
    if graph is None or graph.directed == directed:
        return graph
    return None if directed else symmetric(graph)


@lru_cache(maxsize=1000)
def drivers(kind: str, size: int, directed: bool) -> dict[str, float] | None:
    """Return the drivers of a graph of a kind."""
    graph = graphs(kind, size, directed)
    return None if graph is None else drivers_of(graph, np.random.default_rng(0))


def in_package() -> Iterator[Row]:
    """Yield the runs of the package's atlas, like those that are kept."""
    known = content(FILE)
    for call, runs in known["functions"].items():
        for graph, units, peak in runs:
            kind, found = known["graphs"][graph]
            row = {"key": call, "kind": kind, "drivers": found, "seconds": units, "unit": 1.0}
            yield {**row, "peak_bytes": 2.0**20 * peak, "state": "done"}


def key(row: Row) -> str:
    return row.get("key") or key_of(check_function(row["function"], (), row["arguments"]))


def directed(row: Row) -> bool:
    """Whether a run's graph has directions: the others are connected, all of each is reached."""
    found = row["drivers"]
    return bool(found["reached_vertices"] < 0.999 * found["vertices_squared"])


def next_size(
    rows: list[Row], kind: str, directions: bool, wanted: float, unit: float
) -> tuple[int, dict[str, float]] | None:
    """Return how large the next graph of a kind is, with its drivers; None if none says more.

    The largest on which a run is expected to take the seconds that are wanted at most.
    """
    own = [row for row in rows if row["kind"] == kind]
    states = [row["state"] for row in own if directed(row) == directions]
    if "error" in states or len(states) - states.count("done") > _MOST_FAILURES:
        return None
    runs: dict[bool, list[Point]] = {True: [], False: []}
    for row in rows:
        if row["state"] != "error":
            cost = row["seconds"] / row["unit"] * unit
            runs[row["state"] == "done"].append(Point(row["drivers"], cost, "", row["kind"]))
    largest = max((r["drivers"]["vertices"] for r in own if r["state"] == "done"), default=0.0)

    def short(size: int) -> bool:
        target = drivers(kind, size, directions)
        if target is None:
            return False
        expected = extrapolate(runs[True], target, kind, stopped=runs[False])
        return expected is not None and expected.cost <= wanted

    size = SIZES[max(bisect_left(SIZES, True, key=lambda size: not short(size)) - 1, 0)]
    target = drivers(kind, size, directions)
    return None if target is None or target["vertices"] < _GROWN * largest else (size, target)


def measure(file: Path, ends: float) -> None:
    """Run what is not in the file yet: all functions on a first kind, then on a second one."""
    known: dict[str, list[Row]] = {}
    for row in (*in_package(), *kept(file)):
        known.setdefault(key(row), []).append(row)
    everything = list(functions())
    np.random.default_rng(0).shuffle(everything)  # type: ignore[arg-type]
    everything.sort(key=lambda each: len(known.get(key_of(each), ())))
    for number in range(len(KINDS)):
        for function in everything:
            rows = known.setdefault(key_of(function), [])
            if len({row["kind"] for row in rows if row["state"] == "error"}) > _MOST_FAILURES:
                continue
            kind = np.random.default_rng(seed_of(function.name)).permutation(KINDS)[number]
            for wanted in WANTED:
                if time.perf_counter() > ends:
                    return
                measured(file, function, str(kind), wanted, rows)


def measured(
    file: Path, function: GraphFunction, kind: str, wanted: float, rows: list[Row]
) -> None:
    """Run a function on the next graph of a kind: directed if it takes no other."""
    unit = measured_unit()
    undirected = any(row["state"] != "error" and not directed(row) for row in rows)
    for directions in (False,) if undirected else (False, True):
        found = next_size(rows, kind, directions, wanted, unit)
        if found is None:
            continue
        size, described = found
        graph = graphs(kind, size, directions)
        run = called(function, build(graph, function.form), _OVER * wanted)
        row = {
            "function": function.name,
            "arguments": function.arguments,
            "kind": kind,
            "drivers": described,
            "state": run.state,
            "seconds": run.seconds,
            "unit": 0.5 * (unit + measured_unit()),
            "peak_bytes": run.peak_bytes,
        }
        keep(file, row)
        rows.append(row)
        if run.state != "error":
            return


def called(function: GraphFunction, graph: Any, seconds: float) -> ChildRun:
    """Run a function on a graph, once more if it had to import modules."""
    limits = Limits(seconds=seconds, memory=_MEMORY)
    for _ in range(2):
        run = run_in_child(lambda: graph, function, limits, sample=True)
        if not (run.done and run.imported):
            break
    return run


def write_atlas(rows: list[Row]) -> None:
    """Write the longest runs of each function into the package."""
    places: dict[str, int] = {}
    found: dict[str, list[tuple[int, float, float]]] = {}
    done = sorted((row for row in rows if row["state"] == "done"), key=key)
    for call, own in groupby(done, key):
        for row in informative(list(own)):
            rounded = {name: float(f"{value:.6g}") for name, value in row["drivers"].items()}
            place = places.setdefault(json.dumps([row["kind"], rounded]), len(places))
            units = float(f"{row['seconds'] / row['unit']:.3g}")
            peak = round(row["peak_bytes"] / 2**20, 1)
            found.setdefault(call, []).append((place, units, peak))
    described = [json.loads(graph) for graph in places]
    text = json.dumps({"graphs": described, "functions": found}, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def informative(rows: list[Row]) -> list[Row]:
    """Return the runs of a function that the atlas keeps: of each kind of graphs the longest.

    Undirected ones if there are any: on directed graphs some functions return at once.
    """
    undirected = [row for row in rows if not directed(row)]
    once = {(row["kind"], json.dumps(row["drivers"])): row for row in undirected or rows}
    done = sorted(once.values(), key=lambda row: -row["seconds"] / row["unit"])
    kinds: dict[str, list[Row]] = {}
    for row in [row for row in done if row["seconds"] / row["unit"] > _LEAST] or done[:4]:
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
        write_atlas([*in_package(), *kept(given.keep)])
        print(f"{FILE.stat().st_size:,} bytes")
    else:
        measure(given.keep, time.perf_counter() + 60.0 * given.minutes)


if __name__ == "__main__":
    main()
