"""Where Spark 3.5 differs from Spark 4: what one has and the other has not, or names otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from predict_graph.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["needs_spark", "spark_line", "table_of"]


def spark_line() -> tuple[int, int]:
    """Return the line of the installed pyspark: major and minor version."""
    import pyspark

    major, minor = pyspark.__version__.split(".")[:2]
    return int(major), int(minor)


def needs_spark(oldest: tuple[int, int], what: str) -> None:
    """Check that Spark is new enough for something.

    Raises
    ------
    JobError
        If it is not.
    """
    line = spark_line()
    if line < oldest:
        raise JobError(
            f"{what} needs Spark {oldest[0]}.{oldest[1]} or newer, but pyspark is "
            f"{line[0]}.{line[1]}"
        )


def table_of(table: DataFrame, partitioning: Any) -> DataFrame:
    """Return the same rows as a table of which Spark knows how they are spread."""
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
        *([nothing] if spark_line() >= (4, 0) else []),  # where it streams from
        spark._jsparkSession,
        nothing,
        nothing,
    )
    plan = getattr(jvm, f"{sql}.execution.LogicalRDD")(*given)
    datasets = getattr(
        jvm, f"{sql}.classic.Dataset" if spark_line() >= (4, 0) else f"{sql}.Dataset"
    )
    return Table(datasets.ofRows(spark._jsparkSession, plan), spark)
