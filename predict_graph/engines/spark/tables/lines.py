"""Lines of text as edges, by expressions that Spark compiles.

The rules are those of :mod:`predict_graph.graph.readers.text`, with two exceptions: a header is
dropped from every file of a folder, and quotes apply only with a comma, semicolon or tab as the
delimiter. Spark finds the lines that are no edges, and the local reader describes the first one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.columns import try_cast
from predict_graph.engines.spark.tables.source_files import (
    ListedEdges,
    SourceFiles,
    literal_path,
    shown_path,
)
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import Layout, declared_direction, layout_of, scan_error
from predict_graph.graph.readers.text import scan_blocks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# Lines at the head of a file that determine the layout, and comments before them: limit the time
_SAMPLE, _MOST_COMMENTS = 2000, 100_000
_BLANKS = " \t\r\ufeff"
_DIGITS = "^[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def text_edges(spark: SparkSession, source: SourceFiles, wanted: EdgeList) -> ListedEdges:
    """Return the edges of text files, whose first lines of data are inspected."""
    layout, header, directed = _first_data(spark, source, wanted)
    weight = [] if layout.weight is None else ["weight"]
    parsed = _parsed(spark, source.path, layout, header).where("data")
    table = parsed.selectExpr("src", "dst", *weight, "if(wrong, file, NULL) AS wrong")
    error = partial(_line_error, spark, layout, header)
    return source.listed(table, error, directed=directed, notes=layout.notes)


def _first_data(
    spark: SparkSession, source: SourceFiles, wanted: EdgeList
) -> tuple[Layout, str | None, bool | None]:
    """Return the layout of lines, the header, and the direction that comments or columns declare;
    each None if there is none.
    """
    comments = b""
    for address in source.files:
        place = shown_path(address)
        for most in (_SAMPLE, _MOST_COMMENTS):
            with spark_failures(f"reading {place}"):
                rows = _lines(spark, literal_path(address)).head(most)
            lines = [row["value"].strip(_BLANKS) for row in rows]
            data = [at for at, line in enumerate(lines) if line and line[0] not in "#%"]
            if data or len(lines) < most:
                break
        head = lines[: data[0]] if data else lines
        comments += "".join(f"{line[: 1 << 10]}\n" for line in head).encode()
        if not data:
            continue
        first = lines[data[0]]
        where = f"{place}:{data[0] + 1}"
        found = layout_of([lines[at].encode() for at in data], source.suffix, wanted, where)
        bipartite = found.bipartite or comments.startswith(b"% bip")
        if bipartite and wanted.bipartite is not False:
            raise RequestError(
                f"{source.source} is bipartite: an id means two vertices; accepted for "
                "a graph that Spark reads: ids that differ, with --no-bipartite"
            )
        declared = declared_direction(comments)
        declared = found.directed if declared is None else declared
        return found, first if found.header else None, declared
    raise RequestError(f"{source.source} has no edges")


def _line_error(
    spark: SparkSession, layout: Layout, header: str | None, wrong: str
) -> RequestError:
    """Return the error of the first line of a file that is not an edge."""
    from pyspark.sql import functions as F

    address = unquote(wrong)
    # Only the text of the path is used, and a Path would spoil an address.
    place = cast(Path, shown_path(address))
    blocks = (
        _parsed(spark, literal_path(address), layout, header)
        .groupBy("block")
        .agg(
            F.expr("min(if(wrong, struct(row, line), NULL)) AS first"),
            F.expr("min(row) AS start"),
            F.expr("count(*) AS lines"),
        )
        .orderBy("block")
        .collect()
    )
    before = 0
    for block in blocks:
        if block["first"] is not None:
            before += block["first"]["row"] - block["start"]
            line = block["first"]["line"]
            try:
                list(
                    scan_blocks(place, iter([bytearray(f"{line}\n".encode())]), layout, line=before)
                )
            except RequestError as error:
                return error
            return scan_error(place, before + 1, scan.NOT_INTEGER, line[:40])
        before += block["lines"]
    return RequestError(f"{place} changed while it was read")


def _lines(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.option("lineSep", "\n").text(path)


def _parsed(spark: SparkSession, path: str, layout: Layout, header: str | None) -> DataFrame:
    """Return all lines, whether they are ``data``, and ``wrong`` ones: ``src``, ``dst`` and, if
    any, ``weight``, with their place: ``file``, ``block`` and ``row``.
    """
    from pyspark.sql import functions as F

    blanks = _BLANKS.replace("\t", "") if layout.delimiter == ord("\t") else _BLANKS
    line = F.col("line")
    data = (line != "") & ~F.substring(line, 1, 1).isin("#", "%")
    if header is not None:
        data = data & (F.btrim(line, F.lit(_BLANKS)) != header)
    columns = {"source": layout.source, "target": layout.target}
    right = F.size("parts") <= 2 if layout.exact else F.lit(True)
    for name in columns:
        right = right & F.col(name).rlike(_DIGITS) & try_cast(name, "bigint").isNotNull()
    weight = []
    if layout.weight is not None:
        columns["value"], value = layout.weight, try_cast("value", "double")
        right = right & F.col("value").rlike(_NUMBER) & (F.abs(value) <= scan.LARGEST_WEIGHT)
        weight.append(value.cast("float").alias("weight"))
    fields = (
        _lines(spark, path)
        .select(
            F.btrim("value", F.lit(blanks)).alias("line"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("row"),
        )
        .select("*", data.alias("data"), _parts(line, layout).alias("parts"))
        .select(
            *("file", "block", "row", "line", "data", "parts"),
            *(
                F.btrim(F.get("parts", F.lit(column)), F.lit(_BLANKS)).alias(name)
                for name, column in columns.items()
            ),
        )
    )
    return fields.select(
        *("file", "block", "row", "line", "data"),
        try_cast("source", "bigint").alias("src"),
        try_cast("target", "bigint").alias("dst"),
        *weight,
        (F.col("data") & ~F.coalesce(right, F.lit(False))).alias("wrong"),
    )


def _parts(line: Column, layout: Layout) -> Column:
    """Return the columns of a line as an array of text."""
    from pyspark.sql import functions as F

    if layout.delimiter == 0:
        return F.split(line, "[ \t\r]+")
    delimiter = chr(layout.delimiter)
    width = 1 + max(layout.source, layout.target, layout.weight or 0)
    names = [f"c{column}" for column in range(width)]
    quoted = F.from_csv(
        line, ", ".join(f"{name} string" for name in names), {"sep": delimiter, "escape": '"'}
    )
    whole = F.array(*(F.coalesce(quoted[name], F.lit("")) for name in names))
    return F.when(line.contains('"'), whole).otherwise(F.split(line, delimiter))
