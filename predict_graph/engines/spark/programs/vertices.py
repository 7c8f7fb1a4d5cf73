"""Vertex programs on Spark: numpy code of the user on the driver, edges on the executors.

The methods of a vertex program take whole arrays, one element per vertex, and may use global values
such as a sum or the largest degree. They therefore run in this process, as the driver's part of a
superstep. Each partition on the executors holds the in-edges of its vertices. In a superstep it
gets the messages as one broadcast array (only those of the senders, if they are few), combines them
with the compiled loops of the local engine in the same order, and returns one number per receiver.
The result is bitwise that of the local engine. Executors hold no state, so a run survives the loss
of executors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from predict_graph.algorithms import VertexProgram
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.local.edge_loops import identity, pull
from predict_graph.engines.local.partition import edges_inside
from predict_graph.engines.local.program import PUSH_SHARE, ProgramKernel
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.superstep import SuperstepLog, superstep_group
from predict_graph.engines.spark.tables.graph_tables import GraphTables
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import Graph
from predict_graph.graph.rows import fixed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Array = npt.NDArray[Any]

_KINDS = {np.dtype(np.float64): "float64", np.dtype(np.int64): "int64"}


class VertexTables:
    """Selects :func:`run_vertex_program` as the way to run a vertex program on Spark."""

    oldest_spark: ClassVar[tuple[int, int]] = (3, 5)
    combines: ClassVar[bool] = True


class _Kernel(ProgramKernel):
    """A vertex program whose edges are in blocks on the executors."""

    def __init__(
        self,
        program: VertexProgram,
        graph: Graph,
        tables: GraphTables,
        homes: Array,
        prior_values: Array | None,
    ) -> None:
        self._tables, self._homes = tables, homes
        super().__init__(program, graph, None, prior_values)

    def _prepare_edges(self, graph: Graph, program: VertexProgram) -> None:
        """Store the in-edges of each partition in a block, cached by the executors."""
        edges = self._tables.edges
        self._weighted = program.weighted and "weight" in edges.columns
        columns = ["src", "dst", "weight"] if self._weighted else ["src", "dst"]
        build = partial(_block, vertices=graph.vertices)
        parts = edges.select(*columns).repartition(self._tables.partitions, "dst")
        schema = "ids binary, starts binary, sources binary, weights binary"
        self.blocks: DataFrame = parts.mapInArrow(build, schema).persist()
        self.blocks.count()

    def _combined(self, message: Array, senders: Array | None) -> tuple[Array, Array]:
        n = len(message)
        everyone = senders is None or bool(senders.all())
        few = False
        ids, sent = np.empty(0, np.int64), message
        if senders is not None and not everyone:
            few = bool(self._degrees[senders].sum() <= PUSH_SHARE * self._graph.edges)
            ids = np.flatnonzero(senders)
            sent = message[ids]
        shared = self.blocks.sparkSession.sparkContext.broadcast((n, ids, sent, everyone, few))
        try:
            work = partial(_combine, shared=shared, code=self._code, kind=_KINDS[message.dtype])
            found = self.blocks.mapInArrow(work, "ids binary, combined binary").collect()
        finally:
            shared.destroy()
        combined = np.full(n, identity(self._code, message.dtype))
        received = np.zeros(n, np.bool_)
        partitions = self._tables.partitions
        records, size = np.zeros(partitions, int), np.full(partitions, ids.nbytes + sent.nbytes)
        for row in found:
            receivers = np.frombuffer(row["ids"], np.int64)
            combined[receivers] = np.frombuffer(row["combined"], message.dtype)
            received[receivers] = True
            if len(receivers):
                home = self._homes[receivers[0]]
                records[home] += len(receivers)
                size[home] += len(row["ids"]) + len(row["combined"])
        self.moved = pd.DataFrame(
            {"partition": np.arange(partitions), "records": records, "bytes": size}
        )
        return combined, received


def run_vertex_program(
    program: VertexProgram,
    graph: Graph,
    tables: GraphTables,
    session: OpenSession,
    *,
    run: str,
    threshold: float,
    limit: int,
    progress: IterationCallback | None,
    ready: Callable[[], None],
    prior: DataFrame | None,
) -> SuperstepLog:
    """Run supersteps of a vertex program."""
    started = time.perf_counter()
    with spark_failures("setting up on Spark"):
        session.group(superstep_group(run, 0))
        homes, inside = _homes(graph, tables.partitions, session.settings.machines)
        before = None
        if prior is not None:
            before = prior.toPandas().sort_values("id")["value"].to_numpy()
        kernel = _Kernel(program, graph, tables, homes, before)
    setup_seconds = time.perf_counter() - started
    ready()
    aggregates: list[float] = []
    seconds: list[float] = []
    counts: list[pd.DataFrame] = []
    moved: list[pd.DataFrame] = []
    try:
        while len(aggregates) < limit:
            iteration = len(aggregates) + 1
            started = time.perf_counter()
            with spark_failures(f"superstep {iteration} on Spark"):
                session.group(superstep_group(run, iteration))
                superstep = kernel.step()
            seconds.append(time.perf_counter() - started)
            own = _counts(graph, homes, inside, superstep.senders)
            counts.append(own.assign(iteration=iteration))
            moved.append(kernel.moved.assign(iteration=iteration))
            aggregates.append(superstep.convergence)
            if progress is not None:
                progress(iteration, aggregates[-1])
            if aggregates[-1] < threshold:
                break
    finally:
        kernel.blocks.unpersist()
    return SuperstepLog(
        state=session.small_table(id=np.arange(graph.vertices), value=kernel.values),
        sums=[],
        convergence=aggregates,
        seconds=seconds,
        counts=pd.concat(counts, ignore_index=True),
        setup_seconds=setup_seconds,
        values=kernel.values,
        moved=pd.concat(moved, ignore_index=True),
    )


def _homes(graph: Graph, partitions: int, machines: int) -> tuple[Array, Array]:
    """Return the partition of each vertex, and how many of its out-edges stay on its machine."""
    partition = partition_of(np.arange(graph.vertices), partitions)
    return partition, edges_inside(graph, (partition % machines).astype(np.int32))


def _counts(graph: Graph, homes: Array, inside: Array, senders: Array | None) -> pd.DataFrame:
    """Return the senders by partition, with the columns of other programs."""
    sending = np.ones(graph.vertices, bool) if senders is None else senders
    table = pd.DataFrame(
        {
            "partition": homes,
            "total_vertices": 1,
            "active_vertices": sending.astype(np.int64),
            "local_messages": np.where(sending, inside, 0),
            "remote_messages": np.where(sending, graph.out_degrees - inside, 0),
            OUT_EDGES: graph.out_degrees,
        }
    )
    return table.groupby("partition").sum().reset_index()


def _block(batches: Iterator[pa.RecordBatch], vertices: int) -> Iterator[pa.RecordBatch]:
    """Sort the in-edges of a partition by receiver, then by sender; runs on executors."""
    listed = list(batches)
    if not sum(len(batch) for batch in listed):
        return
    table = pa.Table.from_batches(listed)
    src, dst = (table[name].to_numpy() for name in ("src", "dst"))
    order = np.lexsort((src, dst))
    src, dst = src[order], dst[order]
    firsts = np.flatnonzero(np.diff(dst, prepend=-1))
    width = np.uint32 if vertices < 2**31 else np.uint64
    weights = np.empty(0, np.float32)
    if "weight" in table.column_names:
        weights = table["weight"].to_numpy().astype(np.float32)[order]
    parts = (dst[firsts], np.append(firsts, len(dst)), src.astype(width), weights)
    yield pa.record_batch(
        [pa.array([part.tobytes()], pa.large_binary()).cast(pa.binary()) for part in parts],
        names=["ids", "starts", "sources", "weights"],
    )


def _combine(
    batches: Iterator[pa.RecordBatch], shared: Any, code: int, kind: str
) -> Iterator[pa.RecordBatch]:
    """Combine the messages to the vertices of a partition; runs on executors."""
    from predict_graph.engines.spark.programs.spreading import keep_loaded

    n, ids, sent, everyone, few = shared.value
    dtype = np.dtype(kind)
    width = np.uint32 if n < 2**31 else np.uint64
    nothing = identity(code, dtype)
    senders = np.empty(0, np.uint8)
    offered = sent
    if not everyone:
        offered = np.full(n, nothing)
        offered[ids] = sent
        senders = np.zeros(n, np.uint8)
        senders[ids] = 1
    for batch in batches:
        for row in range(len(batch)):
            receivers, starts, sources, weights = (
                np.frombuffer(batch[name][row].as_py(), of)
                for name, of in (
                    ("ids", np.int64),
                    ("starts", np.int64),
                    ("sources", width),
                    ("weights", np.float32),
                )
            )
            combined, received = np.full(len(receivers), nothing), np.ones(len(receivers), bool)
            rows = (fixed(starts), fixed(sources), fixed(weights), np.array([0, len(receivers)]))
            sent_by = (fixed(offered), fixed(senders))
            pull(0, 1, code, *rows, *sent_by, nothing, combined, received, few)
            results = (receivers[received], combined[received])
            yield pa.record_batch(
                [pa.array([each.tobytes()]) for each in results], names=["ids", "combined"]
            )
    keep_loaded()
