"""Edges that only Spark reads: of files at a path or an address, or of a table.

Spark lists the files. Columns of Parquet are found by name, as by the local reader. Of text Spark
reads the lines, and the local reader scans them on the executors, by the rules of
:mod:`predict_graph.graph.readers.text`; but a header is dropped from every file of a folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from predict_graph.engines.spark import is_table
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.checkpoints import hadoop_path
from predict_graph.errors import JobError, RequestError
from predict_graph.graph.columns import find_columns
from predict_graph.graph.edge_list import EdgeBlock, EdgeList
from predict_graph.graph.readers import name_of
from predict_graph.graph.readers.formats import SUFFIXES
from predict_graph.graph.readers.layout import Layout, first_data, layout_of
from predict_graph.graph.readers.streams import suffixes_of
from predict_graph.graph.readers.text import LARGEST_WEIGHT, scan_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMATS = {suffix: form for suffix, form in SUFFIXES.items() if form in ("text", "parquet")}
_TABLE = "the table"
_GLOB = re.compile(r"([*?{}\[\]\\])")
_INTEGERS = ("tinyint", "smallint", "int", "bigint", "decimal(20,0)")  # the last is uint64
_NUMBERS = (*_INTEGERS, "float", "double")
Batches = Iterable[pa.RecordBatch]
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ListedEdges:
    """Edges at their source, before they are read.

    The table has the columns ``src``, ``dst``, ``weight`` (if any), and ``wrong``, which is null
    unless a row is not an edge: of text, its file. `error` describes the first such row.
    """

    source: str
    table: DataFrame
    error: Callable[[str], RequestError]
    directed: bool | None = None
    notes: tuple[str, ...] = ()
    cheap: bool = False

    @property
    def name(self) -> str:
        """The name of the graph."""
        return name_of(Path(self.source)) if self.source != _TABLE else "table"

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return "weight" in self.table.columns


def check_source(graph: Any) -> None:
    """Refuse what Spark cannot read, as far as that is known before a session is opened."""
    edges = EdgeList.of(graph).edges
    if is_table(edges):
        return
    if not isinstance(edges, str | os.PathLike):
        raise RequestError(
            f"Spark cannot read a {type(edges).__name__}; accepted: a path, an address, or a "
            "Spark DataFrame of edges"
        )
    top = Path(edges)
    found = (top, *sorted(top.rglob("*"))) if os.path.exists(edges) else ()
    if files := [str(each) for each in found if each.is_file() and _is_read(each.relative_to(top))]:
        _format_of(str(edges), files)


def edge_source(spark: SparkSession, graph: Any) -> ListedEdges:
    """Inspect the source of a graph that was checked: names, types and first lines only."""
    wanted = EdgeList.of(graph, "integer")
    if is_table(wanted.edges):
        return _table_edges(wanted)
    files = _files(spark, str(wanted))
    edges = _text_edges if _format_of(str(wanted), files) == "text" else _parquet_edges
    return edges(spark, wanted, files)


def spark_path(path: str | os.PathLike[str]) -> str:
    """Return the address of a path for Spark, literally if it exists on this machine.

    Without a scheme Spark would use its default file system, and interpret brackets and stars as
    patterns.

    Examples
    --------
    >>> spark_path("hdfs://host/web/*.csv")
    'hdfs://host/web/*.csv'
    >>> spark_path("/")
    'file:///'
    """
    text = os.fspath(path)
    return literal_path("file://" + os.path.abspath(text)) if os.path.exists(text) else text


def literal_path(address: str) -> str:
    r"""Return an address with escaped pattern characters.

    Examples
    --------
    >>> print(literal_path("file:/web[1].txt"))
    file:/web\[1\].txt
    """
    return _GLOB.sub(r"\\\1", address)


def shown_path(address: str) -> str:
    """Return an address for messages: a file of this machine without its scheme.

    Examples
    --------
    >>> shown_path("file:/data/web.txt"), shown_path("file:///data/web.txt")
    ('/data/web.txt', '/data/web.txt')
    """
    return re.sub(r"^file:/+", "/", address)


def _files(spark: SparkSession, source: str) -> list[str]:
    """List the files of a graph: a file, a folder, or a pattern, in any file system of Spark."""
    with spark_failures(f"looking for {source}"):
        found = dict(sorted(_listed(spark, spark_path(source))))
    if not found:
        raise RequestError(f"there is no file {source}, or nothing in it that Spark reads")
    if not any(found.values()):
        raise RequestError(f"{source} is empty")
    return [*found]


def _listed(spark: SparkSession, path: str) -> Iterator[tuple[str, int]]:
    """Yield address and length of all files."""
    place, system = hadoop_path(spark, path)
    for top in system.globStatus(place) or ():
        files = system.listFiles(top.getPath(), True)
        root = str(top.getPath())
        while files.hasNext():
            file = files.next()
            address = str(file.getPath().toString())
            if _is_read(PurePosixPath(address.removeprefix(root))):
                yield address, int(file.getLen())


def _is_read(inside: PurePath) -> bool:
    """Whether Spark reads a file of a folder: not if a name begins with ``_`` or ``.``."""
    return not any(part.startswith(("_", ".")) for part in inside.parts)


def _format_of(source: str, files: Sequence[str]) -> str:
    """Return the common format of some files."""
    forms = set()
    for address in files:
        suffix, compression = suffixes_of(Path(address))
        part = not suffix and Path(address).name.startswith("part-")  # of text, by Hadoop
        if not (part or suffix in _FORMATS) or compression not in ("", ".gz", ".bz2"):
            last, accepted = compression or suffix or "none", " ".join(sorted(_FORMATS))
            raise RequestError(
                f"{shown_path(address)} has the suffix {last!r}; Spark reads {accepted}, and .gz "
                "or .bz2 after those of text files"
            )
        forms.add(_FORMATS.get(suffix, "text"))
    if len(forms) > 1:
        raise RequestError(f"{source} holds Parquet files and text; accepted: one of them")
    return forms.pop()


def checked_columns(source: str, types: Mapping[str, str], wanted: EdgeList) -> tuple[str, ...]:
    """Return the columns of edges in a table: source, target and, if any, weight.

    Types are those of Spark, by column; errors call the table `source`.

    Examples
    --------
    >>> checked_columns("it", {"when": "date", "dst": "int", "src": "bigint"}, EdgeList("it"))
    ('src', 'dst')
    """
    names = list(types)
    usable = [types[name] in (*_INTEGERS, "string") for name in names]
    found = find_columns(names, source, wanted, usable)
    if found.bipartite:
        _refuse_two_sides(source)
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


def _refuse_two_sides(source: str) -> NoReturn:
    """Refuse a graph whose two sides have ids of their own."""
    raise RequestError(
        f"{source} is bipartite: an id means two vertices; accepted for a graph that Spark reads: "
        "ids that differ, in columns named source and target, or with --no-bipartite"
    )


def _edges_of_rows(rows: DataFrame, columns: tuple[str, ...]) -> DataFrame:
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


def _parquet_edges(spark: SparkSession, wanted: EdgeList, files: Sequence[str]) -> ListedEdges:
    """Return the edges of Parquet files, whose columns are inspected."""
    source = str(wanted)
    try:
        with spark_failures("reading"):
            # Files of subfolders too; the names of such folders may be columns.
            parts = any("=" in part for file in files for part in file.split("/")[:-1])
            reader = spark.read.option("recursiveFileLookup", not parts)
            rows = reader.parquet(spark_path(source))
    except JobError as error:
        reason = str(error).removeprefix("reading failed: ")
        raise RequestError(f"{source} is not Parquet that can be read: {reason}") from error
    columns = checked_columns(source, dict(rows.dtypes), wanted)
    placed = rows.selectExpr("*", "_metadata.file_path AS _file", "_metadata.row_index AS _row")
    wrong = partial(_row_error, source, placed.orderBy("_file", "_row"), columns)
    edges = _edges_of_rows(rows, columns)
    return ListedEdges(source, edges, wrong, cheap=True)


def _table_edges(wanted: EdgeList) -> ListedEdges:
    """Return the edges of a table of Spark."""
    with spark_failures("looking at the table of edges"):
        columns = checked_columns(_TABLE, dict(wanted.edges.dtypes), wanted)
    wrong = partial(_row_error, _TABLE, wanted.edges, columns)
    return ListedEdges(_TABLE, _edges_of_rows(wanted.edges, columns), wrong)


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


def _text_edges(spark: SparkSession, wanted: EdgeList, files: Sequence[str]) -> ListedEdges:
    """Return the edges of text files, whose first lines of data are inspected."""
    source, (layout, header) = str(wanted), _first_data(spark, wanted, files)
    weight = "" if layout.columns.weight is None else "weight float, "
    scan = partial(_scanned, layout=layout, header=header)
    kinds = f"src long, dst long, {weight}wrong string"
    table = _lines(spark, spark_path(source)).mapInArrow(scan, kinds)
    error = partial(_line_error, spark, layout, header)
    return ListedEdges(source, table, error, layout.directed, layout.notes)


def _first_data(
    spark: SparkSession, wanted: EdgeList, files: Sequence[str]
) -> tuple[Layout, bytes | None]:
    """Return the layout of a sample of lines, and the header if there is one."""
    comments = b""
    for address in files:
        place = shown_path(address)
        for most in (2000, 100_000):  # limit the time; more if all of them are comments
            with spark_failures(f"reading {place}"):
                rows = _lines(spark, literal_path(address)).head(most)
            head = first_data(iter([_block(row["line"] for row in rows)]))
            if head.text or len(rows) < most:
                break
        comments += head.comments
        if head.text:
            suffix = suffixes_of(Path(address))[0]
            layout = layout_of(replace(head, comments=comments), place, suffix, wanted)
            if layout.columns.bipartite:
                _refuse_two_sides(str(wanted))
            return layout, head.text if layout.header else None
    raise RequestError(f"{wanted} has no edges")


def _line_error(
    spark: SparkSession, layout: Layout, header: bytes | None, wrong: str
) -> RequestError:
    """Return the error of the first line of a file that is not an edge."""
    address = unquote(wrong)
    place = shown_path(address)
    scan = partial(_first_error, place=place, layout=layout, header=header)
    lines = _lines(spark, literal_path(address)).coalesce(1)  # in their order
    row = lines.mapInArrow(scan, "error string").first()
    return RequestError(f"{place} changed while it was read" if row is None else row["error"])


def _lines(spark: SparkSession, path: str) -> DataFrame:
    """Return the lines of files as bytes, with the address of their file."""
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", True)
    lines = reader.text(path)
    return lines.selectExpr("_metadata.file_path AS file", "CAST(value AS BINARY) AS line")


def _block(lines: Iterable[bytes]) -> bytearray:
    return bytearray(b"\n".join([*lines, b""]))


def _blocks(batches: Batches, header: bytes | None) -> Iterator[tuple[str, bytearray]]:
    """Join the lines of each file; a header is left blank, so that lines keep their numbers."""
    for batch in batches:
        rows = zip(batch["file"].to_pylist(), batch["line"].to_pylist(), strict=True)
        for file, group in groupby(rows, key=lambda row: row[0]):
            lines = [line.removeprefix(_BYTE_ORDER_MARK) for _, line in group]
            if header is not None:
                lines = [b"" if line.strip() == header else line for line in lines]
            yield file, _block(lines)


def _first_error(batches: Batches, place: str, layout: Layout, header: bytes | None) -> Batches:
    """Yield the error of the first line of a file that is not an edge; runs on executors."""
    # Only the text of the path is used, and a Path would spoil an address.
    path: Any = place
    try:
        for _ in scan_blocks(path, (block for _, block in _blocks(batches, header)), layout):
            pass
    except RequestError as error:
        yield pa.RecordBatch.from_pydict({"error": [str(error)]})


def _scanned(batches: Batches, layout: Layout, header: bytes | None) -> Iterator[pa.RecordBatch]:
    """Yield the edges of lines, and the file of each block with a line that is none; runs on
    executors.
    """
    for file, block in _blocks(batches, header):
        try:
            for found in scan_blocks(Path(file), iter([block]), layout):
                yield _edges(found, pa.nulls(len(found.sources), pa.string()))
        except RequestError:
            none = np.zeros(1, np.int64)
            weight = None if layout.columns.weight is None else np.zeros(1, np.float32)
            yield _edges(EdgeBlock(none, none, weight), pa.array([file]))


def _edges(found: EdgeBlock, wrong: pa.Array) -> pa.RecordBatch:
    ends = {"src": found.sources.astype(np.int64), "dst": found.targets.astype(np.int64)}
    weight = {} if found.weights is None else {"weight": found.weights}
    return pa.RecordBatch.from_pydict({**ends, **weight, "wrong": wrong})
