"""Lines of text as edges, by expressions that Spark compiles.

The rules are those of :mod:`predict_graph.graph.readers.text`, with two exceptions: a header is
dropped from every file of a folder, and quotes apply only with a comma, semicolon or tab as the
delimiter.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.columns import try_cast
from predict_graph.engines.spark.tables.source_files import (
    ListedEdges,
    SourceFiles,
    first_lines,
    literal_path,
    shown_path,
)
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import Layout, declared_direction, layout_of, scan_error

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SAMPLE = 1000  # lines that determine the layout: limits the time
_MOST_COMMENTS = 100_000  # lines at the head of a file: limits the time
_BLANKS = " \t\r\ufeff"
_DIGITS = "^[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def text_edges(spark: SparkSession, source: SourceFiles, wanted: EdgeList) -> ListedEdges:
    """Return the edges of text files, whose first lines of data are inspected."""
    from pyspark.sql import functions as F

    layout, header, directed = _first_data(spark, source, wanted)
    weight = [] if layout.weight is None else [_float("value").alias("weight")]
    table = _parsed(spark, source.path, layout, header).select(
        try_cast("source", "bigint").alias("src"),
        try_cast("target", "bigint").alias("dst"),
        *weight,
        F.when(F.col("code") != scan.DONE, F.col("file")).alias("wrong"),
    )
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
        with spark_failures(f"reading {place}"):
            lines = islice(first_lines(spark, address), _MOST_COMMENTS)
            for number, line in enumerate(lines, start=1):
                text = line.strip(_BLANKS)
                if not text or text[0] in "#%":
                    comments += text.encode()[: 1 << 10] + b"\n"
                    continue
                more = (each.strip(_BLANKS).encode() for each in islice(lines, _SAMPLE))
                data = [text.encode(), *(each for each in more if each[:1] not in b"#%")]
                found = layout_of(data, source.suffix, wanted, f"{place}:{number}")
                bipartite = found.bipartite or comments.startswith(b"% bip")
                if bipartite and wanted.bipartite is not False:
                    raise RequestError(
                        f"{source.source} is bipartite: an id means two vertices; accepted for "
                        "a graph that Spark reads: ids that differ, with --no-bipartite"
                    )
                declared = declared_direction(comments)
                declared = found.directed if declared is None else declared
                return found, text if found.header else None, declared
    raise RequestError(f"{source.source} has no edges")


def _line_error(
    spark: SparkSession, layout: Layout, header: str | None, wrong: str
) -> RequestError:
    """Return the error of the first line of a file that is not an edge."""
    from pyspark.sql import functions as F

    address = unquote(wrong)
    at_fault = F.col("code") != scan.DONE
    first = F.min(F.when(at_fault, F.struct("row", "code", "field"))).alias("first")
    blocks = (
        _parsed(spark, literal_path(address), layout, header, data_only=False)
        .groupBy("block")
        .agg(first, F.min("row").alias("start"), F.count("*").alias("lines"))
        .orderBy("block")
        .collect()
    )
    line = 1
    for block in blocks:
        if block["first"] is not None:
            line += block["first"]["row"] - block["start"]
            code, field = block["first"]["code"], block["first"]["field"] or ""
            # Only the text of the path is used, and a Path would spoil an address.
            return scan_error(cast(Path, shown_path(address)), line, code, field)
        line += block["lines"]
    return RequestError(f"{shown_path(address)} changed while it was read")


def _parsed(
    spark: SparkSession, path: str, layout: Layout, header: str | None, *, data_only: bool = True
) -> DataFrame:
    """Return the lines: ``source``, ``target``, ``value``, ``code`` of the error and its
    ``field``, and their place: ``file``, ``block`` and ``row``.
    """
    from pyspark.sql import functions as F

    blanks = _BLANKS.replace("\t", "") if layout.delimiter == ord("\t") else _BLANKS
    lines = spark.read.option("lineSep", "\n").text(path)
    line = F.col("line")
    data = (line != "") & ~F.substring(line, 1, 1).isin("#", "%")
    if header is not None:
        data = data & (F.btrim(line, F.lit(_BLANKS)) != header)
    numbered = lines.select(
        F.btrim("value", F.lit(blanks)).alias("line"),
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("row"),
    )
    if data_only:
        numbered = numbered.where(data)
    parts = numbered.select("*", _parts(line, layout).alias("parts"), (~data).alias("comment"))
    columns = {"source": layout.source, "target": layout.target}
    if layout.weight is not None:
        columns["value"] = layout.weight
    fields = parts.select(
        "*",
        *(
            F.btrim(F.get("parts", F.lit(column)), F.lit(_BLANKS)).alias(name)
            for name, column in columns.items()
        ),
    )
    codes = {name: _id_code(name) for name in ("source", "target")}
    if layout.weight is not None:
        codes["value"] = _weight_code("value")
    code = F.when(F.col("comment"), scan.DONE).when(F.size("parts") < 2, scan.ONE_COLUMN)
    field = F.when(F.lit(False), F.lit(""))
    for name, of_field in codes.items():
        code = code.when(of_field != scan.DONE, of_field)
        field = field.when(of_field != scan.DONE, F.substring(name, 1, 40))
    if layout.exact:
        code = code.when(F.size("parts") > 2, scan.EXTRA)
    return fields.select(
        *columns, code.otherwise(scan.DONE).alias("code"), field.alias("field"),
        "file", "block", "row",
    )  # fmt: skip


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


def _id_code(name: str) -> Column:
    from pyspark.sql import functions as F

    field, large = F.col(name), try_cast(name, "bigint").isNull()
    return (
        F.when(field.isNull() | (field == ""), scan.EMPTY)
        .when(field.rlike(_DIGITS), F.when(large, scan.TOO_LARGE).otherwise(scan.DONE))
        .when(field.rlike("^-[0-9]"), scan.NEGATIVE)
        .otherwise(scan.NOT_INTEGER)
    )


def _weight_code(name: str) -> Column:
    from pyspark.sql import functions as F

    field, finite = F.col(name), F.abs(try_cast(name, "double")) <= scan.LARGEST_WEIGHT
    return (
        F.when(field.isNull() | (field == ""), scan.MISSING_WEIGHT)
        .when(field.rlike(_NUMBER) & finite, scan.DONE)
        .otherwise(scan.NOT_NUMBER)
    )


def _float(name: str) -> Column:
    return try_cast(name, "double").cast("float")
