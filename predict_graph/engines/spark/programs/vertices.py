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

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from predict_graph.algorithms import VertexProgram
from predict_graph.engines.local.edge_loops import identity, pull
from predict_graph.engines.local.partition import edges_inside
from predict_graph.engines.local.program import PUSH_SHARE, ProgramKernel
from predict_graph.engines.profile import OUT_EDGES
from predict_graph.engines.spark.blocks.on_executors import (
    ANSWERS,
    BLOCKS,
    Block,
    mapped_blocks,
    sorted_blocks,
)
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.superstep import SparkProgram, SuperstepJob, SuperstepLog
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import Graph
from predict_graph.graph.rows import fixed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Array = npt.NDArray[Any]


class VertexTables(SparkProgram):
    """Runs a vertex program."""

    def job(self, graph: Any, session: OpenSession, **options: Any) -> SuperstepJob:
        """Return a run whose state is in this process."""
        return _VertexJob(self, graph, session, **options)


class _VertexJob(SuperstepJob):
    """A run of a vertex program."""

    def __init__(
        self, program: VertexTables, graph: Graph, session: OpenSession, **options: Any
    ) -> None:
        super().__init__(session, **options)
        self._program, self._graph = program, graph

    def begin(self) -> None:
        graph, program = self._graph, self._program
        partition = partition_of(np.arange(graph.vertices), program.tables.partitions)
        machine = partition % self._session.settings.machines
        self._homes, self._inside = partition, edges_inside(graph, machine.astype(np.int32))
        self._kernel = _Kernel(program, graph, partition)

    def advance(self) -> float:
        superstep = self._kernel.step()
        counts = self._senders(superstep.senders).assign(**self._kernel.moved)
        self._counts.append(counts.assign(iteration=len(self._counts) + 1))
        return superstep.convergence

    def go_on(self) -> None:
        try:
            super().go_on()
        finally:
            self._kernel.blocks.unpersist()

    def log(self, **measured: Any) -> SuperstepLog:
        values = self._kernel.values
        state = self._session.small_table(id=np.arange(len(values)), value=values)
        return SuperstepLog(state=state, sums=[], values=values, **measured)

    def _senders(self, senders: Array | None) -> pd.DataFrame:
        """Count vertices and senders by partition, with the columns of other programs."""
        degrees, partitions = self._graph.out_degrees, self._program.tables.partitions
        sending = np.ones(len(degrees), bool) if senders is None else senders
        columns = {
            "total_vertices": np.ones(len(degrees)),
            "active_vertices": sending,
            "local_messages": np.where(sending, self._inside, 0),
            "remote_messages": np.where(sending, degrees - self._inside, 0),
            OUT_EDGES: degrees,
        }
        table = {name: np.bincount(self._homes, each, partitions) for name, each in columns.items()}
        return pd.DataFrame(table).rename_axis("partition").reset_index()


class _Kernel(ProgramKernel):
    """A vertex program whose edges are in blocks on the executors."""

    def __init__(self, program: VertexTables, graph: Graph, homes: Array) -> None:
        self._tables, self._homes = program.tables, homes
        values = None
        if program.prior is not None:
            values = program.prior.toPandas().sort_values("id")["value"].to_numpy()
        super().__init__(program.algorithm, graph, None, values)

    def _prepare_edges(self, graph: Graph, program: VertexProgram) -> None:
        """Store the in-edges of each partition in blocks, cached by the executors."""
        edges = self._tables.edges
        self._weighted = program.weighted and "weight" in edges.columns
        columns = ["src", "dst", "weight"] if self._weighted else ["src", "dst"]
        parts = edges.select(*columns).repartition(self._tables.partitions, "dst")
        self.blocks: DataFrame = parts.mapInArrow(sorted_blocks, BLOCKS).persist()
        self.blocks.count()

    def _combined(self, message: Array, senders: Array | None) -> tuple[Array, Array]:
        n = len(message)
        few = False
        ids, sent = None, message
        if senders is not None and not senders.all():
            few = bool(self._degrees[senders].sum() <= PUSH_SHARE * self._graph.edges)
            ids = np.flatnonzero(senders)
            sent = message[ids]
        shared = self.blocks.sparkSession.sparkContext.broadcast((n, ids, sent, few))
        try:
            work = partial(_combine, shared=shared, code=self._code)
            found = self.blocks.mapInArrow(work, ANSWERS).collect()
        finally:
            shared.destroy()
        combined = np.full(n, identity(self._code, message.dtype))
        received = np.zeros(n, np.bool_)
        size = sent.nbytes + (0 if ids is None else ids.nbytes)
        records = np.zeros(self._tables.partitions, int)
        bytes_ = np.full_like(records, size)
        for row in found:
            receivers = np.frombuffer(row["places"], np.int32)
            combined[receivers] = np.frombuffer(row["values"], message.dtype)
            received[receivers] = True
            if len(receivers):
                home = self._homes[receivers[0]]
                records[home] += len(receivers)
                bytes_[home] += len(row["places"]) + len(row["values"])
        self.moved = {"records": records, "bytes": bytes_}
        return combined, received


def _combine(batches: Iterable[pa.RecordBatch], shared: Any, code: int) -> Iterator[pa.RecordBatch]:
    """Combine the messages to the vertices of a partition; runs on executors."""
    from predict_graph.engines.spark.programs.spreading import keep_loaded

    yield from mapped_blocks(batches, partial(_combine_block, code=code), shared)
    keep_loaded()


def _combine_block(block: Block, shared: Any, code: int) -> tuple[Array, Array]:
    """Combine the messages to the vertices of a block, in the order of the local engine."""
    n, ids, offered, few = shared
    nothing = identity(code, offered.dtype)
    senders = np.empty(0, np.uint8)
    if ids is not None:
        sent, offered = offered, np.full(n, nothing)
        offered[ids] = sent
        senders = np.zeros(n, np.uint8)
        senders[ids] = 1
    count = len(block.rows)
    combined, received = np.full(count, nothing), np.ones(count, bool)
    rows = (fixed(block.starts), fixed(block.sources.view(np.uint32)), fixed(block.weights))
    sent_by = (np.array([0, count]), fixed(offered), fixed(senders))
    pull(0, 1, code, *rows, *sent_by, nothing, combined, received, few)
    return block.rows[received], combined[received]
