"""Runs as supersteps over tables: one action each, and only sums on the driver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt
import pandas as pd

from predict_graph.engines.base import IterationCallback
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.engines.spark.session.failures import ExecutorLostError, spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import (
    Checkpoints,
    cut_off,
    declared,
    forget,
)
from predict_graph.engines.spark.tables.graph_tables import GraphTables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST_LOSSES = 3  # executor losses without a completed superstep in between: limits restarts
_SUM = "sum_"
VERTEX = ("id", "degree", "inside")
"""Columns of every state that do not change."""
_COUNTS = ("total_vertices", "active_vertices", "local_messages", "remote_messages", OUT_EDGES)


class SuperstepProgram(ABC):
    """An algorithm as supersteps over tables.

    Write what runs in every superstep as SQL (``selectExpr``, ``expr``), or create it once: each
    part of a column takes several round trips to Java, and a hundred of them are a tenth of a small
    superstep.

    The state is a table with one row per vertex, partitioned by the hash of ``id`` like the
    vertices: ``id``, ``degree``, ``inside``, ``sending`` (whether the vertex sends along its
    out-edges in the next superstep) and the columns of the algorithm. Raw messages go along the
    edges; Spark may combine them.

    Parameters
    ----------
    algorithm : Algorithm
    tables : GraphTables
    prior : DataFrame, optional
        ``id`` and ``value``: result of the algorithm that runs before this one.

    Attributes
    ----------
    oldest_spark : tuple of int
        The line of Spark that it needs, major and minor version.
    combines : bool
        Whether messages to one vertex become one record before they leave a partition: what is sent
        then grows with vertices that have many in-edges, and not with messages.
    value : str
        The result of a vertex from its row, as SQL.
    """

    oldest_spark: ClassVar[tuple[int, int]] = (3, 5)
    combines: ClassVar[bool] = True
    value: ClassVar[str]

    def __init__(self, algorithm: Any, tables: GraphTables, prior: DataFrame | None = None) -> None:
        self.algorithm = algorithm
        self.tables = tables
        self.prior = prior

    @abstractmethod
    def initial(self) -> DataFrame:
        """Return the state before the first superstep."""

    @abstractmethod
    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Return the state after one superstep, from the previous one and its sums."""

    def sums(self) -> dict[str, str]:
        """Return what is summed over all rows of a state, as SQL by name; the senders by default.

        This includes the first state.
        """
        return {"changed": "int(sending)"}

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the aggregate that is compared with the threshold, from the sums after a
        superstep: the share of vertices that changed by default.
        """
        return sums["changed"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""
        return state.selectExpr("id", f"{self.value} AS value")

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return a summary of the result, from the last state and the sums of all states."""
        return {}

    def state_of(
        self, table: DataFrame | None = None, sending: str = "true", **columns: str | Column
    ) -> DataFrame:
        """Return a state whose partitioning is declared to Spark, by default of the vertices."""
        given = {"sending": sending, **columns}
        made = {name: each for name, each in given.items() if not isinstance(each, str)}
        table = self.tables.vertices if table is None else table
        state = (table.withColumns(made) if made else table).selectExpr(
            *VERTEX,
            *(f"{name if name in made else each} AS {name}" for name, each in given.items()),
        )
        return declared(state, self.tables.partitions)

    def received(self, state: DataFrame, offers: Sequence[str], *found: str) -> DataFrame:
        """Join vertices with what is `found` by aggregating the `offers` of senders; all as SQL."""
        from pyspark.sql import functions as F

        sent = state.where("sending and degree > 0").selectExpr("id", *offers)
        inbox = (
            self.tables.edges.join(sent.hint("shuffle_hash"), F.expr("src = id"))
            .groupBy("dst")
            .agg(*map(F.expr, found))
        )
        return state.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left")


@dataclass(frozen=True)
class SuperstepLog:
    """Counters and times of the supersteps of a run."""

    state: DataFrame
    sums: list[Mapping[str, float]]
    convergence: list[float]
    seconds: list[float]
    counts: pd.DataFrame
    setup_seconds: float
    checkpoint_seconds: float = 0.0
    redone: int = 0
    values: npt.NDArray[Any] | None = None
    moved: pd.DataFrame | None = None


def changing_number(value: float) -> str:
    """Return SQL for a number that differs in each superstep, without recompilation.

    Spark inlines literals into generated Java code and compiles it again for each value: this takes
    30 to 90 ms and discards machine code. An array element is passed as data; its index must appear
    to depend on the row.
    """
    return f"get(array({float(value)!r}D), cast(degree - degree AS int))"


def superstep_group(run: str, iteration: int) -> str:
    """Return the job group name of a superstep; 0 for the first state."""
    return f"{run}/superstep/{iteration}"


def run_supersteps(
    program: SuperstepProgram,
    session: OpenSession,
    *,
    run: str,
    threshold: float,
    limit: int,
    progress: IterationCallback | None = None,
    ready: Callable[[], None] = lambda: None,
) -> SuperstepLog:
    """Run supersteps until the aggregate is below the threshold.

    The lineage of every state is truncated (``localCheckpoint``) in the action that computes its
    sums; otherwise a plan doubles with every superstep. The state is then in the memory of the
    executors. With checkpoints, every few states and the last one are also stored in files, and a
    run that loses an executor resumes from the newest one.
    """
    job = _Run(program, session, run, threshold, limit, progress)
    with spark_failures("setting up on Spark"):
        job.begin()
    setup_seconds = job.setup_seconds
    ready()
    while True:
        try:
            job.go_on()
            break
        except ExecutorLostError as error:
            job.go_back(error)
    return SuperstepLog(
        job.state,
        job.sums,
        job.aggregates,
        job.seconds,
        pd.concat(job.counts[:-1], ignore_index=True),
        setup_seconds,
        job.checkpoint_seconds,
        job.redone,
    )


class _Run:
    """A run of supersteps that resumes from a checkpoint when an executor is lost."""

    state: DataFrame

    def __init__(
        self,
        program: SuperstepProgram,
        session: OpenSession,
        run: str,
        threshold: float,
        limit: int,
        progress: IterationCallback | None,
    ) -> None:
        self._program, self._session, self._run = program, session, run
        self._threshold, self._limit, self._progress = threshold, limit, progress
        self._saved: tuple[int, DataFrame] | None = None
        self._losses: list[int] = []  # number of supersteps completed before each loss
        self._lost_seconds = self.checkpoint_seconds = 0.0
        self.redone = 0

    def begin(self) -> None:
        """Create the first state; counts and sums are of all states, the others of supersteps."""
        started = time.perf_counter()
        self._session.group(superstep_group(self._run, 0))
        state = self._program.initial()
        self._figures = _figures(self._program)
        self.counts: list[pd.DataFrame] = []
        self.sums: list[Mapping[str, float]] = []
        self.aggregates: list[float] = []
        self.seconds: list[float] = []
        self._settle(state)
        self.setup_seconds = time.perf_counter() - started

    def go_on(self) -> None:
        """Run supersteps to the end, with checkpoints at intervals."""
        checkpoints = self._session.checkpoints
        while not self._over:
            self._superstep()
            if checkpoints is not None and (self._over or checkpoints.due(len(self.aggregates))):
                self._save(checkpoints)

    def go_back(self, error: ExecutorLostError) -> None:
        """Go back to the newest checkpoint, or to the start; raise the error if that is useless."""
        done = len(self.aggregates)
        self._losses.append(done)
        if self._session.checkpoints is None or self._losses.count(done) >= _MOST_LOSSES:
            raise error
        forget(self.state)
        began = time.perf_counter()
        kept = 0 if self._saved is None else self._saved[0]
        self._lost_seconds += sum(self.seconds[kept:])
        self.redone += done - kept
        if self._saved is None:
            with spark_failures("setting up on Spark again"):
                self.begin()
        else:
            self.state = self._saved[1]
            del self.aggregates[kept:], self.seconds[kept:]
            del self.counts[kept + 1 :], self.sums[kept + 1 :]
        self._lost_seconds += time.perf_counter() - began

    @property
    def _over(self) -> bool:
        converged = bool(self.aggregates) and self.aggregates[-1] < self._threshold
        return converged or len(self.aggregates) >= self._limit

    def _superstep(self) -> None:
        iteration = len(self.aggregates) + 1
        started = time.perf_counter()
        before = self.state
        try:
            with spark_failures(f"superstep {iteration} on Spark"):
                self._session.group(superstep_group(self._run, iteration))
                self._settle(self._program.advance(before, self.sums[-1]))
        except ExecutorLostError:
            self._lost_seconds += time.perf_counter() - started
            raise
        # Lost work counts towards the first superstep after it.
        self.seconds.append(time.perf_counter() - started + self._lost_seconds)
        self._lost_seconds = 0.0
        if self._saved is None or self._saved[1] is not before:
            forget(before)
        self.aggregates.append(self._program.convergence(self.sums[-1]))
        if self._progress is not None:
            self._progress(iteration, self.aggregates[-1])

    def _settle(self, state: DataFrame) -> None:
        """Truncate the lineage of a state; add its senders and sums."""
        partition, *columns = self._figures
        state = cut_off(state)
        rows = state.groupBy(partition).agg(*columns).collect()
        table = pd.DataFrame([row.asDict() for row in rows]).sort_values("partition")
        # The senders of a state send in the superstep after it.
        iteration = len(self.counts) + 1
        counts = table[["partition", *_COUNTS]].reset_index(drop=True)
        self.state = state
        self.counts.append(counts.assign(iteration=iteration))
        sums = {str(name): float(table[name].sum()) for name in table if str(name)[:4] == _SUM}
        self.sums.append({name.removeprefix(_SUM): each for name, each in sums.items()})

    def _save(self, checkpoints: Checkpoints) -> None:
        iteration = len(self.aggregates)
        started = time.perf_counter()
        with spark_failures(f"the checkpoint after superstep {iteration} on Spark"):
            self._session.group(f"{self._run}/checkpoint/{iteration}")
            saved = checkpoints.save(self.state)
        self._saved = iteration, saved
        if self._over:  # the result is read from there
            forget(self.state)
            self.state = saved
        self.checkpoint_seconds += time.perf_counter() - started


def _figures(program: SuperstepProgram) -> list[Column]:
    """Return the columns to sum over every state, its partition first.

    Created once per run, see :class:`SuperstepProgram`.
    """
    from pyspark.sql import functions as F

    columns = {
        "partition": "spark_partition_id()",
        "total_vertices": "count(*)",
        "active_vertices": "count_if(sending)",
        "local_messages": "sum(if(sending, inside, 0))",
        OUT_EDGES: "sum(degree)",
        "remote_messages": "sum(if(sending, degree - inside, 0))",
        **{f"{_SUM}{name}": f"sum({each})" for name, each in program.sums().items()},
    }
    return [F.expr(each).alias(name) for name, each in columns.items()]
