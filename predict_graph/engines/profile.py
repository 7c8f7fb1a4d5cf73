"""The record of a run: phases, a table of counters and times, the result; and all in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.answers import Answer, cell_text, graph_text
from predict_graph.arrays import Array, FloatArray
from predict_graph.durations import counted, readable_seconds
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import pictures_of_run
from predict_graph.results import Result
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd


# Labels of the phases of a run.
PHASE_NAMES = {
    "setup": "setup",
    "read": "reading",
    "superstep": "supersteps",
    "write": "writing",
    "convert": "converting the graph",
    "call": "the call",
}


def engine_said(engine: Mapping[str, Any]) -> str:
    """Describe an engine: its name, and the machines that it has.

    Examples
    --------
    >>> engine_said({"name": "spark", "master": "local", "machines": 4, "cores": 1, "memory": "1g"})
    'spark, master local: 4 machines of 1 core and 1g of memory'
    >>> engine_said({"cores": 2.0, "library": "", "name": "local"})
    'local, cores 2.0'
    """
    if not {"master", "machines", "cores", "memory"} <= engine.keys():
        parts = {"name": None, **engine}.items()
        return ", ".join(
            f"{k} {v}" if k != "name" else str(v) for k, v in parts if v not in (None, "")
        )
    name, master, memory = engine["name"], engine["master"], engine["memory"]
    machines, cores = (counted(engine[what], what) for what in ("machines", "cores"))
    said = f"{name}, master {master}: {machines} of {cores} and {memory} of memory"
    lost = engine.get("executors_lost")
    return f"{said}; {counted(lost, 'executors')} lost" if lost else said


def phases_said(phases: Mapping[str, float]) -> str:
    """Describe the phases of a run with their shares, the longest first, without those of 0%.

    Examples
    --------
    >>> phases_said({"setup": 0.0, "read": 3.0, "superstep": 1.0, "write": 0.0})
    'reading 3 s (75%), supersteps 1 s (25%)'
    """
    total = sum(phases.values())
    return ", ".join(
        f"{PHASE_NAMES[name]} {readable_seconds(phases[name])} ({phases[name] / total:.0%})"
        for name in sorted(phases, key=lambda name: -phases[name])
        if total and f"{phases[name] / total:.0%}" != "0%"
    )


def includes(algorithm: str, iterations: float, phases: Mapping[str, float]) -> tuple[str, str]:
    """Describe the algorithm that runs first in a chain, and how much of the runtime that is."""
    seconds = readable_seconds(phases["setup"] + phases["superstep"])
    return f"includes {algorithm}", f"{counted(iterations, 'iterations')}, {seconds}"


def _short(value: Any, most: int = 6) -> str:
    """Format a value of the result; a list of more than `most` as its length and its ends."""
    if isinstance(value, list) and len(value) > most:
        ends = ", ".join(cell_text(part) for part in (*value[:2], "…", value[-1]))
        return f"{ends} ({len(value)} values)"
    return ", ".join(map(cell_text, value)) if isinstance(value, list) else cell_text(value)


PHASES = ("setup", "read", "superstep", "write")
_MESSAGES = ("local_messages", "remote_messages", "local_message_bytes", "remote_message_bytes")
_RESULTS = ("average_message_bytes", "seconds", "convergence")
COUNTERS = ("active_vertices", *_MESSAGES)
TABLE_COLUMNS = ("iteration", "worker", "active_vertices", "total_vertices", *_MESSAGES, *_RESULTS)

# An optional column of the table: outbound edges of the vertices of a worker.
OUT_EDGES = "out_edges"


@dataclass(frozen=True, eq=False, repr=False)
class RunProfile(Result):
    """The profile of one run: the counters of PREDIcT (table 1) for each iteration and worker.

    That of a function's call has no iterations.

    Parameters
    ----------
    algorithm : str
    parameters : mapping
    graph : mapping
        ``name``, ``vertices``, ``edges``, ``directed``, ``fingerprint``.
    engine : mapping
        ``name``, ``workers`` and the other settings of the engine.
    phases : mapping of str to float
        Seconds of ``setup``, ``read``, ``superstep`` and ``write``; of a function ``convert`` and
        ``call``.
    rows : Table or DataFrame
        One row per iteration and worker, columns as in ``TABLE_COLUMNS``: seconds are those of the
        iteration, the same for each of its workers.
    convergence : ndarray of float64, shape (iterations,)
        The convergence aggregate after each iteration, which is compared with the threshold.
    converged : bool or None
        False when the run stopped at its limit of iterations; None if that is unknown.
    values : ndarray, shape (n,) or (n, columns)
        Result of each vertex; empty if it was not collected.
    result : mapping
        Summary of the result, such as the number of components.
    prior : RunProfile, optional
        The run that produced the input of this one; `phases` cover both.
    stopped : bool
        Whether a deadline ended it before it had converged.
    unfinished : float
        Seconds of the superstep that was stopped, which no row has.
    processor_seconds : float, optional
        Of a function's call, over all threads.
    peak_bytes : float, optional
        Of a function's call: growth of the resident memory, with the library's graph.
    slowdown : float
        How many times longer it took because others used the cores, where that is measured.
    named : mapping
        The numbers of vertices that parameters name, where their ids are others; for the history.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    graph: Mapping[str, Any]
    engine: Mapping[str, Any]
    phases: Mapping[str, float]
    rows: Table
    convergence: FloatArray
    converged: bool | None
    values: Array = field(default_factory=lambda: np.empty(0))
    result: Mapping[str, Any] = field(default_factory=dict)
    prior: RunProfile | None = None
    stopped: bool = False
    unfinished: float = 0.0
    processor_seconds: float | None = None
    peak_bytes: float | None = None
    slowdown: float = 1.0
    named: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", Table(self.rows))  # engines may give a DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return self.rows.frame()

    @property
    def iterations(self) -> int:
        """The number of iterations that ran."""
        return len(self.convergence)

    @property
    def runtime_seconds(self) -> float:
        """The runtime: seconds of all phases."""
        return float(sum(self.phases.values()))

    @property
    def iteration_seconds(self) -> FloatArray:
        """The seconds of each iteration, shape (iterations,)."""
        if not len(self.rows):
            return np.empty(0)
        return np.asarray(self.rows.floats("seconds")[self.rows["worker"] == 0])

    def with_seconds(self, **more: float) -> RunProfile:
        """Return the profile of a run with so many more seconds in some phases."""
        phases = {name: each + more.get(name, 0.0) for name, each in self.phases.items()}
        return replace(self, phases=phases)

    def per_iteration(self) -> pd.DataFrame:
        """Return counters summed over workers, seconds and convergence; one row per iteration."""
        return per_iteration(self.rows).frame()

    def features_total(self) -> dict[str, int]:
        """Return each counter summed over iterations and workers."""
        return {name: int(self.rows[name].sum()) for name in COUNTERS if name in self.rows}

    @property
    def answer(self) -> Answer:
        """Return the report of the run: headline, breakdown and details."""
        prior, took = self.prior, readable_seconds(self.runtime_seconds)
        ended = {True: ", until it converged", False: ", its limit", None: ""}[self.converged]
        steps = f": {counted(self.iterations, 'iterations')}{ended}" if self.iterations else ""
        said = [("graph", graph_text(self.graph)), ("phases", phases_said(self.phases))]
        if prior is not None:
            said.append(includes(prior.algorithm, prior.iterations, prior.phases))
        said += [(name.replace("_", " "), _short(value)) for name, value in self.result.items()]
        given = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        details = [("parameters", given), ("engine", engine_said(self.engine))]
        totals = self.features_total()
        details += [(name.replace("_", " "), f"{value:,}") for name, value in totals.items()]
        return Answer(f"{self.title} took {took}{steps}", said, details=details)

    @property
    def title(self) -> str:
        """The algorithm and the graph."""
        return f"{self.algorithm} on {self.graph['name']}"

    def to_frame(self) -> pd.DataFrame:
        """Return counters, seconds and convergence of each iteration."""
        return self.per_iteration()

    def pictures(self) -> list[Picture]:
        """Return the seconds of each phase, and of each iteration."""
        return pictures_of_run(self.phases, self.iteration_seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the result, for JSON."""
        return {
            "schema": 1,
            "verdict": {"sentence": self.answer.sentence},
            "algorithm": {"name": self.algorithm, "parameters": dict(self.parameters)},
            "graph": dict(self.graph),
            "engine": dict(self.engine),
            "iterations": self.iterations or None,
            "converged": self.converged,
            "runtime_seconds": self.runtime_seconds,
            "phases": {name: float(seconds) for name, seconds in self.phases.items()},
            "processor_seconds": self.processor_seconds,
            "peak_memory_bytes": self.peak_bytes,
            "features_total": self.features_total(),
            "per_iteration": per_iteration(self.rows).records() if len(self.rows) else [],
            "result": dict(self.result),
            "prior": None if self.prior is None else self.prior.to_dict(),
        }


@dataclass(frozen=True)
class SampleSummary:
    """A sample run.

    Parameters
    ----------
    sampler : str
    ratio : float
        Vertices of the sample / vertices of the graph.
    vertices, edges : int
    iterations : int
        Iterations of the sample run.
    seconds : float
        Time to draw and run it.
    purpose : str
        ``"iterations"``, ``"cost"`` or ``"warm-up"``.
    note : str
        How it deviates from the request, in plain words.
    state : str
        How it ended: ``"done"``, ``"stopped"``, ``"memory"``, ``"error"``, ….
    peak_bytes : float, optional
        Growth of the resident memory by a function's call.
    """

    sampler: str
    ratio: float
    vertices: int
    edges: int
    iterations: int
    seconds: float
    purpose: str
    note: str = ""
    state: str = "done"
    peak_bytes: float | None = None


def critical_worker(rows: Table) -> int:
    """Return the worker with the most outbound edges in a run's table (PREDIcT, section 3.4).

    Without a column of outbound edges, it is the worker that sent the most messages.
    """
    workers, at = np.unique(rows["worker"], return_inverse=True)
    load = rows.floats("local_messages", "remote_messages")
    if OUT_EDGES in rows and np.isfinite(rows.floats(OUT_EDGES)).all():
        load = rows.floats(OUT_EDGES) / np.bincount(at)[at]
    return int(workers[np.bincount(at, load).argmax()])


def message_bytes(rows: Table) -> FloatArray:
    """Return the mean size of the messages of each row."""
    size = rows.floats("local_message_bytes", "remote_message_bytes")
    return size / np.maximum(rows.floats("local_messages", "remote_messages"), 1.0)


def per_iteration(rows: Table | pd.DataFrame) -> Table:
    """Sum the counters of a run's table over workers; one row per iteration."""
    iterations = np.asarray(rows["iteration"])
    order = np.argsort(iterations, kind="stable")
    each, starts = np.unique(iterations[order], return_index=True)
    columns = {"iteration": each}
    for name in (*COUNTERS, "total_vertices"):
        values = np.asarray(rows[name])
        columns[name] = np.add.reduceat(values[order], starts) if len(each) else values
    columns["average_message_bytes"] = message_bytes(Table(columns))
    for name in ("seconds", "convergence"):  # already totals of all workers
        columns[name] = np.asarray(rows[name])[order[starts]]
    return Table(columns)


def spread_evenly(rows: Table, workers: int) -> Table:
    """Return counters with messages spread over workers as a hash spreads them."""
    messages = rows.floats("local_messages", "remote_messages")
    volume = rows.floats("local_message_bytes", "remote_message_bytes")
    return rows.assign(**evenly(messages, volume, workers))


def counters_of(
    active: npt.ArrayLike, messages: Array, volume: Array, workers: int, vertices: int
) -> Table:
    """Return the counters of iterations, with messages spread over workers by a hash."""
    sent = evenly(messages, volume, workers)
    return Table({"active_vertices": active, **sent, "total_vertices": vertices})


def evenly(messages: npt.ArrayLike, volume: npt.ArrayLike, workers: int) -> dict[str, FloatArray]:
    """Return messages and their bytes as a hash spreads them: one in `workers` stays local."""
    found = {}
    for kind, whole in (("messages", messages), ("message_bytes", volume)):
        found[f"local_{kind}"] = np.asarray(whole, np.float64) / workers
        found[f"remote_{kind}"] = np.asarray(whole, np.float64) - found[f"local_{kind}"]
    return found
