"""Sources of edges that only Spark reads: files at any address, or a table."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.columns import checked_columns, try_cast
from predict_graph.engines.spark.tables.reading import spark_files
from predict_graph.engines.spark.tables.source_files import source_files
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True)
class ListedEdges:
    """Edges at their source, before they are read."""

    name: str
    source: str
    table: DataFrame
    directed: bool | None
    identity: str | None
    cheap: bool
    error: Callable[[str], RequestError]
    notes: tuple[str, ...] = ()

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return "weight" in self.table.columns

    def fingerprint(self, directed: bool, content: str) -> str:
        """Return a digest of the graph: of its files, as for a run, or of its edges."""
        parts = (self.identity or content, str(directed))
        return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()


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
    files = spark_files(spark, found, graph)
    return ListedEdges(
        name=found.name,
        source=found.source,
        table=files.edges(spark),
        directed=files.directed,
        identity=found.identity,
        cheap=found.form == "parquet",
        error=partial(files.error, spark),
        notes=files.notes,
    )


def _of_table(table: Any) -> ListedEdges:
    from pyspark.sql import functions as F

    with spark_failures("looking at the table of edges"):
        columns = checked_columns("the table", dict(table.dtypes))
    source, target, *weight = columns
    wrong = _wrong(columns)
    edges = table.select(
        try_cast(source, "bigint").alias("src"),
        try_cast(target, "bigint").alias("dst"),
        *(F.col(f"`{name}`").cast("float").alias("weight") for name in weight),
        F.when(wrong, F.lit("table")).alias("wrong"),
    )

    def error(_: str) -> RequestError:
        row = table.select(*(f"`{name}`" for name in columns)).where(wrong).first()
        shown = "gone" if row is None else ", ".join(f"{name} {row[name]}" for name in columns)
        return RequestError(
            f"the table has a row that is not an edge ({shown}); accepted: ids from 0 to "
            f"{2**63 - 1}, none of them null, and finite weights"
        )

    return ListedEdges("table", "the table", edges, None, None, False, error)


def _wrong(columns: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F

    wrong = F.lit(False)
    for name in columns[:2]:
        id_ = try_cast(name, "bigint")
        wrong = wrong | id_.isNull() | (id_ < 0)
    for name in columns[2:]:
        weight = F.col(f"`{name}`").cast("float")
        wrong = wrong | weight.isNull() | F.isnan(weight) | (F.abs(weight) == float("inf"))
    return wrong


def check_edges(source: ListedEdges) -> tuple[int, int, str]:
    """Read all edges once; return their number, the highest id, and a digest."""
    from pyspark.sql import functions as F

    columns = [name for name in source.table.columns if name != "wrong"]
    facts = source.table.agg(
        F.count("*").alias("rows"),
        F.min("wrong").alias("wrong"),
        F.max(F.greatest("src", "dst")).alias("highest"),
        F.bit_xor(F.xxhash64(*columns)).alias("mixed"),
    ).first()
    if facts is None or facts["rows"] == 0:
        raise RequestError(f"{source.source} has no edges")
    if facts["wrong"] is not None:
        raise source.error(facts["wrong"])
    return int(facts["rows"]), int(facts["highest"]), f"{facts['rows']} {facts['mixed']}"
