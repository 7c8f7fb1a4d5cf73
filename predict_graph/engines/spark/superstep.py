"""Runs as supersteps: over tables, with one action each, and only sums on the driver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.engines.spark.session.failures import ExecutorLostError, spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.session.requirements import require_spark_line
from predict_graph.engines.spark.tables.checkpoints import (
    Checkpoints,
    cut_off,
    declared,
    forget,
)
from predict_graph.engines.spark.tables.graph_tables import GraphTables
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST_LOSSES = 3  # executor losses without a completed superstep in between: limits restarts
_SUM = "sum_"
VERTEX = ("id", "degree", "inside")
"""Columns of every state that do not change."""
_COUNTS = ("total_vertices", "active_vertices", "local_messages", "remote_messages", OUT_EDGES)


class SparkProgram(ABC):
    """How Spark runs an algorithm.

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
    """

    oldest_spark: ClassVar[tuple[int, int]] = (3, 5)
    combines: ClassVar[bool] = True

    def __init__(self, algorithm: Any, tables: GraphTables, prior: DataFrame | None = None) -> None:
        self.algorithm = algorithm
        self.tables = tables
        self.prior = prior

    @abstractmethod
    def job(self, graph: Any, session: OpenSession, **options: Any) -> SuperstepJob:
        """Return a run of the algorithm that has not started."""

    def values(self, state: DataFrame) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""
        return state

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return a summary of the result, from the last state and the sums of all states."""
        return {}


class SuperstepProgram(SparkProgram):
    """An algorithm as supersteps over tables.

    Write what runs in every superstep as SQL (``selectExpr``, ``expr``), or create it once: each
    part of a column takes several round trips to Java, and a hundred of them are a tenth of a small
    superstep.

    The state is a table with one row per vertex, partitioned by the hash of ``id`` like the
    vertices: ``id``, ``degree``, ``inside``, ``sending`` (whether the vertex sends along its
    out-edges in the next superstep) and the columns of the algorithm. Raw messages go along the
    edges; Spark may combine them.

    Attributes
    ----------
    value : str
        The result of a vertex from its row, as SQL.
    """

    value: ClassVar[str]

    def job(self, graph: Any, session: OpenSession, **options: Any) -> SuperstepJob:
        """Return a run that resumes from a checkpoint when an executor is lost."""
        return _TableJob(self, session, **options)

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
    """Counters and times of the supersteps of a run.

    Counters are those of senders by iteration and partition. For messages that no shuffle carries,
    they include the ``records`` and ``bytes`` to and from the driver.
    """

    state: DataFrame
    sums: list[Mapping[str, float]]
    convergence: list[float]
    seconds: list[float]
    counts: pd.DataFrame
    setup_seconds: float
    checkpoint_seconds: float = 0.0
    redone: int = 0
    values: npt.NDArray[Any] | None = None


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


class SuperstepJob(ABC):
    """A run of supersteps until the aggregate is below the threshold.

    Parameters
    ----------
    session : OpenSession
    run : str
        The name of the run, with which its job groups start.
    rule : tuple
        The threshold, and the most supersteps.
    progress : callable, optional
    """

    def __init__(
        self,
        session: OpenSession,
        *,
        run: str,
        rule: tuple[float, int],
        progress: IterationCallback | None = None,
    ) -> None:
        self._session, self._run = session, run
        (self._threshold, self._limit), self._progress = rule, progress
        self._aggregates: list[float] = []
        self._seconds: list[float] = []
        self._counts: list[pd.DataFrame] = []

    def execute(self, ready: Callable[[], None]) -> SuperstepLog:
        """Set up, call `ready`, run the supersteps, and return what was measured."""
        started = time.perf_counter()
        with spark_failures("setting up on Spark"):
            self._session.group(superstep_group(self._run, 0))
            self.begin()
        setup_seconds = time.perf_counter() - started
        ready()
        self.go_on()
        return self.log(
            convergence=self._aggregates,
            seconds=self._seconds,
            counts=pd.concat(self._counts, ignore_index=True),
            setup_seconds=setup_seconds,
        )

    @abstractmethod
    def begin(self) -> None:
        """Create the first state."""

    @abstractmethod
    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""

    @abstractmethod
    def log(self, **measured: Any) -> SuperstepLog:
        """Return the last state with what was measured."""

    def go_on(self) -> None:
        """Run supersteps to the end."""
        while not self._over:
            self._superstep()

    @property
    def _over(self) -> bool:
        converged = bool(self._aggregates) and self._aggregates[-1] < self._threshold
        return converged or len(self._aggregates) >= self._limit

    def _superstep(self) -> None:
        iteration = len(self._aggregates) + 1
        started = time.perf_counter()
        with spark_failures(f"superstep {iteration} on Spark"):
            self._session.group(superstep_group(self._run, iteration))
            aggregate = self.advance()
        self._seconds.append(time.perf_counter() - started)
        self._aggregates.append(aggregate)
        if self._progress is not None:
            self._progress(iteration, aggregate)


class _TableJob(SuperstepJob):
    """A run over tables, whose only sums come to the driver.

    The lineage of every state is truncated (``localCheckpoint``) in the action that computes its
    sums; otherwise a plan doubles with every superstep. The state is then in the memory of the
    executors. With checkpoints, every few states and the last one are also stored in files, and a
    run that loses an executor resumes from the newest one.
    """

    _state: DataFrame

    def __init__(self, program: SuperstepProgram, session: OpenSession, **options: Any) -> None:
        super().__init__(session, **options)
        self._program = program
        self._sums: list[Mapping[str, float]] = []
        self._saved: tuple[int, DataFrame] | None = None
        self._losses: list[int] = []  # number of supersteps completed before each loss
        self._checkpoint_seconds = 0.0
        self._redone = 0

    def begin(self) -> None:
        state = self._program.initial()
        self._figures = _figures(self._program)
        self._settle(state)

    def advance(self) -> float:
        self._settle(self._program.advance(self._state, self._sums[-1]))
        return self._program.convergence(self._sums[-1])

    def go_on(self) -> None:
        """Run supersteps to the end, with checkpoints at intervals.

        Work that is lost with an executor counts towards the first superstep after it.
        """
        checkpoints = self._session.checkpoints
        lost = 0.0
        while not self._over:
            started, done, before = time.perf_counter(), len(self._aggregates), self._state
            try:
                self._superstep()
                self._seconds[-1] += lost
                lost = 0.0
                if self._saved is None or self._saved[1] is not before:
                    forget(before)
                if checkpoints and (self._over or checkpoints.due(len(self._aggregates))):
                    self._save(checkpoints)
            except ExecutorLostError as error:
                if len(self._aggregates) == done:
                    lost += time.perf_counter() - started
                lost += self._go_back(error)

    def _go_back(self, error: ExecutorLostError) -> float:
        """Go back to the newest checkpoint, or to the start, and return the lost seconds; raise the
        error if that is useless.
        """
        done = len(self._aggregates)
        self._losses.append(done)
        if self._session.checkpoints is None or self._losses.count(done) >= _MOST_LOSSES:
            raise error
        forget(self._state)
        started = time.perf_counter()
        kept = 0 if self._saved is None else self._saved[0]
        dropped = sum(self._seconds[kept:])
        self._redone += done - kept
        del self._aggregates[kept:], self._seconds[kept:]
        if self._saved is None:
            self._counts.clear()
            self._sums.clear()
            with spark_failures("setting up on Spark again"):
                self._session.group(superstep_group(self._run, 0))
                self.begin()
        else:
            self._state = self._saved[1]
            del self._counts[kept + 1 :], self._sums[kept + 1 :]
        return dropped + time.perf_counter() - started

    def log(self, **measured: Any) -> SuperstepLog:
        return SuperstepLog(
            state=self._state,
            sums=self._sums,
            checkpoint_seconds=self._checkpoint_seconds,
            redone=self._redone,
            **measured,
        )

    def _settle(self, state: DataFrame) -> None:
        """Truncate the lineage of a state; add its senders and sums."""
        partition, *columns = self._figures
        state = cut_off(state)
        rows = state.groupBy(partition).agg(*columns).collect()
        table = pd.DataFrame([row.asDict() for row in rows]).sort_values("partition")
        # The senders of a state send in the superstep after it.
        iteration = len(self._counts) + 1
        counts = table[["partition", *_COUNTS]].reset_index(drop=True)
        self._state = state
        self._counts.append(counts.assign(iteration=iteration))
        sums = {str(name): float(table[name].sum()) for name in table if str(name)[:4] == _SUM}
        self._sums.append({name.removeprefix(_SUM): each for name, each in sums.items()})

    def _save(self, checkpoints: Checkpoints) -> None:
        iteration = len(self._aggregates)
        started = time.perf_counter()
        with spark_failures(f"the checkpoint after superstep {iteration} on Spark"):
            self._session.group(f"{self._run}/checkpoint/{iteration}")
            saved = checkpoints.save(self._state)
        self._saved = iteration, saved
        if self._over:  # the result is read from there
            forget(self._state)
            self._state = saved
        self._checkpoint_seconds += time.perf_counter() - started


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


def program_of(algorithm: Algorithm) -> type[SparkProgram]:
    """Return the program that runs an algorithm on Spark."""
    found: type[SparkProgram] | None = algorithm.part_for("spark")
    if found is None:
        raise RequestError(
            f"{algorithm.name} declares no program for the spark engine; accepted: an algorithm "
            "with runs_on = {'spark': a SuperstepProgram}"
        )
    return found


def check_program(algorithm: Algorithm) -> None:
    """Check that an algorithm has a program, and that Spark is new enough for it."""
    require_spark_line(program_of(algorithm).oldest_spark, f"{algorithm.name} on Spark")
