"""Sending byte rows along out-edges in batches, where Spark's own functions are too slow.

The out-neighbours of a vertex form one row, so that its message is passed to Python once rather
than once per edge. Compiled code combines messages to the same receiver, and only the result is
shuffled.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar
from zipimport import zipimporter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.engines.spark.programs.packed import byte_offsets, lists
from predict_graph.engines.spark.superstep import SuperstepProgram
from predict_graph.engines.spark.tables.checkpoints import cut_off

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

IntArray = npt.NDArray[np.int64]
Combine = Callable[[IntArray, IntArray, pa.Array], pa.Array]
"""Combines messages: ``combine(starts, senders, messages)``. Receiver *i* gets those of
``messages`` that ``senders[starts[i] : starts[i + 1]]`` names; one message for each receiver."""

_TAKEN_IN = 1 << 27  # bytes collected before sending: trades off memory for combining
_GIVEN_OUT = 1 << 24  # bytes of messages of a batch, before combining: limits memory


class SpreadingProgram(SuperstepProgram):
    """A program whose vertices store their out-edges as one row, and send rows of bytes.

    The Python of the executors must be able to import this package, numba and pyarrow.
    """

    oldest_spark = (4, 1)  # needs column functions that accept Arrow arrays
    self_loops: ClassVar[bool] = False
    """Whether vertices send to themselves."""

    @cached_property
    def out_rows(self) -> DataFrame:
        """``src``, ``targets`` (ascending) and, if any, ``weights``; made with the first state.

        One row per vertex with out-edges, cached by the executors; where executors may be lost, it
        can be recomputed.
        """
        from pyspark.sql import functions as F

        edges = self.tables.edges if self.self_loops else self.tables.edges.where("src != dst")
        if "weight" in edges.columns:
            pairs = F.sort_array(F.collect_list(F.struct("dst", "weight"))).alias("pairs")
            columns = [F.col("pairs.dst").alias("targets"), F.col("pairs.weight").alias("weights")]
        else:
            pairs = F.sort_array(F.collect_list("dst")).alias("targets")
            columns = [F.col("targets")]
        rows = edges.groupBy("src").agg(pairs).select("src", *columns)
        if not self.tables.durable:
            return cut_off(rows, eager=True)
        rows = rows.persist()
        rows.count()
        return rows

    def keep_edges(self) -> None:
        """Make the rows of out-edges, which is part of the setup."""
        assert self.out_rows is not None

    def with_edges(self, table: DataFrame) -> DataFrame:
        """Join vertices with their out-edges, keeping vertices without any."""
        from pyspark.sql import functions as F

        return table.join(self.out_rows.hint("shuffle_hash"), F.expr("id = src"), "left")

    def with_received(
        self, table: DataFrame, state: DataFrame, column: str, combine: Combine
    ) -> DataFrame:
        """Send a column of the senders in a state along their out-edges, the one shuffle of a
        superstep; join vertices with ``received``, the combined messages.
        """
        from pyspark.sql import functions as F

        offers = state.where("sending and degree > 0").selectExpr("id", f"{column} AS message")
        inbox = (
            self.out_rows.join(offers.hint("shuffle_hash"), F.expr("src = id"))
            .selectExpr("id", "targets", "message")
            .mapInArrow(partial(_sent, combine=combine), "dst long, message binary")
            .groupBy("dst")
            .agg(F.expr("collect_list(message) AS received"))
        )
        return table.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left")


def by_batch(function: Callable[..., pa.Array], kind: str, **fixed: Any) -> Callable[..., Column]:
    """Return a column function computed by Python, from one array per column to one array.

    Its result is pickled again for each new column, so a program keeps the columns that it uses in
    every superstep.
    """
    from pyspark.sql.functions import ArrowUDFType, arrow_udf

    # Pyspark warns about missing type hints, which `partial` does not have
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        columns: Callable[..., Column] = arrow_udf(
            partial(function, **fixed), kind, ArrowUDFType.SCALAR
        )
    return columns


def keep_loaded() -> None:
    """Disable per-task work of Spark's Python workers that exceeds a small superstep.

    Before a task Spark clears Python's import caches, and Python then rereads the directories of
    Spark's zip files, once per package. After a task it collects garbage among all loaded objects.
    Zip importers are recreated when needed.
    """
    if "pyspark.worker" not in sys.modules:
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
    gc.freeze()


def _sent(batches: Iterator[pa.RecordBatch], combine: Combine) -> Iterator[pa.RecordBatch]:
    """Send the messages of a partition's vertices; runs on executors."""
    for table in _taken_in(batches):
        yield from _combined(table, combine)


def _taken_in(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Merge batches until they are large enough."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= _TAKEN_IN:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if sum(len(batch) for batch in held):
        yield pa.Table.from_batches(held)


def _combined(table: pa.Table, combine: Combine) -> Iterator[pa.RecordBatch]:
    """Sort messages by receiver, then by sender, and combine them."""
    table = table.sort_by("id").combine_chunks()
    messages = table["message"].chunk(0)
    row_starts, targets = lists(table["targets"].chunk(0))
    receivers = targets.to_numpy()[row_starts[0] : row_starts[-1]]
    senders = np.repeat(np.arange(len(table)), np.diff(row_starts))
    order = np.argsort(receivers, kind="stable")
    receivers, senders = receivers[order], senders[order]
    firsts = np.flatnonzero(np.diff(receivers, prepend=-1))
    starts = np.append(firsts, len(receivers))
    sizes = np.diff(byte_offsets(messages))
    ends = np.append(0, np.cumsum(sizes[senders]))[starts]
    cuts = np.flatnonzero(np.diff(ends[:-1] // _GIVEN_OUT, prepend=-1))
    for first, last in zip(cuts, np.append(cuts[1:], len(firsts)), strict=True):
        message = combine(starts[first : last + 1], senders, messages)
        ids = pa.array(receivers[firsts[first:last]])
        yield pa.record_batch([ids, message], names=["dst", "message"])
