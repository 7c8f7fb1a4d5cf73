"""Functions drawn at random from graph libraries: predicted first, then run, then compared.

    python -m benchmarks.functions_study --keep FOLDER [--minutes 60] [--seed 1] [--out PAGE]

One command, which goes on where it was stopped. The functions are drawn by the seed from the public
API of networkx, igraph and scipy; none is removed because of what comes out. Their graphs are of
other sources than those of the atlas. Each case is sized by runs on smaller parts of its graph,
never by a prediction, for 6 to 40 s. In a process of its own it is predicted by default, and by the
atlas alone, both without a history; then it runs whole under ``track``. One that takes three times
as long as it was meant to is stopped, and is a row with a lower bound.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import psutil

from benchmarks.common import Row, study_parser, table, write
from benchmarks.functions import functions, graph_of, seed_of
from predict_graph.errors import PredictGraphError
from predict_graph.files import write_text
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.functions.naming import GraphFunction
from predict_graph.functions.predictor import FunctionCase
from predict_graph.functions.subject import Subject, build
from predict_graph.functions.track import Tracked, run_tracked
from predict_graph.graph import Graph
from predict_graph.graph.build import symmetric

GRAPHS = (
    *("epinions", "github", "deezer", "twitch", "check-ins", "wing", "words", "random"),
    "preferential",  # for functions that are too quick on another
)
_CASES = 40
_SHORT = (6.0, 40.0)  # seconds that cases are sized for
_LEAST = 3.0  # seconds of a case at least
_TOO_LONG = 3.0  # times what it was meant to take
_SIZING = 0.04  # of the seconds that a case is sized for, from which a run shows its size
_MOST_VERTICES = 60_000
_LOOP = 0.5  # weight of the first part of the run, from which it counts as one outer loop
_QUICK, _LONG = "too quick", "too long on the smallest graph"
_PARTS = (0.25, 0.5, 0.75)


def drawn(seed: int) -> list[GraphFunction]:
    """Return all functions in the order of the draw."""
    found = list(functions())
    return [found[place] for place in np.random.default_rng(seed).permutation(len(found))]


def shaped(kind: str, size: float, undirected: bool) -> Graph | None:
    """Return a graph of a kind, without its directions if it is to have none."""
    graph = graph_of(kind, int(size))
    return symmetric(graph) if graph and graph.directed and undirected else graph


def called(function: GraphFunction, graph: Graph, seconds: float) -> ChildRun:
    """Run a function in a child process, with a limit."""
    limits = Limits(seconds=seconds, memory=8 * 2**30)
    return run_in_child(lambda: build(graph, function.form), function, limits)


def sized(function: GraphFunction, kind: str, seconds: float) -> tuple[Graph | None, str]:
    """Return a graph on which a function should take so long, by runs on smaller ones.

    Else none, and why.
    """
    size, done, undirected = 250.0, [], False
    while (graph := shaped(kind, size, undirected)) is not None:
        run = called(function, graph, 0.3 * seconds)
        if run.state == "error" and graph.directed:
            undirected = True
            continue
        if run.state == "error":
            return None, run.sentence
        if not run.done:
            break
        done.append((float(graph.vertices), max(run.seconds, 1e-3)))
        if done[-1][1] > _SIZING * seconds or size >= _MOST_VERTICES:
            break
        size = min(4.0 * size, _MOST_VERTICES)
    if not done:
        return None, _LONG
    power, (vertices, took) = 2.0, done[-1]
    if len(done) > 1:
        power = math.log(took / done[-2][1]) / math.log(vertices / done[-2][0])
    power = min(max(power, 1.0), 4.0)
    wanted = min(vertices * (seconds / took) ** (1.0 / power), _MOST_VERTICES)
    if took * (wanted / vertices) ** power < _LEAST:
        return None, _QUICK
    while (graph := shaped(kind, wanted, undirected)) is None:
        wanted *= 0.8
    return graph, ""


def predicted(function: GraphFunction, graph: Graph, budget: float | None) -> Row:
    """Predict a call without a history."""
    given: Row = {"seed": 11, "history": "none", "budget": budget}
    clock = time.perf_counter()
    try:
        found = FunctionCase(function, graph, **given).predict()
    except PredictGraphError as error:
        return {"error": str(error)}
    convert, clocks = found.phases["convert"], found.processor_seconds / found.phases["call"]
    return {
        "predicted": found.processor_seconds,
        "low": (found.runtime_seconds.low - convert) * clocks,
        "high": (found.runtime_seconds.high - convert) * clocks,
        "spent": found.overhead_seconds,
        "wall": time.perf_counter() - clock,
        "evidence": [asdict(each) for each in found.evidence],
    }


def remaining_errors(run: Tracked) -> list[float | None]:
    """Return errors of the remaining time at each part, as shares of the run."""
    found: list[float | None] = []
    for part in _PARTS:
        then = [each for each in run.said if each.elapsed <= part * run.seconds and each.total]
        found.append(then[-1].remaining.predicted / then[-1].total - (1.0 - part) if then else None)
    return found


def one(file: Path, function: GraphFunction, number: int, seed: int) -> None:
    """Size a case, predict it, run it; each is kept as soon as it is known."""
    rng = np.random.default_rng([seed, number])
    seconds = math.exp(rng.uniform(*np.log(_SHORT)))
    row: Row = {"function": function.describe()["name"], "meant": seconds}
    for kind in [*rng.permutation(GRAPHS[:-1]).tolist(), GRAPHS[-1]]:
        if row.get("reason") == _QUICK and kind != GRAPHS[-1]:
            continue
        graph, reason = sized(function, kind, seconds)
        row |= {"graph": kind, "reason": reason}
        if graph is not None or reason == _LONG:
            break
    write_text(file, json.dumps(row))
    if graph is None:
        return
    row |= {"vertices": graph.vertices, "edges": graph.edges}
    row["said"] = [predicted(function, graph, None), predicted(function, graph, 0)]
    write_text(file, json.dumps(row))
    run = run_tracked(function, Subject(function, graph, seed=0).whole(), show=False)
    row |= {"seconds": run.processor_seconds, "remaining": remaining_errors(run)}
    write_text(file, json.dumps(row))


def watched(folder: Path, number: int, seed: int) -> None:
    """Run a case in a process; one that takes far too long is stopped, and what it took kept."""
    file = folder / f"{number:03}.json"
    command = [sys.executable, "-m", "benchmarks.functions_study", "--keep", str(folder)]
    process = psutil.Popen([*command, "--case", str(number), "--seed", str(seed)])
    began = time.perf_counter()
    while process.poll() is None:
        time.sleep(0.5)
        row = json.loads(file.read_text()) if file.exists() else {}
        said = sum(each.get("wall", 0.0) for each in row.get("said", []))
        used = sum(process.cpu_times()[:2]) - sum(e.get("spent", 0.0) for e in row.get("said", []))
        late = len(row.get("said", [])) == 2 and used > _TOO_LONG * row["meant"] + 15.0
        if late or time.perf_counter() - began > 400.0 + said:
            process.kill()
            process.wait()
            stopped = {"stopped": used} if "said" in row else {"reason": "it could not be sized"}
            write_text(file, json.dumps(row | stopped))
    if not file.exists():
        write_text(file, json.dumps({"reason": "the process ended"}))


def report(rows: list[Row]) -> list[str]:
    """Return the tables."""
    ran = [row for row in rows if "seconds" in row and "predicted" in row["said"][0]]
    both = [row for row in ran if "predicted" in row["said"][1]]
    loops = [row for row in ran if _by_prefix(row["said"][0]) >= _LOOP]
    rest = [row for row in ran if row not in loops]
    seconds = _spread([row["seconds"] for row in ran], 0)
    figures = (
        ("factor, all: median, 90%, worst", "1.2, 2, 5", _factor, _spread, ran),
        ("factor, one outer loop", "1.06, -, 1.6", _factor, _spread, loops),
        ("factor, others", "", _factor, _spread, rest),
        ("within a factor of 2", "90%", lambda row, n: _factor(row, n) < 2.0, _share, ran),
        ("90% intervals that hold", "85 to 97%", _holds, _share, ran),
        ("half-width of intervals: median, 90%, worst", "1.6, -, 30", _width, _spread, ran),
        ("spent, seconds", "", lambda row, n: float(row["said"][n]["spent"]), _spread, ran),
    )
    cells: list[tuple[str, ...]] = []
    for what, goal, figure, form, own in figures:
        known = [row for row in own if row in both]
        shown = (form([figure(row, n) for row in part]) for n, part in enumerate((own, known)))
        cells.append((what, goal, *shown))
    for place, (part, goal) in enumerate(zip(_PARTS, ("15%", "10%", "5%"), strict=True)):
        errors = [abs(e) for row in ran if (e := row["remaining"][place]) is not None]
        middle = f"{np.median(errors):.1%} ({len(errors)})" if errors else "-"
        cells.append((f"error of the remaining time at {part:.0%}, median", goal, middle, ""))
    about = f"{len(ran)} runs, {len(loops)} of one outer loop; median, 90%, worst {seconds} s."
    head = ("figure", "goal", "by default", "by the atlas alone")
    lines = [about, "", *table(head, cells, 2), ""]
    cells = []
    for row in sorted(ran, key=lambda row: row["function"]):
        said, seconds = row["said"][0], row["seconds"]
        low, middle, high = (said[name] / seconds for name in ("low", "predicted", "high"))
        alone = row["said"][1].get("predicted", math.nan) / seconds
        case = row["function"], row["graph"], f"{row['edges']:,}", f"{seconds:.1f} s"
        cells.append((*case, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", f"{alone:.2f}"))
    head = ("function", "graph", "edges", "run", "predicted / run", "interval / run", "by atlas")
    lines += table(head, cells, 2)
    for row in rows:
        if "stopped" in row:
            predicted = f"{row['said'][0].get('predicted', math.nan):.3g} s predicted"
            stopped = f"stopped after {row['stopped']:.0f} s"
            lines += ["", f"{row['function']}: {predicted}, {stopped}."]
        elif "said" in row and row not in ran:
            lines += ["", f"{row['function']}: {row['said'][0].get('error', 'it failed')}."]
    few = [row for row in rows if row.get("reason")]
    return [*lines, "", f"{len(few)} drawn functions were too quick or refused their graphs."]


def _factor(row: Row, number: int) -> float:
    return math.exp(abs(math.log(row["said"][number]["predicted"] / row["seconds"])))


def _holds(row: Row, number: int) -> bool:
    return bool(row["said"][number]["low"] <= row["seconds"] <= row["said"][number]["high"])


def _width(row: Row, number: int) -> float:
    said = row["said"][number]
    return math.sqrt(said["high"] / max(said["low"], 1e-9))


def _by_prefix(said: Row) -> float:
    return sum(e["weight"] for e in said["evidence"] if e["source"] in ("prefix", "run"))


def _share(values: list[float]) -> str:
    return f"{np.mean(values):.0%}"


def _spread(values: list[float], digits: int = 2) -> str:
    if not values:
        return "-"
    parts = (np.median(values), np.quantile(values, 0.9), max(values))
    return ", ".join(f"{value:.{digits}f}" for value in parts)


def main() -> None:
    """Go through the cases, and write the page."""
    parser = study_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="folder in which cases are kept")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which none is begun")
    parser.add_argument("--seed", type=int, default=seed_of("functions"), help="of the draw")
    parser.add_argument("--case", type=int, help="this one, in this process")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    everything = drawn(given.seed)
    if given.case is not None:
        file = given.keep / f"{given.case:03}.json"
        one(file, everything[given.case], given.case, given.seed)
        return
    ends, rows = time.perf_counter() + 60.0 * given.minutes, []
    for number, function in enumerate(everything):
        file = given.keep / f"{number:03}.json"
        if not file.exists():
            if time.perf_counter() > ends:
                break
            print(time.strftime("%H:%M:%S"), function.name, flush=True)
            watched(given.keep, number, given.seed)
        rows.append(json.loads(file.read_text()))
        if sum("said" in row for row in rows) >= _CASES:
            break
    write(given.out, report(rows), "runs")


if __name__ == "__main__":
    main()
