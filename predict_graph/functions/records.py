"""Runs of functions in the history: kept, found again for the same function, and shared.

Runs of public functions are shared as rows for the atlas, without what shows whose they are.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from predict_graph.documents import read_document
from predict_graph.engines import SampleSummary
from predict_graph.errors import RequestError
from predict_graph.files import write_text
from predict_graph.functions.atlas import measured_unit
from predict_graph.functions.child import ChildRun
from predict_graph.functions.evidence import LoopShape, combine
from predict_graph.functions.growth import DRIVERS, Point
from predict_graph.functions.naming import LIBRARIES, VERTEX_PARAMETERS, GraphFunction
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.intervals import Interval
from predict_graph.outcome import SourceEstimate
from predict_graph.table import Table


@dataclass(frozen=True)
class SampleRun:
    """A run of a function on a sample."""

    graph: Graph
    point: Point
    run: ChildRun
    shape: LoopShape

    @property
    def vertices(self) -> int:
        """Those of the sample."""
        return self.graph.vertices

    def summary(self, whole: Graph) -> SampleSummary:
        """Return what a prediction on the whole graph says of it."""
        return SampleSummary(
            *(self.point.sampler, self.vertices / whole.vertices, self.vertices, self.graph.edges),
            *(int(self.shape.rounds), self.run.seconds, "cost"),
            state=self.run.state,
            peak_bytes=self.run.peak_bytes,
        )

    def record(self, function: GraphFunction, whole: Graph) -> RunRecord:
        """Return the record for the history."""
        return record_of_call(
            *(function, self.graph, self.point.drivers, self.run),
            sample={"sampler": self.point.sampler, "ratio": self.vertices / whole.vertices},
            sample_of=whole.fingerprint,
        )


def record_of_call(
    function: GraphFunction,
    graph: Graph,
    drivers: Mapping[str, float],
    run: ChildRun,
    *,
    converted: bool = True,
    **sample: Any,
) -> RunRecord:
    """Return the record of a run to its end, on a graph or on a sample of one.

    `converted` is whether the graph of the function's library was built for it.
    """
    row = {f"driver_{name}": float(drivers[name]) for name in DRIVERS}
    row |= {"seconds": run.seconds, "wall": run.wall, "converted": float(converted)}
    row |= {"peak_bytes": run.peak_bytes, "graph_bytes": run.graph_bytes}
    return RunRecord(
        kind="sample" if sample else "run",
        algorithm=function.name,
        parameters=function.arguments,
        graph=graph.name,
        fingerprint=graph.fingerprint,
        vertices=graph.vertices,
        edges=graph.edges,
        directed=graph.directed,
        engine=_engine(function),
        phases={"convert": run.convert_seconds, "call": run.seconds},
        iterations=0,  # of a call
        rows=Table({name: [value] for name, value in row.items()}),
        **sample,
    )


def read_call(file: Path, function: GraphFunction, graph: Graph) -> Interval:
    """Return the seconds of a call on a graph that the JSON of a prediction has.

    Raises
    ------
    RequestError
        If it is no prediction, or one of another function, of other arguments or of a graph of
        another size; that by ``--vertices`` is of any.
    """
    found = read_document(file, "prediction", "the --json of its predict")
    with suppress(ValueError, KeyError, TypeError):
        sizes = {"vertices": graph.vertices, "edges": graph.edges}
        given = found["algorithm"]["name"], _seedless(found["algorithm"]["parameters"])
        alike = "fingerprint" not in found["graph"] or sizes.items() <= found["graph"].items()
        if alike and given == (function.name, _seedless(function.arguments)):
            runtime, convert = found["runtime_seconds"], found["phases"].get("convert", 0.0)
            _, log_std = combine([SourceEstimate(**each) for each in found["evidence"]])
            return Interval.spread(runtime["predicted"] - convert, log_std)
    raise RequestError(
        f"{file} is no prediction of {function.name} with these arguments on {graph.name}; "
        "accepted: the --json of its predict"
    )


def earlier_records(
    history: History | None, function: GraphFunction, kinds: Sequence[str] = ("run",)
) -> list[RunRecord]:
    """Return the newest 40 runs of a function with the same arguments on this machine.

    None of one whose code is unknown: another may have its name.
    """
    if history is None or not (function.code or function.library):
        return []
    given = (function.name, _engine(function), machine_identity())
    wanted = _seedless(function.arguments)
    return history.training_runs(
        *given, kinds=kinds, limit=40, accepts=lambda found: _seedless(found) == wanted
    )


def run_again(records: Sequence[RunRecord]) -> ChildRun | None:
    """Return a run as the mean of earlier ones on the same graph; None without any."""
    if not records:
        return None
    rows = [record.rows.records()[0] for record in records]
    held = {key: max(row.get(key, 0.0) for row in rows) for key in ("peak_bytes", "graph_bytes")}
    return ChildRun(
        "done",
        seconds=statistics.fmean(row["seconds"] for row in rows),
        wall=statistics.fmean(row.get("wall") or row["seconds"] for row in rows),
        convert_seconds=statistics.fmean(record.phases["convert"] for record in records),
        **held,
    )


def points_of(records: Sequence[RunRecord]) -> list[Point]:
    """Return what runs took, by the drivers of their graphs."""
    points = []
    for run in records:
        row = run.rows.records()[0]
        drivers = {name: float(row.get(f"driver_{name}", math.nan)) for name in DRIVERS}
        if all(math.isfinite(value) for value in drivers.values()):
            sampler = str((run.sample or {}).get("sampler", ""))
            of = run.sample_of or run.fingerprint
            points.append(Point(drivers, float(row["seconds"]), sampler, of))
    return points


def _seedless(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without the seed, which hardly changes the cost of a run."""
    return {name: value for name, value in arguments.items() if name != "seed"}


def _engine(function: GraphFunction) -> dict[str, Any]:
    return {"name": "function", "code": function.code, "library": function.library_version}


def write_shared(path: Path, records: Iterable[RunRecord]) -> int:
    """Write runs for the atlas, one JSON object a line; return how many.

    A row has function and arguments, size and drivers of the graph (three digits), CPU seconds
    with this machine's unit, and peak memory. Graphs have a random name. Left out are runs of the
    user's own functions, of algorithms and of other machines, tracked ones, whose memory was not
    measured, and those with arguments other than numbers: a text may name a column of the graph.

    Raises
    ------
    RequestError
        If the name of the file has another ending, or no run can be shared.
    """
    if path.suffix != ".ndjson":
        raise RequestError(f"shared runs cannot be kept as {path.name!r}; accepted: .ndjson")
    names: defaultdict[str, str] = defaultdict(lambda: f"shared {uuid4().hex[:8]}")
    rows = [
        {
            "function": record.algorithm,
            "library": record.engine["library"],
            "arguments": _arguments(record),
            "kind": names[record.sample_of or record.fingerprint],
            **dict.fromkeys(("size", "vertices"), _rounded(record.vertices)),
            "directed": record.directed,
            "drivers": {each: _rounded(record.rows[f"driver_{each}"][0]) for each in DRIVERS},
            "state": "done",
            **{each: _rounded(record.rows[each][0]) for each in ("seconds", "peak_bytes")},
        }
        for record in records
        if _is_public(record)
    ]
    if not rows:
        raise RequestError(
            "the history has no run that can be shared; accepted: calls of functions of "
            f"{', '.join(LIBRARIES)} with numbers as arguments, made on this machine"
        )
    unit = measured_unit()
    write_text(path, "".join(json.dumps(row | {"unit": unit}) + "\n" for row in rows))
    return len(rows)


def _is_public(record: RunRecord) -> bool:
    home = record.algorithm.partition(":")[0].partition(".")[0]
    plain = all(isinstance(each, int | float | None) for each in _arguments(record).values())
    here = record.machine == machine_identity() and "driver_vertices" in record.rows
    held = here and (record.kind == "sample" or record.rows["peak_bytes"][0] > 0.0)
    return home in LIBRARIES and held and plain


def _arguments(record: RunRecord) -> dict[str, object]:
    """Return the arguments; which vertex is one says nothing of the cost, and much of the graph."""
    given = record.parameters.items()
    return {name: 0 if name in VERTEX_PARAMETERS else each for name, each in given}


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
