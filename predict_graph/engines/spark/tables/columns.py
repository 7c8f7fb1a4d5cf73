"""Edges in Parquet files and Spark tables; columns are found by name as the local reader does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.source_files import (
    ListedEdges,
    SourceFiles,
    literal_path,
    shown_path,
)
from predict_graph.errors import JobError, RequestError
from predict_graph.graph.columns import find_columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.readers.blocks import LARGEST_WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INTEGERS = ("tinyint", "smallint", "int", "bigint", "decimal(20,0)")  # the last is uint64
_NUMBERS = (*_INTEGERS, "float", "double")


def checked_columns(
    source: str, types: Mapping[str, str], wanted: EdgeList | None = None
) -> tuple[str, ...]:
    """Return the columns of edges in a table: source, target and, if any, weight.

    Types are those of Spark, by column; errors call the table `source`.

    Examples
    --------
    >>> checked_columns("it", {"when": "date", "dst": "int", "src": "bigint"})
    ('src', 'dst')
    """
    names = list(types)
    usable = [types[name] in (*_INTEGERS, "string") for name in names]
    found = find_columns(names, source, wanted or EdgeList(source), usable)
    if found.bipartite:
        refuse_two_sides(source)
    chosen = tuple(names[place] for place in found.places)
    for name in chosen[:2]:
        if types[name] not in _INTEGERS:
            raise RequestError(
                f"{source}: the column {name!r} holds {types[name]}, not ids; accepted: integers"
            )
    for name in chosen[2:]:
        if types[name] not in _NUMBERS and not types[name].startswith("decimal"):
            raise RequestError(f"{source}: the column {name!r} holds {types[name]}, not numbers")
    return chosen


def refuse_two_sides(source: str) -> NoReturn:
    """Refuse a graph whose two sides have ids of their own."""
    raise RequestError(
        f"{source} is bipartite: an id means two vertices; accepted for a graph that Spark reads: "
        "ids that differ, in columns named source and target, or with --no-bipartite"
    )


def edge_columns(rows: DataFrame, columns: tuple[str, ...], place: str) -> DataFrame:
    """Return the edges in the rows of a table; ``wrong`` is the value of `place`, which
    is SQL, where a row is not an edge, else null.
    """
    source, target, *weight = columns
    return rows.selectExpr(
        f"try_cast({quoted(source)} AS bigint) AS src",
        f"try_cast({quoted(target)} AS bigint) AS dst",
        *(f"CAST({quoted(name)} AS float) AS weight" for name in weight),
        f"if({_no_edge(columns)}, {place}, NULL) AS wrong",
    )


def quoted(name: str) -> str:
    """Return the name of a column as SQL."""
    return "`" + name.replace("`", "``") + "`"


def _no_edge(columns: tuple[str, ...]) -> str:
    """Return SQL for rows that are no edges: an id is missing, negative or beyond 64 bits, or a
    weight is missing or not held by a 32-bit float.
    """
    largest = f"{LARGEST_WEIGHT!r}D"
    ids = [f"coalesce(try_cast({quoted(name)} AS bigint), -1) < 0" for name in columns[:2]]
    weights = [
        f"NOT coalesce(abs(CAST({quoted(name)} AS double)) <= {largest}, false)"
        for name in columns[2:]
    ]
    return " OR ".join(ids + weights)


def parquet_edges(spark: SparkSession, source: SourceFiles, wanted: EdgeList) -> ListedEdges:
    """Return the edges of Parquet files, whose columns are inspected."""
    try:
        with spark_failures("reading"):
            rows = spark.read.parquet(source.path)
    except JobError as error:
        reason = str(error).removeprefix("reading failed: ")
        raise RequestError(f"{source.source} is not Parquet that can be read: {reason}") from error
    columns = checked_columns(source.source, dict(rows.dtypes), wanted)
    table = edge_columns(rows, columns, "_metadata.file_path")
    wrong = partial(_row_error, spark, columns)
    return ListedEdges(source.name, source.source, table, wrong, source.identity, cheap=True)


def _row_error(spark: SparkSession, columns: tuple[str, ...], wrong: str) -> RequestError:
    """Return the error of the first row of a file that is not an edge."""
    address = unquote(wrong)
    rows = spark.read.parquet(literal_path(address)).selectExpr("*", "_metadata.row_index AS _row")
    return row_error(shown_path(address), rows.orderBy("_row"), columns)


def row_error(place: str, rows: DataFrame, columns: tuple[str, ...]) -> RequestError:
    """Return the error of the first row of a table that is not an edge."""
    row = rows.where(_no_edge(columns)).first()
    shown = (
        "changed meanwhile" if row is None else ", ".join(f"{name} {row[name]}" for name in columns)
    )
    number = f" {row['_row'] + 1}" if row is not None and "_row" in row else ""
    return RequestError(
        f"{place}: row{number} is not an edge ({shown}); accepted: ids from 0 to {2**63 - 1}, none "
        "of them null, and weights that 32-bit floats hold"
    )
