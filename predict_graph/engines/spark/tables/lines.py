"""Lines of text as edges: Spark reads the lines, and the local reader scans them on the executors.

The rules are those of :mod:`predict_graph.graph.readers.text`, except that a header is dropped from
every file of a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.columns import refuse_two_sides
from predict_graph.engines.spark.tables.source_files import (
    ListedEdges,
    SourceFiles,
    literal_path,
    shown_path,
)
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock
from predict_graph.graph.readers.blocks import scan_blocks
from predict_graph.graph.readers.layout import Layout, first_data, layout_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def text_edges(spark: SparkSession, source: SourceFiles, wanted: EdgeList) -> ListedEdges:
    """Return the edges of text files, whose first lines of data are inspected."""
    layout, header = _first_data(spark, source, wanted)
    weight = "" if layout.columns.weight is None else "weight float, "
    scan = partial(_scanned, layout=layout, header=header)
    table = _lines(spark, source.path).mapInArrow(scan, f"src long, dst long, {weight}wrong string")
    error = partial(_line_error, spark, layout, header)
    known: Any = {"directed": layout.directed, "notes": layout.notes}
    return ListedEdges(source.name, source.source, table, error, source.identity, **known)


def _first_data(
    spark: SparkSession, source: SourceFiles, wanted: EdgeList, *, sample: int = 2000
) -> tuple[Layout, bytes | None]:
    """Return the layout of a sample of lines, and the header if there is one.

    Fifty times as many are read if all of them are comments.
    """
    comments = b""
    for address in source.files:
        place = shown_path(address)
        for most in (sample, 50 * sample):
            with spark_failures(f"reading {place}"):
                rows = _lines(spark, literal_path(address)).head(most)
            head = first_data(iter([_block(row["line"] for row in rows)]))
            if head.text is not None or len(rows) < most:
                break
        comments += head.comments
        if head.text is None:
            continue
        lines = [bytes(line.strip()) for line in head.block.split(b"\n")]
        data = [line for line in lines if line and not line.startswith((b"#", b"%"))]
        first = f"{place}:{head.number}"
        layout = layout_of(data, source.suffix, wanted, first, comments=comments)
        if layout.columns.bipartite:
            refuse_two_sides(str(source.source))
        return layout, head.text if layout.header else None
    raise RequestError(f"{source.source} has no edges")


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
    lines = spark.read.option("lineSep", "\n").text(path)
    return lines.selectExpr("_metadata.file_path AS file", "CAST(value AS BINARY) AS line")


def _block(lines: Iterable[bytes]) -> bytearray:
    return bytearray(b"\n".join([*lines, b""]))


def _blocks(
    batches: Iterable[pa.RecordBatch], header: bytes | None
) -> Iterator[tuple[str, bytearray]]:
    """Join the lines of each file; a header is left blank, so that lines keep their numbers."""
    for batch in batches:
        rows = zip(batch["file"].to_pylist(), batch["line"].to_pylist(), strict=True)
        for file, group in groupby(rows, key=lambda row: row[0]):
            lines = [line.removeprefix(_BYTE_ORDER_MARK) for _, line in group]
            if header is not None:
                lines = [b"" if line.strip() == header else line for line in lines]
            yield file, _block(lines)


def _first_error(
    batches: Iterable[pa.RecordBatch], place: str, layout: Layout, header: bytes | None
) -> Iterator[pa.RecordBatch]:
    """Yield the error of the first line of a file that is not an edge; runs on executors."""
    # Only the text of the path is used, and a Path would spoil an address.
    path: Any = place
    try:
        for _ in scan_blocks(path, (block for _, block in _blocks(batches, header)), layout):
            pass
    except RequestError as error:
        yield pa.RecordBatch.from_pydict({"error": [str(error)]})


def _scanned(
    batches: Iterable[pa.RecordBatch], layout: Layout, header: bytes | None
) -> Iterator[pa.RecordBatch]:
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
