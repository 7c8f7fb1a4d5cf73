"""Graphs that Spark reads itself, for graphs that fit on no single machine.

The rules are those of the local readers (:mod:`predict_graph.graph.build`): the vertices are the
ids that occur, in ascending order; an edge that is listed several times counts once, its weights
added; self-loops stay; an undirected graph has both directions, and of two weights the larger one.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import cut_off, forget
from predict_graph.engines.spark.tables.columns import ParquetFiles
from predict_graph.engines.spark.tables.graph_tables import write_edges
from predict_graph.engines.spark.tables.lines import TextFiles
from predict_graph.engines.spark.tables.numbering import numbered
from predict_graph.engines.spark.tables.source_files import SourceFiles, literal_path, source_files
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.build import direction_of
from predict_graph.graph.csr import Described
from predict_graph.graph.edge_list import EdgeList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkGraph", "distinct_edges", "read_spark_graph", "spark_files", "spark_graph_of"]


@dataclass(frozen=True)
class SparkGraph(Described):
    """A graph in Parquet files that Spark wrote for itself: vertices 0 to n - 1.

    It lasts as long as the session that read it.

    Parameters
    ----------
    name : str
        What reports call the graph.
    folder : Path
        Parquet files of the stored edges: ``src``, ``dst`` and, where edges have weights,
        ``weight``; :func:`~predict_graph.engines.spark.tables.graph_tables.graph_tables` takes it.
    vertices, edges : int
        Numbers of vertices and of stored directed edges.
    directed : bool
        False when both directions of every edge are stored.
    weighted : bool
    source : str
        Where it came from, as the user wrote it.
    fingerprint : str
        Hex digest: of addresses, lengths and times of change of the files, and of the direction.
        Unlike that of a :class:`~predict_graph.graph.Graph` it does not depend on what is in them.
    labels : Path, optional
        Parquet files with ``id`` and ``label``, the original id; None when the ids were 0 to n - 1.
    read_seconds : float
        What reading and writing took.
    notes : tuple of str
        As of a :class:`~predict_graph.graph.Graph`.
    """

    name: str
    folder: Path
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    source: str
    fingerprint: str
    labels: Path | None = None
    read_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def edge_table(self, session: OpenSession) -> DataFrame:
        """Return the stored edges as a table that Spark reads when it is needed."""
        return session.spark.read.parquet(_address(self.folder))

    def label_table(self, session: OpenSession) -> DataFrame | None:
        """Return ``id`` and ``label`` as a table; None when the ids were 0 to n - 1."""
        return None if self.labels is None else session.spark.read.parquet(_address(self.labels))


def read_spark_graph(
    session: OpenSession,
    source: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    name: str | None = None,
) -> SparkGraph:
    """Read a graph by Spark, and write its edges for Spark with vertices 0 to n - 1.

    Nothing but counts comes to the driver, and the first lines of a text file.

    Parameters
    ----------
    session : OpenSession
    source : str or Path
        Parquet files (a source and a target column, found by their names or else the first two, and
        perhaps a weight) or text (SNAP, CSV, TSV, perhaps compressed): a file, a folder, a pattern,
        with any scheme that Spark knows. A path that exists on this machine is meant as it is.
    directed : bool, optional
        None: as the file says, else directed. False stores both directions of every edge.
    name : str, optional
        What reports call the graph; the name of the file by default.

    Raises
    ------
    RequestError
        If there is no such file, or it is not an edge list with ids from 0 on.
    JobError
        If Spark fails.
    """
    started = time.perf_counter()
    spark = session.spark
    session.group("read")
    found = source_files(spark, source)
    files = spark_files(spark, found, source)
    directed, notes = direction_of(files.directed, directed)
    with spark_failures(f"reading {found.source} on Spark"):
        listed = files.edges(spark).persist()
        try:
            highest = _check(session, files, listed)
            graph = _written(session, listed, highest, directed)
        finally:
            listed.unpersist()
    folder, vertices, edges, labels = graph
    return SparkGraph(
        name=name or found.name,
        folder=folder,
        vertices=vertices,
        edges=edges,
        directed=directed,
        weighted="weight" in listed.columns,
        source=found.source,
        fingerprint=_digest(found.identity, str(directed)),
        labels=labels,
        read_seconds=time.perf_counter() - started,
        notes=notes + files.notes,
    )


def spark_files(
    spark: SparkSession, found: SourceFiles, source: str | os.PathLike[str]
) -> TextFiles | ParquetFiles:
    """Look at the files of a path or an EdgeList."""
    wanted = EdgeList.of(source, "integer")
    if found.form == "text":
        return TextFiles.of(spark, found, wanted)
    return ParquetFiles.of(spark, found, wanted)


def spark_graph_of(session: OpenSession, graph: Graph) -> SparkGraph:
    """Write a graph in memory for Spark; its vertices keep their numbers.

    Raises
    ------
    RequestError
        If the graph has no edges.
    JobError
        If it cannot be written.
    """
    if graph.edges == 0:
        raise RequestError(f"the graph {graph.name!r} has no edges")
    started = time.perf_counter()
    place = _new_folder(session)
    with spark_failures(f"writing {graph.name} for Spark"):
        place.mkdir(parents=True)
        folder = write_edges(graph, place, session.settings.partitions)
    return SparkGraph(
        name=graph.name,
        folder=folder,
        vertices=graph.vertices,
        edges=graph.edges,
        directed=graph.directed,
        weighted=graph.weights is not None,
        source=graph.name,
        fingerprint=graph.fingerprint,
        read_seconds=time.perf_counter() - started,
    )


def _check(session: OpenSession, files: TextFiles | ParquetFiles, listed: DataFrame) -> int:
    """Return the highest id; raise an error when a row is not an edge, or there is none."""
    from pyspark.sql import functions as F

    facts = listed.agg(
        F.count("*").alias("rows"),
        F.min("wrong").alias("wrong"),
        F.max(F.greatest("src", "dst")).alias("highest"),
    ).first()
    if facts is None or facts["rows"] == 0:
        raise RequestError(f"{files.source.source} has no edges")
    if facts["wrong"] is not None:
        raise files.error(session.spark, facts["wrong"])
    return int(facts["highest"])


def _written(
    session: OpenSession, listed: DataFrame, highest: int, directed: bool
) -> tuple[Path, int, int, Path | None]:
    """Write edges and labels; return their folders and the numbers of vertices and edges."""
    from pyspark.sql import functions as F

    place = _new_folder(session)
    ids = cut_off(listed.select(F.explode(F.array("src", "dst")).alias("label")).distinct())
    vertices = ids.count()
    edges = distinct_edges(listed, directed)
    labels = None
    if vertices != highest + 1:
        labels = place / "labels"
        numbers, _ = numbered(ids, "label", name="id")
        numbers.select("id", "label").write.parquet(_address(labels, new=True))
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


def distinct_edges(listed: DataFrame, directed: bool) -> DataFrame:
    """Return every edge once, in both directions where the graph is undirected."""
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
    """Replace the ids of one end by vertices; a merge join, because that spills to disk."""
    numbers = numbers.withColumnsRenamed({"id": "_id", "label": "_label"})
    joined = edges.join(numbers.hint("merge"), edges[end] == numbers["_label"])
    return joined.withColumn(end, numbers["_id"]).drop("_id", "_label")


def _new_folder(session: OpenSession) -> Path:
    return session.folder / f"graph-{uuid.uuid4().hex[:8]}"


def _address(path: Path, *, new: bool = False) -> str:
    """Return the address of a folder of ours; a pattern is not looked for where it is written."""
    address = f"file://{path.absolute()}"
    return address if new else literal_path(address)


def _digest(*parts: str) -> str:
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
