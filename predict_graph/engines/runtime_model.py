"""Types that pass from the iteration estimate to the runtime estimate.

A :class:`Workload` holds the counters of each iteration, without times. The :class:`RuntimeModel`
of an engine turns it into :class:`RuntimeEstimate`: the time of each iteration, from one source
of evidence, and of setup, reading and writing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, FloatArray
from predict_graph.budget import Spending
from predict_graph.engines.profile import PHASES, SampleSummary
from predict_graph.graph import Graph
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.engines.local.observed import ObservedRun
    from predict_graph.engines.spark.blocks.packing import PackedGraph
    from predict_graph.history import History

# A graph in memory, or one that stays on a cluster.
AnyGraph: TypeAlias = "Graph | PackedGraph"


@dataclass(frozen=True)
class StagedSample:
    """A sample whose run passes through the same stages as the full run, iteration by iteration.

    Parameters
    ----------
    sample : WeightedSample
        The sample, whose vertices represent different numbers of those of the graph.
    prior_values : ndarray, optional
        Result of the preceding algorithm for the vertices of the sample.
    run : ObservedRun
        Its run on this machine, timed once, with counting in between.
    summary : SampleSummary
    """

    sample: Any
    prior_values: Array | None
    run: ObservedRun = field(repr=False)
    summary: SampleSummary


@dataclass(frozen=True)
class Workload:
    """Estimated counters of each iteration of one algorithm, without times.

    Parameters
    ----------
    algorithm : Algorithm
    iterations : int
    rows : Table
        One row per iteration: ``iteration``, the counters summed over workers, ``total_vertices``,
        ``average_message_bytes``. Empty if only the engine can count.
    staged : StagedSample, optional
        A sample that goes through the same stages, if the method that estimated the iterations has
        one.
    """

    algorithm: Algorithm
    iterations: int
    rows: Table = field(repr=False)
    staged: StagedSample | None = None

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return self.rows.frame()

    def runtime(self, evidence: Evidence, phase_std: float, **phases: float) -> RuntimeEstimate:
        """Return the runtime estimate by the seconds that one source has of the iterations.

        `phases` are those of the other phases, 0 where none are given.
        """
        rows, superstep = self.rows.assign(seconds=evidence.seconds), float(evidence.seconds.sum())
        phases = {**dict.fromkeys(PHASES, 0.0), **phases, "superstep": superstep}
        return RuntimeEstimate(evidence, rows, evidence.relative_std, phases, phase_std)


@dataclass(frozen=True)
class Evidence:
    """A source of the time of each iteration.

    Parameters
    ----------
    name : str
        ``"probe"``, ``"sample run"``, ``"regression"``, ``"sample runs on the cluster"``, ….
    seconds : ndarray of float64, shape (iterations,)
    relative_std : float
        Relative standard deviation; for a regression, its cross-validated error.
    model : mapping
        For a regression: ``name``, ``terms`` (seconds per unit), ``r2``, ``rows``, ``runs``,
        ``history_runs``.
    """

    name: str
    seconds: FloatArray = field(repr=False)
    relative_std: float
    model: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RuntimeEstimate:
    """The estimated time of a workload on an engine.

    Parameters
    ----------
    evidence : Evidence
    rows : Table
        The rows of the workload with ``seconds``; on a cluster, with its own counts of bytes.
    relative_std : float
        Of the total time of the iterations, given the workload.
    phases : dict of str to float
        Seconds of setup, read, superstep and write.
    phase_std : float
        Of setup and reading, between runs.
    common_std : float
        Shared by all phases, e.g. when the speed of a cluster is uncertain.
    samples : list of SampleSummary
        Sample runs behind the estimate.
    warnings : list of str
    at : callable, optional
        Maps a machine count to the phases on it.
    executors : mapping
        On a cluster: memory that an executor needs and has, in bytes.
    more : str
        What a larger budget would improve; empty if nothing.
    """

    evidence: Evidence
    rows: Table = field(repr=False)
    relative_std: float
    phases: dict[str, float]
    phase_std: float
    common_std: float = 0.0
    samples: list[SampleSummary] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    at: Callable[[int], dict[str, float]] | None = None
    executors: Mapping[str, Any] = field(default_factory=dict)
    more: str = ""


class RuntimeModel(Protocol):
    """The runtime model of an engine, created for one prediction.

    ``RuntimeModel(graph, request, history, spending)``: the request has the engine, the options,
    and the algorithms of a chain in execution order; the spending knows the remaining budget.
    """

    reads: ClassVar[frozenset[str]]
    """Names of the prediction options that it uses."""

    def __init__(
        self, graph: AnyGraph, request: Any, history: History | None, spending: Spending
    ) -> None: ...

    def survey(self) -> None:
        """Measure setup and the first supersteps of the run, once, perhaps beside samples."""

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the time of each algorithm of the chain; the first includes session start and
        reading.
        """


def std_of_next(logs: FloatArray, once: float) -> float:
    """Return by how much the logarithm of one more run differs from the mean of earlier ones.

    Two runs differ by `once`, or as these did; the next one by its own deviation and theirs.
    """
    spread = float(logs.std(ddof=1)) if len(logs) > 1 else 0.0
    return max(spread, once / math.sqrt(2.0)) * math.sqrt(1.0 + 1.0 / max(len(logs), 1))
