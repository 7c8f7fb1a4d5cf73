"""Tables that are cut off from how they came about, and giving their memory back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SITE", "called_ours", "cut_off", "cutting_off_in_a_row", "forget"]

SITE = "predict-graph.site"
"""Local property of a person's session: where tables of ours are said to have been made."""

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
    """Have tables say that we made them, where a person's session has others.

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
