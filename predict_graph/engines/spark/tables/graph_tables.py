"""A graph on Spark: a table of edges and a table of vertices, partitioned by a hash of the id.

Both tables have the same hash and number of partitions, so that a vertex is in the partition of its
out-edges. A superstep then moves only messages.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from predict_graph.algorithms.naming import NamedVertices
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.graph import Graph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_ROWS = 1 << 20  # edges of a file: limits the memory of a writer


@dataclass(frozen=True)
class GraphTables:
    """Vertices and edges of a graph, in the memory of the executors.

    Edges have ``src``, ``dst`` and, if any, ``weight``, by the hash of ``src``; vertices have
    ``id``, ``degree`` (out-edges) and ``inside`` (out-edges within a worker), by the hash of
    ``id``. Tables derived from durable ones must survive the loss of an executor.
    """

    edges: DataFrame
    vertices: DataFrame
    count: int
    partitions: int
    read_seconds: float
    setup_seconds: float
    durable: bool = False


def graph_tables(session: OpenSession, source: Path, vertices: int) -> GraphTables:
    """Read edges from Parquet files with ids from 0 to `vertices` - 1, and partition them."""
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
            F.expr("count(*) AS degree"),
            F.expr(f"sum(int({worker('src')} = {worker('dst')})) AS inside"),
        )
        table = (
            spark.range(vertices)
            .repartition(partitions, "id")
            .join(degrees.hint("shuffle_hash"), F.expr("id = src"), "left")
            .selectExpr("id", "coalesce(degree, 0) AS degree", "coalesce(inside, 0) AS inside")
            .persist()
        )
        table.count()
        setup_seconds = time.perf_counter() - started
    durable = settings.checkpoint is not None
    return GraphTables(edges, table, vertices, partitions, read_seconds, setup_seconds, durable)


def write_edges(graph: Graph, folder: Path, parts: int) -> Path:
    """Write the stored edges of a graph as Parquet files for Spark; return their folder.

    There are at least `parts` files: each is read by one task, and all executors should read.
    """
    length = min(max(-(-graph.edges // parts), 1), _MOST_ROWS)
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


def vertices_in_tables(algorithm: NamedVertices, tables: GraphTables) -> list[int]:
    """Return the vertices that an algorithm names, or those with most out-edges if they were not
    looked up in this graph; see :meth:`~predict_graph.algorithms.naming.NamedVertices.vertices_in`.
    """
    from pyspark.sql import functions as F

    known = algorithm.known_in(tables.count)
    if known is not None:
        return [int(vertex) for vertex in known]
    ordered = tables.vertices.orderBy(F.desc("degree"), "id").limit(algorithm.count).collect()
    return [int(ordered[place % len(ordered)]["id"]) for place in range(algorithm.count)]
