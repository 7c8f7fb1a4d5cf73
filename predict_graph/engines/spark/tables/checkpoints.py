"""States of a run in files, and releasing tables with truncated lineage."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def forget(table: DataFrame) -> None:
    """Release the memory of a table that was checkpointed."""
    plan: Any = table._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)


@contextmanager
def released(table: DataFrame) -> Iterator[DataFrame]:
    """Release the memory of a cached table at the end, unless the session has failed."""
    try:
        yield table
    finally:
        with suppress(Exception):
            table.unpersist()


def release(context: Any, site: str | None, kept: Collection[int] = ()) -> None:
    """Release cached data of a session, but for those `kept`; with a site, only what it created."""
    with suppress(Exception):  # a failed session has released its memory
        there = context._jsc.getPersistentRDDs()
        for number in set(there).difference(kept):
            if site is None or there[number].rdd().getCreationSite() == site:
                there[number].unpersist(False)


class Checkpoints:
    """States of a run in files at a folder or URL, which survive the loss of an executor.

    Each replaces the previous one; :meth:`close` deletes the last one.
    """

    def __init__(self, spark: SparkSession, place: str | Path, interval: int) -> None:
        self._spark: Any = spark
        self.interval = interval
        context = self._spark.sparkContext._jsc.sc()
        text = str(place)
        context.setCheckpointDir(text if "://" in text else f"file://{Path(text).resolve()}")
        self._folder = str(context.getCheckpointDir().get())
        self._kept: str | None = None

    def save(self, state: DataFrame) -> DataFrame:
        """Write a state, which also stays in memory; return it as read from the files."""
        saved = state.checkpoint(eager=True)
        plan: Any = saved._jdf.queryExecution().logical()
        replaced, self._kept = self._kept, str(plan.rdd().getCheckpointFile().get())
        if replaced is not None:
            delete_address(self._spark, replaced)
        return saved

    def close(self) -> None:
        """Delete the files."""
        delete_address(self._spark, self._folder)


def hadoop_path(spark: Any, address: str) -> tuple[Any, Any]:
    """Return a path of Hadoop, and its file system."""
    context = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(address)
    return path, path.getFileSystem(context._jsc.hadoopConfiguration())


def delete_address(spark: Any, address: str) -> None:
    """Delete what is at an address, unless the driver is gone."""
    with suppress(Exception):
        path, files = hadoop_path(spark, address)
        files.delete(path, True)
