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
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import cut_off, forget
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

_COUNTS = ("total_vertices", "active_vertices", "local_messages", "remote_messages", OUT_EDGES)


class SuperstepProgram(ABC):
    """An algorithm as supersteps over tables.

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
    """

    oldest_spark: ClassVar[tuple[int, int]] = (3, 5)

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
    """

    state: DataFrame
    sums: list[Mapping[str, float]]
    convergence: list[float]
    seconds: list[float]
    counts: pd.DataFrame
    setup_seconds: float


def changing_number(value: float) -> Column:
    """Return a number that is another one in each superstep, as a column of a state.

    Spark writes numbers into the Java that it makes of a query, and compiles it anew for each: that
    takes 30 to 90 ms, and the machine code of the supersteps before is of no use. An element of an
    array is handed over as data; which element has to look as if it hung on the row.
    """
    from pyspark.sql import functions as F

    return F.get(F.array(F.lit(float(value))), (F.col("degree") - F.col("degree")).cast("int"))


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
    that adds up its sums: without the cut a plan doubles with every superstep.

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
    started = time.perf_counter()
    with spark_failures("setting up on Spark"):
        session.group(superstep_group(run, 0))
        state, counts, sums = _settled(program.initial(), program)
    setup_seconds = time.perf_counter() - started
    if ready is not None:
        ready()
    found: list[pd.DataFrame] = []
    all_sums: list[Mapping[str, float]] = [sums]
    aggregates: list[float] = []
    seconds: list[float] = []
    while len(aggregates) < limit:
        iteration = len(aggregates) + 1
        found.append(counts.assign(iteration=iteration))
        started = time.perf_counter()
        with spark_failures(f"superstep {iteration} on Spark"):
            session.group(superstep_group(run, iteration))
            following, counts, sums = _settled(program.advance(state, sums), program)
        seconds.append(time.perf_counter() - started)
        forget(state)
        state = following
        all_sums.append(sums)
        aggregates.append(program.convergence(sums))
        if progress is not None:
            progress(iteration, aggregates[-1])
        if aggregates[-1] < threshold:
            break
    return SuperstepLog(
        state, all_sums, aggregates, seconds, pd.concat(found, ignore_index=True), setup_seconds
    )


def _settled(
    state: DataFrame, program: SuperstepProgram
) -> tuple[DataFrame, pd.DataFrame, dict[str, float]]:
    """Cut a state off, add up its sums, and return it with who will send and the sums."""
    from pyspark.sql import functions as F

    sending = F.col("sending")
    columns = {
        "total_vertices": F.count("*"),
        "active_vertices": F.count_if(sending),
        "local_messages": F.sum(F.when(sending, F.col("inside")).otherwise(0)),
        OUT_EDGES: F.sum("degree"),
        "remote_messages": F.sum(F.when(sending, F.col("degree") - F.col("inside")).otherwise(0)),
        **{f"sum_{name}": F.sum(column) for name, column in program.sums().items()},
    }
    state = cut_off(state)
    rows = (
        state.groupBy(F.spark_partition_id().alias("partition"))
        .agg(*(column.alias(name) for name, column in columns.items()))
        .collect()
    )
    table = pd.DataFrame([row.asDict() for row in rows]).sort_values("partition")
    sums = {name: float(table[f"sum_{name}"].sum()) for name in program.sums()}
    return state, table[["partition", *_COUNTS]].reset_index(drop=True), sums
