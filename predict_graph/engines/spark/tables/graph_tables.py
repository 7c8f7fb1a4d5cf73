"""A graph as Spark has it: a table of edges and a table of vertices, spread by a hash of the id.

Both tables are split by the same hash into the same number of partitions, so that a vertex is where
its out-edges are. A superstep then moves nothing but messages.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.graph import Graph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["GraphTables", "graph_tables", "rows_of_a_file", "write_edges"]

_MOST_ROWS = 1 << 20  # edges of a file; a choice: memory of a writer


@dataclass(frozen=True)
class GraphTables:
    """Vertices and edges of a graph, in the memory of the executors.

    Parameters
    ----------
    edges : DataFrame
        ``src``, ``dst`` and, where edges have weights, ``weight``; by the hash of ``src``.
    vertices : DataFrame
        ``id``, ``degree`` (out-edges), ``inside`` (out-edges that end on the same worker); by the
        hash of ``id``.
    count : int
        Number of vertices.
    partitions : int
        Of both tables.
    read_seconds, setup_seconds : float
    durable : bool
        Whether what is made of them has to survive the loss of an executor.
    """

    edges: DataFrame
    vertices: DataFrame
    count: int
    partitions: int
    read_seconds: float
    setup_seconds: float
    durable: bool = False


def graph_tables(session: OpenSession, source: Path, vertices: int) -> GraphTables:
    """Read edges from Parquet files and spread them over the executors.

    Parameters
    ----------
    session : OpenSession
    source : Path
        A Parquet file or a folder of them, columns ``src``, ``dst`` and perhaps ``weight``; ids
        from 0 to `vertices` - 1.
    vertices : int

    Raises
    ------
    JobError
        If Spark cannot read them.
    """
    from pyspark.sql import functions as F

    settings, spark = session.settings, session.spark
    partitions = settings.partitions
    with spark_failures(f"reading {source.name} on Spark"):
        session.group("read")
        started = time.perf_counter()
        edges = spark.read.parquet(str(source)).repartition(partitions, "src").persist()
        edges.count()
        read_seconds = time.perf_counter() - started
        session.group("setup")
        started = time.perf_counter()

        def worker(column: str) -> str:
            return f"pmod(hash({column}), {partitions}) % {settings.machines}"

        degrees = edges.groupBy("src").agg(
            F.count("*").alias("degree"),
            F.sum(F.expr(f"int({worker('src')} = {worker('dst')})")).alias("inside"),
        )
        numbered = spark.range(vertices).repartition(partitions, "id")
        table = (
            numbered.join(degrees.hint("shuffle_hash"), numbered["id"] == degrees["src"], "left")
            .select(
                "id",
                F.coalesce("degree", F.lit(0)).alias("degree"),
                F.coalesce("inside", F.lit(0)).alias("inside"),
            )
            .persist()
        )
        table.count()
        setup_seconds = time.perf_counter() - started
    durable = settings.checkpoint is not None
    return GraphTables(edges, table, vertices, partitions, read_seconds, setup_seconds, durable)


def rows_of_a_file(edges: int, parts: int) -> int:
    """Return how many edges go into each file, where there are to be so many files at least."""
    return min(max(-(-edges // parts), 1), _MOST_ROWS)


def write_edges(graph: Graph, folder: Path, parts: int) -> Path:
    """Write the stored edges of a graph as Parquet files that Spark reads; return their folder.

    Parameters
    ----------
    graph : Graph
    folder : Path
    parts : int
        Files to write, at least: a file is read by one task, so that fewer files than partitions
        leave executors idle.
    """
    length = rows_of_a_file(graph.edges, parts)
    target = folder / "edges"
    target.mkdir()
    sources = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
    for number, start in enumerate(range(0, graph.edges, length)):
        rows = slice(start, start + length)
        columns = {
            "src": sources[rows],
            "dst": np.ascontiguousarray(graph.indices[rows]).astype(np.int64),
        }
        if graph.weights is not None:
            columns["weight"] = np.ascontiguousarray(graph.weights[rows]).astype(np.float64)
        table = pa.table(columns)
        pa.parquet.write_table(table, target / f"part-{number:05d}.parquet")
    return target
