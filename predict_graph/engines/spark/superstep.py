"""A run as a row of supersteps over tables: one action each, and nothing but sums on the driver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from predict_graph.engines.base import IterationCallback
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.engines.spark.session.failures import ExecutorLostError, spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import Checkpoints, cut_off, forget
from predict_graph.engines.spark.tables.graph_tables import GraphTables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = [
    "SuperstepLog",
    "SuperstepProgram",
    "changing_number",
    "run_supersteps",
    "superstep_group",
]

_MOST_LOSSES = 3  # of executors without a superstep in between; a choice: a fourth is no accident
_SUM = "sum_"
_COUNTS = ("total_vertices", "active_vertices", "local_messages", "remote_messages", OUT_EDGES)


class SuperstepProgram(ABC):
    """An algorithm as supersteps over tables.

    What runs in every superstep is best written as SQL (``selectExpr``, ``expr``), or made once and
    kept: each part of a column is several round trips to Java, and a hundred of them are a tenth
    of a small superstep.

    The state is a table with a row a vertex, by the hash of ``id`` as the vertices are: ``id``,
    ``degree``, ``inside``, ``sending`` (whether the vertex sends along its out-edges in the next
    superstep) and what the algorithm keeps. Along the edges go raw messages; what Spark combines on
    the way is its own business.

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
    looks_up : bool
        Whether Spark looks each message up in hash tables of the vertices of a partition, as its
        joins and aggregations do. The larger these are, the longer that takes.
    """

    oldest_spark: ClassVar[tuple[int, int]] = (3, 5)
    combines: ClassVar[bool] = True
    looks_up: ClassVar[bool] = True

    def __init__(self, algorithm: Any, tables: GraphTables, prior: DataFrame | None = None) -> None:
        self.algorithm = algorithm
        self.tables = tables
        self.prior = prior

    @abstractmethod
    def initial(self) -> DataFrame:
        """Return the state before the first superstep."""

    @abstractmethod
    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Return the state after one superstep, from the one before and its sums."""

    @abstractmethod
    def sums(self) -> dict[str, Column]:
        """Return what is added up over all rows of a state, by name; also of the first one."""

    @abstractmethod
    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the aggregate that the threshold is on, from the sums after a superstep."""

    @abstractmethod
    def values(self, state: DataFrame) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return figures of the whole result, from the last state and the sums of all states."""
        return {}


@dataclass(frozen=True)
class SuperstepLog:
    """What the supersteps of a run did.

    Parameters
    ----------
    state : DataFrame
        After the last one.
    sums : list of mapping
        Of the first state and after each superstep.
    convergence : list of float
    seconds : list of float
        Wall-clock time of each.
    counts : DataFrame
        ``iteration, partition, total_vertices, active_vertices, local_messages, remote_messages,
        out_edges``: who sent in each superstep.
    setup_seconds : float
        What the first state took.
    checkpoint_seconds : float
        What keeping states in files took.
    redone : int
        Supersteps that were done again, because an executor was lost.
    """

    state: DataFrame
    sums: list[Mapping[str, float]]
    convergence: list[float]
    seconds: list[float]
    counts: pd.DataFrame
    setup_seconds: float
    checkpoint_seconds: float = 0.0
    redone: int = 0


def changing_number(value: float) -> str:
    """Return a number that is another one in each superstep, as SQL has it for a row of a state.

    Spark writes numbers into the Java that it makes of a query, and compiles it anew for each: that
    takes 30 to 90 ms, and the machine code of the supersteps before is of no use. An element of an
    array is handed over as data; which element has to look as if it hung on the row.
    """
    return f"get(array({float(value)!r}D), cast(degree - degree AS int))"


def superstep_group(run: str, iteration: int) -> str:
    """Return the name of the job group of a superstep; 0 for the first state."""
    return f"{run}/superstep/{iteration}"


def run_supersteps(
    program: SuperstepProgram,
    session: OpenSession,
    *,
    run: str,
    threshold: float,
    limit: int,
    progress: IterationCallback | None = None,
    ready: Callable[[], None] | None = None,
) -> SuperstepLog:
    """Run supersteps until the aggregate is below the threshold.

    Every state is cut off from how it came about (``localCheckpoint``) and made by the very action
    that adds up its sums: without the cut a plan doubles with every superstep. It is in the memory
    of the executors then. Where the session keeps checkpoints, every few states and the last one
    are in files as well, and a run that loses an executor goes back to the last of them.

    Parameters
    ----------
    program : SuperstepProgram
    session : OpenSession
    run : str
        Begins the names of the job groups.
    threshold : float
    limit : int
        Supersteps at most.
    progress : callable, optional
    ready : callable, optional
        Called when the first state is there.

    Raises
    ------
    JobError
        If a superstep fails.
    """
    job = _Run(program, session, run, threshold, limit, progress)
    with spark_failures("setting up on Spark"):
        job.begin()
    setup_seconds = job.setup_seconds
    if ready is not None:
        ready()
    while True:
        try:
            job.go_on()
            break
        except ExecutorLostError:
            if not job.may_go_back():
                raise
            job.go_back()
    return SuperstepLog(
        job.state,
        job.all_sums,
        job.aggregates,
        job.seconds,
        pd.concat(job.found, ignore_index=True),
        setup_seconds,
        job.checkpoint_seconds,
        job.redone,
    )


class _Run:
    """Supersteps as they go on, and back to a checkpoint where an executor is lost."""

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
        self._figures: list[Column] = []
        self._saved: tuple[int, DataFrame, pd.DataFrame] | None = None
        self._losses: list[int] = []  # supersteps that were done by then
        self.lost_seconds = self.checkpoint_seconds = self.setup_seconds = 0.0
        self.redone = 0

    def begin(self) -> None:
        """Make the first state, as if nothing had been done."""
        started = time.perf_counter()
        self._session.group(superstep_group(self._run, 0))
        state = self._program.initial()
        self._figures = _figures(self._program)
        self.state, self._counts, sums = _settled(state, self._figures)
        self.found: list[pd.DataFrame] = []
        self.all_sums: list[Mapping[str, float]] = [sums]
        self.aggregates: list[float] = []
        self.seconds: list[float] = []
        self.setup_seconds = time.perf_counter() - started

    def go_on(self) -> None:
        """Run supersteps to the end, and keep the state now and then."""
        while not self._over:
            self._superstep()
            checkpoints = self._session.checkpoints
            last = self._over
            if checkpoints is not None and (last or checkpoints.due(len(self.aggregates))):
                self._save(checkpoints, last=last)

    def may_go_back(self) -> bool:
        """Whether states are kept, and something was gained since the last losses."""
        done = len(self.aggregates)
        self._losses.append(done)
        return self._session.checkpoints is not None and self._losses.count(done) < _MOST_LOSSES

    def go_back(self) -> None:
        """Go back to the last state that was kept, or to the beginning."""
        done = len(self.aggregates)
        forget(self.state)
        began = time.perf_counter()
        kept = 0 if self._saved is None else self._saved[0]
        self.lost_seconds += sum(self.seconds[kept:])
        self.redone += done - kept
        if self._saved is None:
            spent = self.setup_seconds
            with spark_failures("setting up on Spark again"):
                self.begin()
            self.setup_seconds = spent
        else:
            _, self.state, self._counts = self._saved
            del self.aggregates[kept:], self.seconds[kept:], self.found[kept:]
            del self.all_sums[kept + 1 :]
        self.lost_seconds += time.perf_counter() - began

    @property
    def _over(self) -> bool:
        converged = bool(self.aggregates) and self.aggregates[-1] < self._threshold
        return converged or len(self.aggregates) >= self._limit

    def _superstep(self) -> None:
        iteration = len(self.aggregates) + 1
        started = time.perf_counter()
        try:
            with spark_failures(f"superstep {iteration} on Spark"):
                self._session.group(superstep_group(self._run, iteration))
                following = self._program.advance(self.state, self.all_sums[-1])
                following, counts, sums = _settled(following, self._figures)
        except ExecutorLostError:
            self.lost_seconds += time.perf_counter() - started
            raise
        # What was done in vain is part of what the first superstep after it took.
        self.seconds.append(time.perf_counter() - started + self.lost_seconds)
        self.lost_seconds = 0.0
        self.found.append(self._counts.assign(iteration=iteration))
        if self._saved is None or self._saved[1] is not self.state:
            forget(self.state)
        self.state, self._counts = following, counts
        self.all_sums.append(sums)
        self.aggregates.append(self._program.convergence(sums))
        if self._progress is not None:
            self._progress(iteration, self.aggregates[-1])

    def _save(self, checkpoints: Checkpoints, *, last: bool) -> None:
        iteration = len(self.aggregates)
        started = time.perf_counter()
        with spark_failures(f"the checkpoint after superstep {iteration} on Spark"):
            self._session.group(f"{self._run}/checkpoint/{iteration}")
            saved = checkpoints.save(self.state)
        self._saved = iteration, saved, self._counts
        if last:  # what makes the result reads it from there
            forget(self.state)
            self.state = saved
        self.checkpoint_seconds += time.perf_counter() - started


def _figures(program: SuperstepProgram) -> list[Column]:
    """Return what is added up of every state, its partition first.

    Made once a run, see :class:`SuperstepProgram`.
    """
    from pyspark.sql import functions as F

    sending = F.col("sending")
    columns = {
        "total_vertices": F.count("*"),
        "active_vertices": F.count_if(sending),
        "local_messages": F.sum(F.when(sending, F.col("inside")).otherwise(0)),
        OUT_EDGES: F.sum("degree"),
        "remote_messages": F.sum(F.when(sending, F.col("degree") - F.col("inside")).otherwise(0)),
        **{f"{_SUM}{name}": F.sum(column) for name, column in program.sums().items()},
    }
    partition = F.spark_partition_id().alias("partition")
    return [partition, *(column.alias(name) for name, column in columns.items())]


def _settled(
    state: DataFrame, figures: list[Column]
) -> tuple[DataFrame, pd.DataFrame, dict[str, float]]:
    """Cut a state off, add up its sums, and return it with who will send and the sums."""
    partition, *columns = figures
    state = cut_off(state)
    rows = state.groupBy(partition).agg(*columns).collect()
    table = pd.DataFrame([row.asDict() for row in rows]).sort_values("partition")
    sums = {
        str(name).removeprefix(_SUM): float(table[name].sum())
        for name in table
        if str(name).startswith(_SUM)
    }
    return state, table[["partition", *_COUNTS]].reset_index(drop=True), sums
