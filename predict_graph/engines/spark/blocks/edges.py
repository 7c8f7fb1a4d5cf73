"""Sources of edges that only Spark reads: files at any address, or a table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.columns import (
    checked_columns,
    edge_columns,
    parquet_edges,
    row_error,
)
from predict_graph.engines.spark.tables.lines import text_edges
from predict_graph.engines.spark.tables.source_files import ListedEdges, source_files
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_table(graph: Any) -> bool:
    """Whether an object is a Spark table, without importing Spark."""
    return any(
        each.__name__ == "DataFrame" and each.__module__.startswith("pyspark.sql")
        for each in type(graph).__mro__
    )


def edge_source(spark: SparkSession, graph: Any) -> ListedEdges:
    """Inspect the source of a graph: names, types and first lines only."""
    if is_table(graph):
        return _of_table(graph)
    if not isinstance(graph, str | os.PathLike):
        raise RequestError(
            f"Spark cannot read a {type(graph).__name__}; accepted: a path, an address, or a "
            "DataFrame of edges"
        )
    found = source_files(spark, graph)
    edges = text_edges if found.form == "text" else parquet_edges
    return edges(spark, found, EdgeList.of(graph, "integer"))


def _of_table(table: Any) -> ListedEdges:
    with spark_failures("looking at the table of edges"):
        columns = checked_columns("the table", dict(table.dtypes))

    def error(_: str) -> RequestError:
        return row_error("the table", table, columns)

    edges = edge_columns(table, columns, "'table'")
    return ListedEdges("table", "the table", edges, error)


def check_edges(source: ListedEdges) -> tuple[int, str]:
    """Read all edges once; return the highest id, and a digest."""
    columns = ", ".join(name for name in source.table.columns if name != "wrong")
    facts = source.table.selectExpr(
        "count(*) AS rows",
        "min(wrong) AS wrong",
        "max(greatest(src, dst)) AS highest",
        f"bit_xor(xxhash64({columns})) AS mixed",
    ).first()
    if facts is None or facts["rows"] == 0:
        raise RequestError(f"{source.source} has no edges")
    if facts["wrong"] is not None:
        raise source.error(facts["wrong"])
    return int(facts["highest"]), f"{facts['rows']} {facts['mixed']}"
