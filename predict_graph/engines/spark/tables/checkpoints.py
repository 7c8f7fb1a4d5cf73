"""Tables that are cut off from how they came about, and giving their memory back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["cut_off", "cutting_off_in_a_row", "forget"]

_ALL_MARKED = "spark.checkpoint.checkpointAllMarkedAncestors"


def cut_off(table: DataFrame) -> DataFrame:
    """Return a table that is computed once, by the next action that needs it, and then kept.

    Executors keep it in memory, or on their disks where memory is short. A table made from many
    that are cut off in this way is computed in one job.
    """
    return table.localCheckpoint(eager=False)


@contextmanager
def cutting_off_in_a_row(spark: SparkSession) -> Iterator[None]:
    """Let one job cut off tables that are made from each other, and not the last of them only."""
    context = spark.sparkContext
    before = context.getLocalProperty(_ALL_MARKED)
    context.setLocalProperty(_ALL_MARKED, "true")
    try:
        yield
    finally:
        context.setLocalProperty(_ALL_MARKED, before or "false")


def forget(table: DataFrame) -> None:
    """Give back what :func:`cut_off` keeps, of a table that will not be read again."""
    plan: Any = table._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)
