"""Numbering the rows of a table in an order, without bringing them to one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from predict_graph.engines.spark.tables.checkpoints import cut_off

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["numbered"]

_ROW_BITS = (1 << 33) - 1  # by definition of monotonically_increasing_id: the row in its partition


def numbered(table: DataFrame, *order: str, name: str) -> tuple[DataFrame, int]:
    """Number rows 0, 1, 2, … in ascending order of some columns.

    Ranges of the order go to one partition each and are sorted there; only the number of rows of
    each partition comes to the driver.

    Parameters
    ----------
    table : DataFrame
        Read twice: once for the bounds of the ranges.
    *order : str
        Columns that no two rows have in common.
    name : str
        Of the column for the numbers.

    Returns
    -------
    table : DataFrame
        With the new column, cut off from how it came about.
    count : int
        Number of rows.
    """
    from pyspark.sql import functions as F

    placed = cut_off(
        table.repartitionByRange(*order)
        .sortWithinPartitions(*order)
        .select(
            "*",
            F.spark_partition_id().alias("_partition"),
            F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_BITS)).alias("_row"),
        )
    )
    rows = placed.groupBy("_partition").count().collect()
    counts = np.zeros(1 + max((row["_partition"] for row in rows), default=0), np.int64)
    for row in rows:
        counts[row["_partition"]] = row["count"]
    before = (np.cumsum(counts) - counts).tolist()
    offset = F.element_at(F.lit(before), F.col("_partition") + 1).cast("bigint")
    table = placed.withColumn(name, offset + F.col("_row")).drop("_partition", "_row")
    return table, int(counts.sum())
