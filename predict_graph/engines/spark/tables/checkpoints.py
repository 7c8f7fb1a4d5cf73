"""Tables that are cut off from how they came about, in memory or in files, and giving them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "SITE",
    "Checkpoints",
    "called_ours",
    "cut_off",
    "cutting_off_in_a_row",
    "forget",
    "keeping_in",
]

SITE = "predict-graph.site"
"""Local property of the user's session: where tables of ours are said to have been made."""

_CALL_SITE = "callSite.short"

_ALL_MARKED = "spark.checkpoint.checkpointAllMarkedAncestors"


def cut_off(table: DataFrame, *, eager: bool = False) -> DataFrame:
    """Return a table that is computed once, by the next action that needs it, and then kept.

    Executors keep it in memory, or on their disks where memory is short. A table made from many
    that are cut off in this way is computed in one job.
    """
    with called_ours(table.sparkSession):
        return table.localCheckpoint(eager=eager)


@contextmanager
def called_ours(spark: SparkSession) -> Iterator[None]:
    """Have tables say that we made them, where the user's session has others.

    Actions of pyspark that collect take that away again.
    """
    context = spark.sparkContext
    site = context.getLocalProperty(SITE)
    if site is None:
        yield
        return
    before = context.getLocalProperty(_CALL_SITE)
    context.setLocalProperty(_CALL_SITE, site)
    try:
        yield
    finally:
        context.setLocalProperty(_CALL_SITE, before)


@contextmanager
def cutting_off_in_a_row(spark: SparkSession) -> Iterator[None]:
    """Let one job cut off tables that are made from each other, and not the last of them only."""
    context = spark.sparkContext
    before = context.getLocalProperty(_ALL_MARKED)
    context.setLocalProperty(_ALL_MARKED, "true")
    try:
        yield
    finally:
        context.setLocalProperty(_ALL_MARKED, before)


def forget(table: DataFrame) -> None:
    """Give back what :func:`cut_off` keeps, of a table that will not be read again."""
    plan: Any = table._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)


@contextmanager
def keeping_in(spark: SparkSession, folder: Path) -> Iterator[None]:
    """Have what others write checkpoints go to a folder of ours, and put theirs back."""
    java: Any = spark.sparkContext._jsc
    context = java.sc()
    before = context.getCheckpointDir()
    context.setCheckpointDir(folder.resolve().as_uri())
    try:
        yield
    finally:
        with suppress(Exception):  # a session that failed has nothing left to put back
            getattr(context, "checkpointDir_$eq")(before)


class Checkpoints:
    """States of a run in files, which an executor that is lost does not take along.

    Each new one replaces the one before; :meth:`close` takes the last one away.

    Parameters
    ----------
    spark : SparkSession
    place : str or Path
        A folder, or an address that Spark knows.
    interval : int
        Supersteps from one to the next.
    """

    def __init__(self, spark: SparkSession, place: str | Path, interval: int) -> None:
        self._context: Any = spark.sparkContext
        self.interval = interval
        context = self._context._jsc.sc()
        before = context.getCheckpointDir()
        self._before = before.get() if before.isDefined() else None
        text = str(place)
        context.setCheckpointDir(text if "://" in text else Path(text).resolve().as_uri())
        self._folder = str(context.getCheckpointDir().get())
        self._kept: str | None = None

    def due(self, iteration: int) -> bool:
        """Whether the state after a superstep is to be kept."""
        return iteration % self.interval == 0

    def save(self, state: DataFrame) -> DataFrame:
        """Write a state, which stays in memory as well; return it as it is in the files."""
        saved = state.checkpoint(eager=True)
        plan: Any = saved._jdf.queryExecution().logical()
        replaced, self._kept = self._kept, str(plan.rdd().getCheckpointFile().get())
        if replaced is not None:
            self._delete(replaced)
        return saved

    def close(self) -> None:
        """Take away what is there; a driver that is gone leaves it to the person."""
        with suppress(Exception):
            self._delete(self._folder)
            if self._before is not None:
                # Setting a folder makes a new one inside, which the one that was set is.
                parent = self._before.rsplit("/", 1)[0]
                self._context._jsc.sc().setCheckpointDir(parent)

    def _delete(self, place: str) -> None:
        path = self._context._jvm.org.apache.hadoop.fs.Path(place)
        files = path.getFileSystem(self._context._jsc.hadoopConfiguration())
        files.delete(path, True)
