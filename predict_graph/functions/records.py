"""Runs of functions in the history: kept, and found again for the same function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predict_graph.documents import read_document
from predict_graph.engines import SampleSummary
from predict_graph.errors import RequestError
from predict_graph.functions.child import ChildRun
from predict_graph.functions.drivers import DRIVERS
from predict_graph.functions.growth import Point
from predict_graph.functions.naming import GraphFunction
from predict_graph.functions.prefix import LoopShape
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.intervals import Interval
from predict_graph.table import Table

_ENGINE = "function"


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
        rounds = int(self.shape.rounds) if self.shape.loop else 0
        return SampleSummary(
            *(self.point.sampler, self.vertices / whole.vertices, self.vertices, self.graph.edges),
            *(rounds, self.run.seconds, "cost"),
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
    **sample: Any,
) -> RunRecord:
    """Return the record of a run to its end, on a graph or on a sample of one."""
    row = {f"driver_{name}": float(drivers[name]) for name in DRIVERS}
    row |= {"seconds": run.seconds, "peak_bytes": run.peak_bytes}
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
        iterations=1,
        rows=Table({name: [value] for name, value in row.items()}),
        **sample,
    )


def read_call(file: Path, function: GraphFunction) -> Interval:
    """Return the seconds of a call that the JSON of a prediction has.

    Raises
    ------
    RequestError
        If it is no prediction, or one of another function or other arguments.
    """
    found = read_document(file, "prediction", "the --json of its predict")
    try:
        given = _seedless(found["algorithm"]["parameters"])
        if found["algorithm"]["name"] == function.name and given == _seedless(function.arguments):
            runtime, convert = found["runtime_seconds"], found["phases"]["convert"]
            return Interval(*(runtime[name] - convert for name in ("predicted", "low", "high")))
    except (ValueError, KeyError, TypeError):
        pass
    raise RequestError(
        f"{file} is no prediction of {function.name} with these arguments; accepted: the --json of "
        "its predict"
    )


def earlier_points(
    history: History | None, function: GraphFunction, graph: Graph | None = None, newest: int = 40
) -> list[Point]:
    """Return the `newest` runs of a function with the same arguments on this machine.

    On other graphs than the given one; without one, on any and on their samples.
    """
    if history is None:
        return []
    found = history.training_runs(
        function.name,
        _engine(function),
        machine_identity(),
        None if graph is None else graph.fingerprint,
        kinds=("run", "sample") if graph is None else ("run",),
        limit=newest,
    )
    points = []
    for run in found:
        row = run.rows.records()[0]
        if _seedless(run.parameters) != _seedless(function.arguments):
            continue
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
    return {"name": _ENGINE, "code": function.code, "library": function.library_version}
