"""Core numbers as supersteps over tables: each vertex keeps the estimates of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pyarrow as pa

from predict_graph.builtin.k_core.definition import KCore
from predict_graph.builtin.k_core.local import lowered
from predict_graph.engines.spark.programs.neighbours import IntArray, NeighbourProgram
from predict_graph.engines.spark.programs.packed import (
    byte_rows,
    lists,
    packed,
    packed_rows,
    words,
)
from predict_graph.engines.spark.programs.spreading import by_batch, declared, keep_loaded

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["KCoreProgram"]

_MESSAGE = 16  # bytes: who sends, and its estimate; by definition


class KCoreProgram(NeighbourProgram):
    """Vertices whose estimate fell send it; who hears of it looks at all estimates that it knows.

    Who sent what must be known to the receiver, which forgets what it heard of that one before. So
    messages to one vertex are put beside each other, and not added up.
    """

    algorithm: KCore

    def initial(self) -> DataFrame:
        """Let every vertex send its degree; it has heard of no neighbour."""
        from pyspark.sql import functions as F

        self.keep_neighbours()
        most, degree = self.algorithm.most, F.col("degree")
        first = self.tables.vertices.withColumn(
            "estimate", degree if most is None else F.least(degree, F.lit(most).cast("long"))
        )
        told = by_batch(_told, "binary")
        state = first.select(
            *("id", "degree", "inside"),
            F.lit(True).alias("sending"),
            "estimate",
            told("id", "estimate").alias("told"),
            F.lit(b"").alias("known"),
        )
        return declared(state, self.tables.partitions)

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send estimates that fell, and lower those of who hears of it."""
        joined = self.hearing(state, _beside)
        following = joined.withColumn("new", self._looked_at).selectExpr(
            *("id", "degree", "inside"),
            "coalesce(new.estimate < estimate, false) AS sending",
            *(f"coalesce(new.{name}, {name}) AS {name}" for name in ("estimate", "told", "known")),
        )
        return declared(following, self.tables.partitions)

    @cached_property
    def _looked_at(self) -> Column:
        """What Python makes of an estimate and of those that neighbours tell."""
        from pyspark.sql import functions as F

        # Without neighbours there is nothing to hear, and nothing to rest on.
        looks = F.col("received").isNotNull() | (F.col("targets").isNull() & F.expr("estimate > 0"))
        asked = (
            F.when(looks, F.col("id")),
            F.when(looks, F.col("estimate")),
            F.coalesce(F.when(looks, F.col("targets")), F.array().cast("array<long>")),
            F.coalesce(F.when(looks, F.col("known")), F.lit(b"")),
            F.coalesce("received", F.array().cast("array<binary>")),
        )
        return by_batch(_fallen, "estimate long, told binary, known binary")(*asked)

    def sums(self) -> dict[str, Column]:
        """Count the estimates that fell."""
        from pyspark.sql import functions as F

        return {"changed": F.col("sending").cast("int")}

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the share of vertices whose estimate fell."""
        return sums["changed"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return the core numbers, or 1 for the k-core and 0 for the others."""
        from pyspark.sql import functions as F

        most = self.algorithm.most
        value = F.col("estimate") if most is None else (F.col("estimate") == most).cast("long")
        return state.select("id", value.alias("value"))

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the largest core number and its vertices, or the vertices of the k-core."""
        from pyspark.sql import functions as F

        if self.algorithm.most is not None:
            return {"members": state.where(F.col("estimate") == self.algorithm.most).count()}
        sizes = state.groupBy("estimate").count()
        found = sizes.agg(F.max(F.struct("estimate", "count"))).collect()[0][0]
        return {"degeneracy": int(found[0]), "innermost": int(found[1])}


def _told(ids: pa.Array, estimates: pa.Array) -> pa.Array:
    """Return messages: who sends, and its estimate."""
    rows = np.column_stack((ids.to_numpy(), estimates.to_numpy()))
    one = np.zeros(1, np.int64)
    _lowered(one, np.zeros(2, np.int64), one, one, one, np.zeros(2, np.int64), one[:0])
    keep_loaded()
    return packed_rows(rows)


def _beside(starts: IntArray, senders: IntArray, messages: pa.Array) -> pa.Array:
    """Put the messages to each receiver beside each other."""
    rows = byte_rows(messages, _MESSAGE)[senders[starts[0] : starts[-1]]]
    return packed((starts - starts[0]) * _MESSAGE, rows)


def _fallen(
    ids: pa.Array, estimates: pa.Array, targets: pa.Array, known: pa.Array, received: pa.Array
) -> pa.Array:
    """Return estimates, messages that tell them, and what is known; null for who does not look.

    Parameters
    ----------
    ids, estimates : Array
        Null for who does not look.
    targets : ListArray
        Neighbours, ascending.
    known : BinaryArray
        Estimate of each of them; empty before the first is heard.
    received : ListArray of BinaryArray
    """
    looks = ids.is_valid()
    row_starts, neighbours = lists(targets.filter(looks))
    own = estimates.drop_null().to_numpy().copy()
    heard = np.full(int(row_starts[-1]), np.iinfo(np.int64).max)
    before_starts, before = words(known.filter(looks))
    _kept(row_starts, before_starts, before, heard)
    inbox, messages = lists(received.filter(looks))
    at, pairs = words(messages)
    _lowered(own, row_starts, neighbours.to_numpy(), heard, at, inbox, pairs)
    columns = (
        pa.array(own),
        packed_rows(np.column_stack((ids.drop_null().to_numpy(), own))),
        packed(row_starts * 8, heard),
    )
    found = looks.to_numpy(zero_copy_only=False)
    places = pa.array(np.cumsum(found) - 1, mask=~found)
    taken = [column.take(places) for column in columns]
    return pa.StructArray.from_arrays(taken, names=["estimate", "told", "known"])


@numba.njit(cache=True, nogil=True)
def _kept(row_starts: Any, before_starts: Any, before: Any, heard: Any) -> None:
    """Copy what each vertex knows, where it knows anything."""
    for i in range(len(row_starts) - 1):
        for j in range(before_starts[i + 1] - before_starts[i]):
            heard[row_starts[i] + j] = before[before_starts[i] + j]


@numba.njit(cache=True, nogil=True)
def _lowered(
    own: Any, row_starts: Any, neighbours: Any, heard: Any, at: Any, inbox: Any, pairs: Any
) -> None:
    """Take in what comes, and lower estimates to what enough neighbours are at, in place.

    What comes from a vertex that is no neighbour is left out: in the folded graphs that costs are
    learned from, edges have a direction.
    """
    for i in range(len(row_starts) - 1):
        first, stop = row_starts[i], row_starts[i + 1]
        for message in range(inbox[i], inbox[i + 1]):
            for pair in range(at[message], at[message + 1], 2):
                place = first + np.searchsorted(neighbours[first:stop], pairs[pair])
                if place < stop and neighbours[place] == pairs[pair]:
                    heard[place] = pairs[pair + 1]
        counts = np.zeros(max(own[i], 1), np.int64)
        own[i] = lowered(own[i], heard[first:stop], counts)
