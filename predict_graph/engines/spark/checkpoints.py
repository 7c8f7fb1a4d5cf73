"""Tables that are cut off from how they came about, and giving their memory back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["cut_off", "forget"]


def cut_off(table: DataFrame) -> DataFrame:
    """Return a table that is computed once, by the next action that needs it, and then kept.

    Executors keep it in memory, or on their disks where memory is short. A table made from many
    that are cut off in this way is computed in one job.
    """
    return table.localCheckpoint(eager=False)


def forget(table: DataFrame) -> None:
    """Give back what :func:`cut_off` keeps, of a table that will not be read again."""
    plan: Any = table._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)
