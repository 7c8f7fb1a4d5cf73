"""Graph functions as the user has them: predicted first, then run under `track`, then compared.

    python -m benchmarks.functions_study --keep FOLDER [--minutes 60] [--out PAGE]

One command, which goes on where it was stopped. Each case is a function on a part of a graph, sized
by runs on smaller parts of it, never by a prediction: for 15 to 60 s, or, of some that grow faster
than the graph, for 13 minutes. In a process of its own a case is predicted with 5%, then with 1%,
without a history, and then run on the whole graph. One that takes twice as long as it was meant to
is stopped, and is a row with a lower bound. Functions of networkit take
`pip install -c constraints.txt '.[bench]'`.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks import functions
from benchmarks.common import study_parser, write
from benchmarks.functions import (
    FUNCTIONS,
    GRAPHS,
    PARTS,
    cut,
    factor,
    function_of,
    predict_and_track,
    remaining_errors,
    seed_of,
    timed,
)

Row = dict[str, Any]

_SHORT, _LONG = (15.0, 60.0), 780.0  # seconds that cases are sized for
_FAR_FROM = 600.0  # seconds of a run from which it is one of the long ones
_MOST_VERTICES = 200_000
_EVERY = 5  # cases before a long one
_FAR = ("nx load", "nx closeness", "nx betweenness", "nx edge betweenness", "nx local efficiency")
_SIZING = 0.04  # of the seconds that a case is sized for, from which a run tells its size
_NEARLY = 1.3  # times the vertices of a graph that a case may want
_TOO_LONG = 2.0  # times what it was meant to take
_LOOP = 0.5  # weight of the first part of the run, from which it counts as one outer loop

# Functions that no study had before, beside those of benchmarks/functions.py.
MORE: dict[str, tuple[str, Row, str, str]] = {
    "nx wiener index": ("networkx:wiener_index", {}, "reached_edges", "connected"),
    "nx average clustering": ("networkx:average_clustering", {}, "squares", "undirected"),
    "nx triangles": ("networkx:triangles", {}, "squares", "undirected"),
    "nx resource allocation": (
        "networkx:resource_allocation_index",
        {},
        "vertices_squared",
        "undirected",
    ),
    "nx dijkstra lengths": ("networkx:all_pairs_dijkstra_path_length", {}, "reached_edges", ""),
    "nx second order": ("networkx:second_order_centrality", {}, "vertices_squared", "connected"),
    "nx local efficiency": ("networkx:local_efficiency", {}, "two_hop", "undirected"),
    "nx information": ("networkx:information_centrality", {}, "vertices_squared", "connected"),
    "nx katz": ("networkx:katz_centrality", {"alpha": 1e-4}, "edges", ""),
    "nx eccentricity": ("networkx:eccentricity", {}, "reached_edges", "connected"),
    "nx rich club": ("networkx:rich_club_coefficient", {"seed": 1, "Q": 10}, "edges", "undirected"),
    "igraph fast greedy": ("igraph:community_fastgreedy", {}, "edges", "undirected"),
    "igraph harmonic": ("igraph:harmonic_centrality", {}, "reached_edges", ""),
    "igraph edge betweenness": ("igraph:edge_betweenness", {}, "reached_edges", ""),
    "networkit closeness": ("networkit:centrality.HarmonicCloseness", {}, "reached_edges", ""),
}
FUNCTIONS.update(MORE)
functions.MOST_VERTICES = _MOST_VERTICES


def cases() -> list[tuple[str, list[str], float]]:
    """Return function, graphs, and the seconds that it is sized for, in the order of the study.

    The first graph counts that is large enough.
    """
    rest = [name for name in FUNCTIONS if name not in _FAR]
    names = np.random.default_rng(seed_of("blind")).permutation(rest).tolist()
    for number, name in enumerate(_FAR, start=1):
        names.insert(number * (_EVERY + 1) - 1, name)
    found = []
    for name in names:
        rng = np.random.default_rng(seed_of("blind", name))
        seconds = _LONG if name in _FAR else math.exp(rng.uniform(*np.log(_SHORT)))
        found.append((name, rng.permutation(GRAPHS).tolist(), seconds))
    return found


def timed_size(name: str, graph: str, seconds: float) -> int:
    """Return the vertices of a cut on which a function should take so long, by runs on smaller."""
    function, needs = function_of(name)
    size, done = 300.0, []
    while True:
        part = cut(graph, size, needs)
        run = timed(function, part, 5, 0.3 * seconds)
        if not run.done:
            break
        done.append((float(part.vertices), max(run.seconds, 1e-4)))
        power = 2.0
        if len(done) > 1 and done[-1][0] > done[-2][0]:
            power = math.log(done[-1][1] / done[-2][1]) / math.log(done[-1][0] / done[-2][0])
        power = min(max(power, 1.0), 3.5)
        if done[-1][1] > _SIZING * seconds or (len(done) > 1 and done[-1][0] <= done[-2][0]):
            break
        size = done[-1][0] * min((2.0 * _SIZING * seconds / done[-1][1]) ** (1.0 / power), 3.0)
    return int(done[-1][0] * (seconds / done[-1][1]) ** (1.0 / power))


def one(file: Path, number: int) -> None:
    """Size a case, predict it, run it; each is kept as soon as it is known."""
    name, graphs, seconds = cases()[number]
    _, _, _, needs = FUNCTIONS[name]
    kept: Row = json.loads(file.read_text()) if file.exists() else {}
    if "size" not in kept:
        sizes: dict[str, int] = {}
        for graph in graphs:
            sizes[graph] = timed_size(name, graph, seconds)
            if sizes[graph] <= _NEARLY * cut(graph, math.inf, needs).vertices:
                break
        else:
            graph = graphs[-1]
        kept = {"size": sizes[graph], "graph": graph, "meant": seconds}
        file.write_text(json.dumps(kept))
    predict_and_track(file, name, kept["graph"], kept["size"])


def watched(folder: Path, number: int) -> None:
    """Run a case in a process; one that takes far too long is stopped, and what it took kept."""
    file = folder / f"{number:02}.json"
    seconds = cases()[number][2]
    command = [sys.executable, "-m", "benchmarks.functions_study", "--keep", str(folder)]
    process = psutil.Popen([*command, "--case", str(number)])
    while process.poll() is None:
        time.sleep(1.0)
        used = sum(process.cpu_times()[:2])
        if used > _TOO_LONG * seconds + 60.0:
            kept = json.loads(file.read_text()) if file.exists() else {}
            process.kill()
            process.wait()
            if "said" in kept:
                said = sum(each.get("wall", 0.0) for each in kept["said"])
                file.write_text(json.dumps(kept | {"stopped": max(used - said, 0.0)}))
    kept = json.loads(file.read_text()) if file.exists() else {}
    if not ("run" in kept or "stopped" in kept):
        file.write_text(json.dumps(kept | {"failed": True}))


def report(folder: Path) -> list[str]:
    """Return the tables."""
    listed = [
        (name, row.get("graph", ""), row)
        for number, (name, _, _) in enumerate(cases())
        if (file := folder / f"{number:02}.json").exists()
        for row in (json.loads(file.read_text()),)
    ]
    ran = [(name, graph, row) for name, graph, row in listed if "run" in row and row["said"]]
    lines = [*_bars([row for _, _, row in ran]), "", *_each(ran)]
    stopped = [(name, graph, row) for name, graph, row in listed if "stopped" in row]
    if stopped:
        lines += ["", "Stopped, since they took far longer than they were sized for:", ""]
        lines += ["| function | graph | predicted, 5% | stopped after |", "|---|---|---|---|"]
        for name, graph, row in stopped:
            said = row["said"][0]
            told = f"{said['predicted']:.0f} s ({said['low']:.0f} to {said['high']:.0f})"
            lines.append(f"| {name} | {graph} | {told} | {row['stopped']:.0f} s |")
    none = [name for name, _, row in listed if not ("run" in row or "stopped" in row)]
    none += [name for name, _, row in listed if "run" in row and not row["said"]]
    if none:
        lines += ["", f"No row, because the function or its prediction failed: {', '.join(none)}."]
    return lines


def _bars(found: list[Row]) -> list[str]:
    loops = [row for row in found if _by_prefix(row["said"][0]) >= _LOOP]
    far = [row for row in found if row["run"]["seconds"] >= _FAR_FROM and len(row["said"]) > 1]
    seconds = [row["run"]["seconds"] for row in found]
    lines = [
        f"{len(found)} runs of {min(seconds):.1f} to {max(seconds):.0f} processor seconds, median "
        f"{np.median(seconds):.0f}.",
        "",
        "| figure | goal | runs | measured |",
        "|---|---|---|---|",
    ]

    def add(what: str, bar: str, rows: list[Row], told: str) -> None:
        lines.append(f"| {what} | {bar} | {len(rows)} | {told if rows else '–'} |")

    for what, bar, rows, number in (
        ("factor, one outer loop, 5%: median, 90%, worst", "1.08, 1.3, 1.7", loops, 0),
        ("factor, one outer loop, 1%", "", loops, 1),
        ("factor, all, 5%", "1.2, 2", found, 0),
        ("factor, all, 1%", "", found, 1),
        ("factor, runs over 10 min, 5%", "", far, 0),
        ("factor, runs over 10 min, 1%", "", far, 1),
    ):
        rows = [
            row for row in rows if len(row["said"]) > number and "predicted" in row["said"][number]
        ]
        factors = [factor(row["said"][number]["predicted"], row["run"]["seconds"]) for row in rows]
        add(what, bar, rows, _three(factors))
    factors = np.array(
        [factor(row["said"][0]["predicted"], row["run"]["seconds"]) for row in found]
    )
    add("within a factor of 2, 5%", "92%", found, f"{np.mean(factors < 2.0):.0%}")
    long = [row for row in found if row["run"]["seconds"] >= 20.0]
    spent = np.array([row["said"][0]["spent"] / row["run"]["seconds"] for row in long])
    if len(spent):
        add(
            "spent with 5%, runs over 20 s: 90%, most",
            "5%, 8%",
            long,
            f"{np.quantile(spent, 0.9):.1%}, {spent.max():.1%}",
        )
    held = [
        row["said"][0]["low"] <= row["run"]["seconds"] <= row["said"][0]["high"] for row in found
    ]
    wide = [row["said"][0]["high"] / row["said"][0]["predicted"] for row in found]
    add("90% intervals that held", "85 to 95%", found, f"{np.mean(held):.0%}")
    add("half-width of intervals: median", "× 1.6", found, f"× {np.median(wide):.2f}")
    told = [remaining_errors(row["run"]) for row in found]
    for number, (part, bar) in enumerate(zip(PARTS, ("10%", "6%", "3%"), strict=True)):
        for clock, column in (("processor", 1), ("clock", 0)):
            errors = [abs(e) for each in told if (e := each[column][number]) is not None]
            middle = f"{np.median(errors):.1%}" if errors else "–"
            what = f"error of the remaining time at {part:.0%}, by the {clock}"
            lines.append(f"| {what} | {bar} | {len(errors)} | {middle} |")
    looking = [row["run"]["looking"] / row["run"]["seconds"] for row in found]
    add(
        "share of a run that `track` takes: median, most",
        "2%",
        found,
        f"{np.median(looking):.1%}, {max(looking):.1%}",
    )
    return lines


def _each(ran: list[tuple[str, str, Row]]) -> list[str]:
    lines = [
        "| function | graph | edges | run | predicted / run | 90% interval | spent | evidence |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for name, graph, row in sorted(ran, key=lambda each: each[0]):
        said, seconds = row["said"][0], row["run"]["seconds"]
        cells = [name, graph, f"{row['edges']:,}", f"{seconds:.1f} s"]
        if "predicted" in said:
            low, mid, high = (said[each] / seconds for each in ("low", "predicted", "high"))
            cells += [f"{mid:.2f}", f"{low:.2f}–{high:.2f}", f"{said['spent'] / seconds:.1%}"]
            cells.append(", ".join(f"{e['source']} {e['weight']:.0%}" for e in said["evidence"]))
        else:
            cells += ["none", "", "", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _by_prefix(said: Row) -> float:
    return sum(e["weight"] for e in said.get("evidence", []) if e["source"] == "prefix")


def _three(factors: list[float]) -> str:
    if not factors:
        return "–"
    return f"{np.median(factors):.2f}, {np.quantile(factors, 0.9):.2f}, {max(factors):.2f}"


def main() -> None:
    """Go through the cases, and write the page."""
    parser = study_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="folder in which cases are kept")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which none is begun")
    parser.add_argument("--case", type=int, help="this one, in this process")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    if given.case is not None:
        one(given.keep / f"{given.case:02}.json", given.case)
        return
    ends = time.perf_counter() + 60.0 * given.minutes
    for number in range(len(cases())):
        file = given.keep / f"{number:02}.json"
        kept = json.loads(file.read_text()) if file.exists() else {}
        if any(each in kept for each in ("run", "stopped", "failed")):
            continue
        if time.perf_counter() > ends:
            break
        print(time.strftime("%H:%M:%S"), cases()[number][0], flush=True)
        watched(given.keep, number)
    write(given.out, report(given.keep), "runs")


if __name__ == "__main__":
    main()
