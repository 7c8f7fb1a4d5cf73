"""Packing a graph on the cluster: numbered, sorted into blocks, cached by the executors.

Three passes over the edges check them, find the ids that occur, and sort edges into blocks. The
driver receives the ids, unless they are 0, 1, 2, …, and what later passes return.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IntArray
from predict_graph.engines.spark.blocks.edges import check_edges, edge_source
from predict_graph.engines.spark.blocks.on_executors import (
    ANSWERS,
    BLOCKS,
    BUCKETS,
    SLICES,
    bucketed,
    built,
    distinct_ids,
    out_edges_counted,
    seen_ids,
    summed,
)
from predict_graph.engines.spark.session.executors import prepare_executors
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.source_files import ListedEdges
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.build import direction_of
from predict_graph.graph.csr import Described, edges_of
from predict_graph.limits import beyond, limits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BUCKET = 1 << 21  # edges of a bucket, which an executor sorts in 64 MiB: limits memory
_MOST_BUCKETS = 1 << 14  # limits the number of shuffle files
_MOST_VERTICES = 2**31 - 1  # by definition: blocks have numbers of 32 bits
_BITS = 1 << 26  # bytes of the bit set of ids: limits memory
_ID_BYTES = 24  # bytes per id at the driver, by definition: unsorted, joined and sorted


def check_driver_bytes(what: str, needed: float) -> None:
    """Reject what needs more memory at the driver than the limit."""
    if needed > limits().driver_bytes:
        raise RequestError(
            f"{what} would take {needed:,.0f} bytes of this process; accepted: up to "
            f"{beyond('driver_bytes')}"
        )


@dataclass(frozen=True)
class PackedGraph(Described):
    """A graph in blocks that executors keep in memory or on disk.

    Its vertices are the ids that occur, in ascending order. A repeated edge counts once, with the
    sum of its weights; an undirected graph has both directions, with the larger of two weights.
    """

    spark: SparkSession
    table: DataFrame = field(repr=False)
    name: str
    source: str
    fingerprint: str
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    labels: IntArray | None = field(repr=False)
    read_seconds: float
    notes: tuple[str, ...] = ()

    def count_out_edges(self) -> npt.NDArray[np.int32]:
        """Count the out-edges of every vertex; executors add up counts in slices."""
        slots = max(self.spark.sparkContext.defaultParallelism, 1)
        slices = max(min(slots, self.vertices), 1)
        count = partial(out_edges_counted, vertices=self.vertices, slices=slices)
        with spark_failures("counting out-edges"):
            parts = (
                self.table.coalesce(slots)
                .mapInArrow(count, SLICES)
                .repartition(slices, "slice")
                .mapInArrow(summed, SLICES)
                .collect()
            )
        found = {row["slice"]: np.frombuffer(row["counts"], np.int32) for row in parts}
        return np.concatenate([found[number] for number in sorted(found)])


@contextmanager
def packed_graph(
    spark: SparkSession, graph: Any, *, directed: bool | None = None
) -> Iterator[PackedGraph]:
    """Pack a graph on the cluster, and release its memory at the end."""
    prepare_executors(spark)
    started = time.perf_counter()
    source = edge_source(spark, graph)
    directed, notes = direction_of(source.directed, directed)
    releases: list[Callable[[], Any]] = []
    try:
        with spark_failures(f"reading {source.source} on Spark"):
            if not source.cheap:
                releases.append(source.table.persist().unpersist)
            listed, highest, content = check_edges(source, source.table)
            labels = _ids(spark, source, highest)
            vertices = highest + 1 if labels is None else len(labels)
            if vertices > _MOST_VERTICES:
                raise RequestError(
                    f"{source.source} has {vertices:,} vertices; accepted: up to {_MOST_VERTICES:,}"
                )
            ids = spark.sparkContext.broadcast(labels)
            releases.append(ids.destroy)
            table = _blocks(spark, source, ids, listed, directed).persist()
            releases.append(table.unpersist)
            facts = table.agg({"edges": "sum"}).first()
            if not source.cheap:
                releases[0]()
        yield PackedGraph(
            spark=spark,
            table=table,
            name=source.name,
            source=source.source,
            fingerprint=source.fingerprint(directed, content),
            vertices=vertices,
            edges=int(facts[0]) if facts is not None else 0,
            directed=directed,
            weighted=source.weighted,
            labels=labels,
            read_seconds=time.perf_counter() - started,
            notes=notes + source.notes,
        )
    finally:
        for release in releases:
            with suppress(Exception):  # a failed session has released its memory
                release()


def _ids(spark: SparkSession, source: ListedEdges, highest: int) -> IntArray | None:
    """Return all ids that occur, ascending; None if they are 0, 1, 2, …."""
    ends = source.table.select("src", "dst")
    slots = max(spark.sparkContext.defaultParallelism, 1)
    if slots * (highest // 8 + 1) <= _BITS:
        check_driver_bytes("which ids occur", 9.0 * (highest + 1) / 8)
        bits = np.zeros(highest // 8 + 1, np.uint8)
        task = partial(seen_ids, highest=highest)
        for row in ends.coalesce(slots).mapInArrow(task, ANSWERS).collect():
            bits |= np.frombuffer(row["values"], np.uint8)
        seen = np.unpackbits(bits)[: highest + 1]
        return None if seen.all() else np.flatnonzero(seen)
    from pyspark.sql import functions as F

    ids = ends.select(F.explode(F.array("src", "dst")).alias("id")).distinct().persist()
    try:
        count = ids.count()
        if count == highest + 1:
            return None
        check_driver_bytes(f"{source.source} has {count:,} vertices, whose ids", _ID_BYTES * count)
        rows = ids.mapInArrow(distinct_ids, ANSWERS).toLocalIterator()
        found = np.empty(count, np.int64)
        filled = 0
        for row in rows:
            part = np.frombuffer(row["values"], np.int64)
            found[filled : filled + len(part)] = part
            filled += len(part)
    finally:
        ids.unpersist()
    found.sort()
    return found


def _blocks(
    spark: SparkSession,
    source: ListedEdges,
    ids: Any,
    listed: int,
    directed: bool,
) -> DataFrame:
    """Return the table of blocks, which is computed on first use."""
    weighted = source.weighted
    columns = ["src", "dst", *(["weight"] if weighted else [])]
    slots = max(spark.sparkContext.defaultParallelism, 1)
    expected = listed * (1 if directed else 2)
    buckets = min(max(-(-expected // _BUCKET), 2 * slots), _MOST_BUCKETS)
    task = partial(bucketed, ids=ids, buckets=buckets, both=not directed, weighted=weighted)
    return (
        source.table.select(*columns)
        .mapInArrow(task, BUCKETS)
        .repartition(max(buckets // 2, slots), "bucket")
        .mapInArrow(partial(built, weighted=weighted), BLOCKS)
    )


# Bytes: both directions with a working copy; vertex arrays of kernels; limits the driver's memory
_EDGE, _VERTEX = 12, 64


def fits_here(packed: PackedGraph) -> bool:
    """Whether the whole graph fits within the limit ``driver_bytes``.

    It takes twelve bytes per edge for both directions and a temporary part, and 64 per vertex for
    most compiled kernels.
    """
    weight = 8 if packed.weighted else 0
    needed = (_EDGE + weight) * packed.edges + _VERTEX * packed.vertices
    return needed <= limits().driver_bytes


def whole_graph(packed: PackedGraph) -> Graph:
    """Copy a graph to the driver, block by block."""
    indptr = np.zeros(packed.vertices + 1, np.int64)
    sources = np.empty(packed.edges, np.int32)
    weights = np.empty(packed.edges, np.float32) if packed.weighted else None
    with spark_failures("a pass over the edges"):
        for row in packed.table.select("rows", "starts").collect():
            degrees = np.diff(np.frombuffer(row["starts"], np.int64))
            indptr[1 + np.frombuffer(row["rows"], np.int32)] = degrees
        np.cumsum(indptr, out=indptr)
        for row in packed.table.select("rows", "sources", "weights").toLocalIterator():
            _, places = edges_of(indptr, np.frombuffer(row["rows"], np.int32))
            sources[places] = np.frombuffer(row["sources"], np.int32)
            if weights is not None:
                weights[places] = np.frombuffer(row["weights"], np.float32)
    reverse = Graph(indptr, sources, weights, directed=packed.directed, name=packed.name)
    graph = reverse.reverse if packed.directed else reverse
    graph = graph.described_as(
        name=packed.name, labels=packed.labels, read_seconds=packed.read_seconds, notes=packed.notes
    )
    # The fingerprint of runs in which Spark reads the graph.
    vars(graph)["fingerprint"] = packed.fingerprint
    return graph
