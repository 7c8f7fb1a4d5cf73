"""Vertex programs on Spark: numpy code of the user on the driver, edges on the executors.

The methods of a vertex program take whole arrays, one element per vertex, and may use global values
such as a sum or the largest degree. They therefore run in this process, as the driver's part of a
superstep. Each block holds the in-edges of its vertices. In a superstep it
gets the messages as one broadcast array (only those of the senders, if they are few), combines them
with the compiled loops of the local engine in the same order, and returns one number per receiver.
The result is bitwise that of the local engine. Executors hold no state, so a run survives the loss
of executors.
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from predict_graph.algorithms import VertexProgram
from predict_graph.arrays import Array
from predict_graph.engines.local.edge_loops import identity, pull
from predict_graph.engines.local.program import ProgramKernel
from predict_graph.engines.local.team import Team
from predict_graph.engines.spark.blocks import stored as storage
from predict_graph.engines.spark.blocks.program import DRIVER, keep_loaded, sender_counts
from predict_graph.engines.spark.blocks.running import StoredGraph, SuperstepJob
from predict_graph.graph import Graph
from samplers.csr import frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class VertexJob(SuperstepJob):
    """A run of a vertex program, whose state is in this process."""

    merges_by = "receiver"

    def begin(self) -> None:
        """Set the kernel up."""
        self._kernel = _Kernel(self.algorithm, self.stored, self.prior)

    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""
        superstep = self._kernel.step()
        self.counts.append(pd.DataFrame(self._kernel.counts))
        return superstep.convergence

    def values(self) -> DataFrame:
        """Return ``id`` and ``value``."""
        found = self.collected()
        return self.stored.table(id=np.arange(len(found)), value=found)

    def collected(self) -> Array:
        """Return the states, which are here."""
        return self._kernel.values


class _Kernel(ProgramKernel):
    """A vertex program whose edges are in blocks on the executors."""

    def __init__(self, program: VertexProgram, stored: StoredGraph, prior: Array | None) -> None:
        self._stored = stored
        graph: Any = stored.graph  # in this process
        super().__init__(program, graph, None, prior)

    def _prepare_edges(self, graph: Graph, program: VertexProgram, team: Team | None) -> None:
        """Leave the edges to the executors."""
        self._weighted = program.weighted and graph.weights is not None

    def _combined(self, message: Array, sending: Array | None) -> tuple[Array, Array]:
        n, homes = len(message), self._stored.homes
        few = sending is not None and self._are_few(sending)
        sent = message if sending is None else message[sending]
        known = (self._code, self._weighted, n, sending, sent, few)
        shared = homes.sparkSession.sparkContext.broadcast(known)
        work = partial(_combine, shared=shared, blocks=self._stored.blocks)
        try:
            found = homes.mapInArrow(work, storage.PARCELS).collect()
        finally:
            shared.destroy()
        combined = np.full(n, identity(self._code, message.dtype))
        received = np.zeros(n, np.bool_)
        size = sent.nbytes + (0 if sending is None else sending.nbytes)
        self.counts: list[dict[str, int]] = []
        for row in found:
            receivers, values, counts = pickle.loads(row["data"])
            combined[receivers] = values
            received[receivers] = True
            moved = {"local_bytes": 0, "remote_bytes": size + receivers.nbytes + values.nbytes}
            self.counts.append({**counts, "records": len(receivers), **moved})
        return combined, received


def _combine(batches: storage.Batches, shared: Any, blocks: storage.Blocks) -> storage.Batches:
    """Combine the messages to the vertices of blocks; runs on executors."""
    for batch in batches:
        for key in batch.column(0).to_pylist():
            block = storage.opened(blocks)[blocks.numbers[key]]
            yield storage.parcel(DRIVER, block.number, _combined_in(block, shared.value))
    keep_loaded()


def _combined_in(block: storage.StoredBlock, shared: Any) -> tuple[Array, Array, dict[str, int]]:
    """Combine the messages to the vertices of a block, in the order of the local engine.

    Return the receivers, what they get, and the counts of the senders in the block.
    """
    code, weighted, n, ids, offered, few = shared
    nothing = identity(code, offered.dtype)
    senders = np.empty(0, np.uint8)
    columns = block.ids
    if ids is not None:
        sent, offered = offered, np.full(n, nothing)
        offered[ids] = sent
        senders = np.zeros(n, np.uint8)
        senders[ids] = 1
        senders = senders[columns]
    combined, received = np.full(block.count, nothing), np.diff(block.indptr) > 0
    weights = block.weights if weighted else block.weights[:0]
    rows = (frozen(block.indptr), frozen(block.sources.view(np.uint32)), frozen(weights))
    messages = (frozen(offered[columns]), frozen(senders), nothing)
    pull(0, block.count, code, rows, messages, (combined, received), few)
    own = None if ids is None else senders[: block.count].view(bool)
    return block.rows[received], combined[received], sender_counts(block, own)
