"""One run, as the history keeps it."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any

from predict_graph.durations import readable_seconds
from predict_graph.errors import RequestError, explained
from predict_graph.machine import machine_identity
from predict_graph.results import Value, plain
from predict_graph.table import Table
from predict_graph.version import __version__

if TYPE_CHECKING:
    import pandas as pd


KINDS = ("run", "sample")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunRecord(Value):
    """What is kept of one run or sample run.

    Parameters
    ----------
    kind : {"run", "sample"}
        A run of the whole graph, or of a sample of it.
    algorithm : str
        Name of the algorithm.
    parameters : mapping
        Its parameters; values that JSON has, numpy scalars included.
    graph, fingerprint : str
        Name and content fingerprint of the graph that ran (of a sample run: of the sample).
    vertices, edges : int
        Size of the graph that ran; edges as stored.
    directed : bool
        Whether its edges have a direction.
    engine : mapping
        Name and what its speed depends on: ``{"name", "workers", "threads", "cores"}``.
    phases : mapping of str to float
        Seconds of each phase: setup, read, superstep, write.
    iterations : int
        Supersteps that were run.
    converged : bool or None
        Whether the algorithm converged; None when it has no such notion.
    rows : Table
        One row an iteration and worker; numeric columns, none called ``run`` or ``run_…``.
        Booleans are kept as 0 and 1, integers as int64, other numbers as float64; the index is
        not kept.
    sample : mapping, optional
        How the sample was drawn: sampler, ratio, seed.
    sample_of : str, optional
        Fingerprint of the graph that the sample was drawn from.
    machine : str
        See :func:`~predict_graph.history.machine_identity`.
    version : str
        Version of this package.
    time : datetime
        Start or end of the run; kept in UTC.
    uid : str
        Unique name, by which an import knows a run that it already has.

    Raises
    ------
    RequestError
        If a value cannot be kept.
    """

    kind: str
    algorithm: str
    graph: str
    fingerprint: str
    vertices: int
    edges: int
    directed: bool
    engine: Mapping[str, Any]
    phases: Mapping[str, float]
    iterations: int
    rows: Table
    parameters: Mapping[str, Any] = field(default_factory=dict)
    converged: bool | None = None
    sample: Mapping[str, Any] | None = None
    sample_of: str | None = None
    machine: str = field(default_factory=machine_identity)
    version: str = __version__
    time: datetime = field(default_factory=lambda: datetime.now(UTC))
    uid: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        check_fields(vars(self))
        for column, values in self.rows.items():
            if column == "run" or column.startswith("run_"):
                raise RequestError(f"the column {column!r} of a run's table has a reserved name")
            if values.dtype.kind not in "biuf":
                raise RequestError(
                    f"the column {column!r} of a run's table is not numeric, but {values.dtype}"
                )
        for name in ("parameters", "engine", "sample"):
            to_json(getattr(self, name), name)

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return self.rows.frame()

    @property
    def seconds(self) -> float:
        """Sum of the phases."""
        return float(sum(self.phases.values()))

    def __repr__(self) -> str:
        return (
            f"<RunRecord: {self.kind} of {self.algorithm} on {self.graph}, {self.iterations} "
            f"iterations in {readable_seconds(self.seconds)}>"
        )


def check_fields(run: Mapping[str, Any]) -> None:
    """Refuse the fields of a run that cannot be kept."""
    if run["kind"] not in KINDS:
        raise RequestError(f"unknown kind of run {run['kind']!r}; accepted: {', '.join(KINDS)}")
    for name in ("vertices", "edges", "iterations"):
        if not 0 <= int(run[name]) < 2**63:
            raise RequestError(f"a run cannot have {run[name]} {name}")
    for name in ("parameters", "engine", "phases", "sample"):
        if not isinstance(run[name], Mapping) and (run[name] is not None or name != "sample"):
            raise RequestError(f"the {name} of a run are no mapping")
    for name, seconds in run["phases"].items():
        if not (isinstance(seconds, Real) and 0 <= float(seconds) < math.inf):
            raise RequestError(f"the phase {name!r} of a run cannot last {seconds} seconds")
    if run["time"].tzinfo is None:
        raise RequestError(f"the time of a run, {run['time']}, has no time zone")


def to_json(value: Any, what: str) -> str:
    """Write `value` as JSON with sorted keys, numpy scalars as numbers.

    Raises
    ------
    RequestError
        If a value is not one that JSON has; `what` names the whole.
    """
    with explained(f"the {what} of a run cannot be kept as JSON"):
        return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping) or hasattr(value, "tolist"):  # numpy scalars and arrays
        return plain(value)
    raise TypeError(f"{value!r} is of type {type(value).__name__}")
