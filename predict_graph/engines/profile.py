"""The record of a run: phases, a table of counters and times, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.answers import Answer
from predict_graph.engines.answering import answer_of_run
from predict_graph.pictures import Picture
from predict_graph.pictures.runs import pictures_of_run
from predict_graph.results import Result

PHASES = ("setup", "read", "superstep", "write")
COUNTERS = (
    "active_vertices",
    "local_messages",
    "remote_messages",
    "local_message_bytes",
    "remote_message_bytes",
)
TABLE_COLUMNS = (
    "iteration",
    "worker",
    "active_vertices",
    "total_vertices",
    "local_messages",
    "remote_messages",
    "local_message_bytes",
    "remote_message_bytes",
    "average_message_bytes",
    "seconds",
    "convergence",
    "working_set_bytes",
)

OUT_EDGES = "out_edges"
"""An optional column of the table: outbound edges of the vertices of a worker."""


@dataclass(frozen=True, eq=False, repr=False)
class RunProfile(Result):
    """The profile of one run: the counters of PREDIcT (table 1) for each iteration and worker.

    Parameters
    ----------
    algorithm : str
    parameters : mapping
    graph : mapping
        ``name``, ``vertices``, ``edges``, ``directed``, ``fingerprint``.
    engine : mapping
        ``name``, ``workers`` and the other settings of the engine.
    phases : mapping of str to float
        Seconds of ``setup``, ``read``, ``superstep`` and ``write``.
    table : DataFrame
        One row per iteration and worker, columns as in ``TABLE_COLUMNS``: seconds are those of the
        iteration, the same for each of its workers; working_set_bytes is the memory that an
        iteration reads at random.
    convergence : ndarray of float64, shape (iterations,)
        The convergence aggregate after each iteration, which is compared with the threshold.
    converged : bool
        False when the run stopped at its limit of iterations.
    values : ndarray, shape (n,) or (n, columns)
        Result of each vertex.
    result : mapping
        Summary of the result, such as the number of components.
    prior : RunProfile, optional
        The run that produced the input of this one; `phases` cover both.
    stopped : bool
        Whether the progress callback ended it before it had converged.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    graph: Mapping[str, Any]
    engine: Mapping[str, Any]
    phases: Mapping[str, float]
    table: pd.DataFrame
    convergence: npt.NDArray[np.float64]
    converged: bool
    values: npt.NDArray[Any]
    result: Mapping[str, Any] = field(default_factory=dict)
    prior: RunProfile | None = None
    stopped: bool = False

    @property
    def iterations(self) -> int:
        """The number of iterations that ran."""
        return len(self.convergence)

    @property
    def runtime_seconds(self) -> float:
        """The runtime: seconds of all phases."""
        return float(sum(self.phases.values()))

    @property
    def iteration_seconds(self) -> npt.NDArray[np.float64]:
        """The seconds of each iteration, shape (iterations,)."""
        first = self.table[self.table["worker"] == 0]
        return first["seconds"].to_numpy(dtype=np.float64)

    @property
    def critical_worker(self) -> int:
        """The worker with the most outbound edges: the critical path (PREDIcT, section 3.4)."""
        return critical_worker(self.table) if len(self.table) else 0

    def per_iteration(self) -> pd.DataFrame:
        """Return counters summed over workers, seconds and convergence; one row per iteration."""
        return per_iteration(self.table)

    def features_total(self) -> dict[str, int]:
        """Return each counter summed over iterations and workers."""
        return {name: int(self.table[name].sum()) for name in COUNTERS}

    @property
    def answer(self) -> Answer:
        """Return the report of the run: headline, breakdown and details."""
        return answer_of_run(self)

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
            "verdict": {"sentence": self.answer.sentence},
            "algorithm": {"name": self.algorithm, "parameters": dict(self.parameters)},
            "graph": dict(self.graph),
            "engine": dict(self.engine),
            "iterations": self.iterations,
            "converged": self.converged,
            "runtime_seconds": self.runtime_seconds,
            "phases": {name: float(self.phases[name]) for name in PHASES},
            "features_total": self.features_total(),
            "per_iteration": self.per_iteration().to_dict("records"),
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
        ``"iterations"``, ``"calibration"``, ``"cost"`` or ``"warm-up"``.
    note : str
        How it deviates from the request, in plain words.
    degrees : tuple of float
        Vertices of degree 0, 1, 2 to 3, 4 to 7, …; empty if not counted.
    """

    sampler: str
    ratio: float
    vertices: int
    edges: int
    iterations: int
    seconds: float
    purpose: str
    note: str = ""
    degrees: tuple[float, ...] = field(default=(), repr=False)


def critical_worker(table: pd.DataFrame) -> int:
    """Return the worker with the most outbound edges in a run's table (PREDIcT, section 3.4).

    Without a column of outbound edges, it is the worker that sent the most messages.
    """
    if OUT_EDGES in table and table[OUT_EDGES].notna().all():
        by_worker = table[OUT_EDGES].groupby(table["worker"]).mean()
    else:
        sent = table["local_messages"] + table["remote_messages"]
        by_worker = sent.groupby(table["worker"]).sum()
    return int(by_worker.index.to_numpy()[by_worker.to_numpy().argmax()])


def per_iteration(table: pd.DataFrame) -> pd.DataFrame:
    """Sum the counters of a run's table over workers; one row per iteration."""
    iterations = table["iteration"].to_numpy()
    order = np.argsort(iterations, kind="stable")
    each, starts = np.unique(iterations[order], return_index=True)
    columns = {"iteration": each}
    for name in (*COUNTERS, "total_vertices"):
        values = table[name].to_numpy()
        columns[name] = np.add.reduceat(values[order], starts) if len(each) else values
    for name in ("seconds", "convergence", "working_set_bytes"):  # already totals of all workers
        columns[name] = table[name].to_numpy()[order[starts]]
    return pd.DataFrame(columns)
