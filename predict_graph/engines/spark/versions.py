"""Differences between Spark 3.5 and Spark 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from predict_graph.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spark_line() -> tuple[int, int]:
    """Return the version line of the installed pyspark: major and minor version."""
    import pyspark

    major, minor = pyspark.__version__.split(".")[:2]
    return int(major), int(minor)


def needs_spark(oldest: tuple[int, int], what: str) -> None:
    """Check that Spark is new enough for a feature."""
    line = spark_line()
    if line < oldest:
        raise JobError(
            f"{what} needs Spark {oldest[0]}.{oldest[1]} or newer, but pyspark is "
            f"{line[0]}.{line[1]}"
        )


def table_of(table: DataFrame, partitioning: Any) -> DataFrame:
    """Return the same rows as a table with a partitioning that Spark knows."""
    from pyspark.sql import DataFrame as Table

    spark: Any = table.sparkSession
    jvm, sql = spark._jvm, "org.apache.spark.sql"
    nothing = getattr(jvm, "scala.Option").empty()
    execution = table._jdf.queryExecution()
    given = (
        execution.analyzed().output(),
        execution.toRdd(),
        partitioning,
        execution.executedPlan().outputOrdering(),
        False,
        *([nothing] if spark_line() >= (4, 0) else []),  # a stream source
        spark._jsparkSession,
        nothing,
        nothing,
    )
    plan = getattr(jvm, f"{sql}.execution.LogicalRDD")(*given)
    datasets = getattr(
        jvm, f"{sql}.classic.Dataset" if spark_line() >= (4, 0) else f"{sql}.Dataset"
    )
    return Table(datasets.ofRows(spark._jsparkSession, plan), spark)
