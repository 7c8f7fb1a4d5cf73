"""Graphs that Spark reads itself, for graphs that do not fit on one machine.

The rules are those of the local readers (:mod:`predict_graph.graph.build`): the vertices are the
ids that occur, in ascending order; a repeated edge counts once, its weights added; self-loops stay;
an undirected graph has both directions, and of two weights the larger one.
"""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from predict_graph.engines.spark.blocks.edges import check_edges, edge_source
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import cut_off, forget
from predict_graph.engines.spark.tables.source_files import literal_path
from predict_graph.graph.build import direction_of
from predict_graph.graph.csr import Described

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW_BITS = (1 << 33) - 1  # by definition of monotonically_increasing_id: the row in its partition


@dataclass(frozen=True)
class SparkGraph(Described):
    """A graph in Parquet files of its session: vertices 0 to n - 1.

    The folder has the stored edges: ``src``, ``dst`` and, if any, ``weight``. The fingerprint is of
    addresses, lengths and modification times of the source files, and of the direction. The files
    `labels` have ``id`` and ``label``, the original id; None if these are 0 to n - 1.
    """

    name: str
    folder: Path
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    fingerprint: str
    labels: Path | None = None
    read_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def label_table(self, session: OpenSession) -> DataFrame | None:
        """Return ``id`` and ``label`` as a table; None if the ids are 0 to n - 1."""
        return None if self.labels is None else session.spark.read.parquet(_address(self.labels))


def read_spark_graph(
    session: OpenSession, source: str | os.PathLike[str], *, directed: bool | None = None
) -> SparkGraph:
    """Read a graph with Spark, and write its edges for Spark with vertices 0 to n - 1.

    The source is a file, a folder or a pattern, with any scheme that Spark supports: Parquet files
    with columns of source, target and perhaps weight, or text (SNAP, CSV, TSV, perhaps compressed).
    The driver receives counts, and the first lines of a text file.
    """
    started = time.perf_counter()
    spark = session.spark
    session.group("read")
    found = edge_source(spark, source)
    directed, notes = direction_of(found.directed, directed)
    with spark_failures(f"reading {found.source} on Spark"):
        listed = found.table.persist()
        try:
            _, highest, _ = check_edges(found, listed)
            folder, vertices, edges, labels = _written(session, listed, highest, directed)
        finally:
            listed.unpersist()
    return SparkGraph(
        name=found.name,
        folder=folder,
        vertices=vertices,
        edges=edges,
        directed=directed,
        weighted=found.weighted,
        fingerprint=found.fingerprint(directed),
        labels=labels,
        read_seconds=time.perf_counter() - started,
        notes=notes + found.notes,
    )


def _written(
    session: OpenSession, listed: DataFrame, highest: int, directed: bool
) -> tuple[Path, int, int, Path | None]:
    """Write edges and labels; return their folders and the numbers of vertices and edges."""
    from pyspark.sql import functions as F

    place = session.folder / f"graph-{uuid.uuid4().hex[:8]}"
    ids = cut_off(listed.select(F.explode(F.array("src", "dst")).alias("label")).distinct())
    vertices = ids.count()
    edges = distinct_edges(listed, directed)
    labels = None
    if vertices != highest + 1:
        labels = place / "labels"
        _numbered(ids).write.parquet(_address(labels, new=True))
        numbers = session.spark.read.parquet(_address(labels))
        edges = _relabelled(_relabelled(edges, "src", numbers), "dst", numbers)
    forget(ids)
    folder = place / "edges"
    columns = ["src", "dst"]
    if "weight" in edges.columns:
        columns.append("weight")
        edges = edges.withColumn("weight", F.col("weight").cast("float").cast("double"))
    edges.select(*columns).write.parquet(_address(folder, new=True))
    count = session.spark.read.parquet(_address(folder)).count()
    return folder, vertices, count, labels


def _numbered(labels: DataFrame) -> DataFrame:
    """Return ``id`` and ``label``: labels numbered 0, 1, 2, … in ascending order.

    Ranges of labels are sorted in separate partitions; the driver receives only their lengths.
    """
    from pyspark.sql import functions as F

    placed = cut_off(
        labels.repartitionByRange("label")
        .sortWithinPartitions("label")
        .select(
            "label",
            F.spark_partition_id().alias("partition"),
            F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_BITS)).alias("row"),
        )
    )
    rows = placed.groupBy("partition").count().collect()
    counts = np.zeros(1 + max((row["partition"] for row in rows), default=0), np.int64)
    for row in rows:
        counts[row["partition"]] = row["count"]
    before = F.element_at(F.lit((np.cumsum(counts) - counts).tolist()), F.col("partition") + 1)
    return placed.select((before.cast("bigint") + F.col("row")).alias("id"), "label")


def distinct_edges(listed: DataFrame, directed: bool) -> DataFrame:
    """Return every edge once, in both directions if the graph is undirected."""
    from pyspark.sql import functions as F

    weighted = "weight" in listed.columns
    edges = listed.drop("wrong")
    if weighted:
        edges = edges.groupBy("src", "dst").agg(F.sum("weight").alias("weight"))
    if not directed:
        weight = ["weight"] if weighted else []
        turned = edges.select(F.col("dst").alias("src"), F.col("src").alias("dst"), *weight)
        edges = edges.select("src", "dst", *weight).union(turned)
        if weighted:
            edges = edges.groupBy("src", "dst").agg(F.max("weight").alias("weight"))
    return edges if weighted else edges.select("src", "dst").distinct()


def _relabelled(edges: DataFrame, end: str, numbers: DataFrame) -> DataFrame:
    """Replace the ids at one end by vertices; a merge join, which can spill to disk."""
    numbers = numbers.withColumnsRenamed({"id": "_id", "label": "_label"})
    joined = edges.join(numbers.hint("merge"), edges[end] == numbers["_label"])
    return joined.withColumn(end, numbers["_id"]).drop("_id", "_label")


def _address(path: Path, *, new: bool = False) -> str:
    """Return the address of one of our folders; paths to write are no patterns."""
    address = f"file://{path.absolute()}"
    return address if new else literal_path(address)
