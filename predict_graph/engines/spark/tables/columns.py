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


def _edges(rows: DataFrame, columns: tuple[str, ...]) -> DataFrame:
    """Return the edges in the rows of a table; ``wrong`` is null unless a row is not an edge."""
    source, target, *weight = columns
    return rows.selectExpr(
        f"try_cast({quoted(source)} AS bigint) AS src",
        f"try_cast({quoted(target)} AS bigint) AS dst",
        *(f"CAST({quoted(name)} AS float) AS weight" for name in weight),
        f"if({_no_edge(columns)}, 'row', NULL) AS wrong",
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
    placed = rows.selectExpr("*", "_metadata.file_path AS _file", "_metadata.row_index AS _row")
    wrong = partial(_row_error, source.source, placed.orderBy("_file", "_row"), columns)
    edges = _edges(rows, columns)
    return ListedEdges(source.name, source.source, edges, wrong, source.identity, cheap=True)


def table_edges(table: DataFrame) -> ListedEdges:
    """Return the edges of a table of Spark."""
    with spark_failures("looking at the table of edges"):
        columns = checked_columns("the table", dict(table.dtypes))
    wrong = partial(_row_error, "the table", table, columns)
    return ListedEdges("table", "the table", _edges(table, columns), wrong)


def _row_error(place: str, rows: DataFrame, columns: tuple[str, ...], _: str) -> RequestError:
    """Return the error of the first row of a table that is not an edge."""
    row = rows.where(_no_edge(columns)).first()
    number, shown = "", "changed meanwhile"
    if row is not None:
        shown = ", ".join(f"{name} {row[name]}" for name in columns)
        if "_file" in row:
            place, number = shown_path(unquote(row["_file"])), f" {row['_row'] + 1}"
    return RequestError(
        f"{place}: row{number} is not an edge ({shown}); accepted: ids from 0 to {2**63 - 1}, none "
        "of them null, and weights that 32-bit floats hold"
    )
