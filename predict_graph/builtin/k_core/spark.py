"""Core numbers as supersteps over tables: each vertex stores the estimates of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pyarrow as pa

from predict_graph.builtin.k_core.definition import KCore
from predict_graph.builtin.k_core.local import lowered
from predict_graph.engines.spark.programs.packed import (
    byte_rows,
    lists,
    packed,
    packed_rows,
    words,
)
from predict_graph.engines.spark.programs.spreading import (
    IntArray,
    SpreadingProgram,
    by_batch,
    keep_loaded,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MESSAGE = 16  # bytes: sender and its estimate; by definition


class KCoreProgram(SpreadingProgram):
    """Vertices whose estimate decreased send it; receivers update their own.

    The receiver must know the sender, whose previous estimate it replaces. Messages to one vertex
    are therefore concatenated and not aggregated.
    """

    algorithm: KCore

    @property
    def value(self) -> str:  # type: ignore[override]
        """The core number, or 1 for the k-core and 0 for the others."""
        most = self.algorithm.most
        return "estimate" if most is None else f"bigint(estimate = {most})"

    def initial(self) -> DataFrame:
        """Let every vertex send its degree; it has no estimates of neighbours yet."""
        self.keep_edges()
        most = self.algorithm.most
        estimate = "degree" if most is None else f"least(degree, {most}L)"
        first = self.tables.vertices.selectExpr("*", f"{estimate} AS estimate")
        message = by_batch(_messages, "binary")("id", "estimate")
        return self.state_of(first, estimate="estimate", message=message, known="X''")

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send decreased estimates, and lower those of the receivers."""
        joined = self.with_received(self.with_edges(state), state, "message", _concatenated)
        return self.state_of(
            joined.withColumn("new", self._looked_at),
            "coalesce(new.estimate < estimate, false)",
            **{name: f"coalesce(new.{name}, {name})" for name in ("estimate", "message", "known")},
        )

    @cached_property
    def _looked_at(self) -> Column:
        """The column computed by Python from an estimate and the estimates of neighbours."""
        from pyspark.sql import functions as F

        # Without neighbours nothing is received, and the core number is 0.
        looks = "received IS NOT NULL OR (targets IS NULL AND estimate > 0)"
        asked = (
            f"if({looks}, id, NULL)",
            f"if({looks}, estimate, NULL)",
            f"coalesce(if({looks}, targets, NULL), cast(array() AS array<bigint>))",
            f"coalesce(if({looks}, known, NULL), X'')",
            "coalesce(received, cast(array() AS array<binary>))",
        )
        lower = by_batch(_fallen, "estimate long, message binary, known binary")
        return lower(*map(F.expr, asked))

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the largest core number and its vertices, or the vertices of the k-core."""
        from pyspark.sql import functions as F

        if self.algorithm.most is not None:
            return {"members": state.where(F.col("estimate") == self.algorithm.most).count()}
        sizes = state.groupBy("estimate").count()
        found = sizes.agg(F.max(F.struct("estimate", "count"))).collect()[0][0]
        return {"degeneracy": int(found[0]), "innermost": int(found[1])}


def _messages(ids: pa.Array, estimates: pa.Array) -> pa.Array:
    """Return messages: the sender and its estimate."""
    rows = np.column_stack((ids.to_numpy(), estimates.to_numpy()))
    one = np.zeros(1, np.int64)
    _lowered(one, np.zeros(2, np.int64), one, one, one, np.zeros(2, np.int64), one[:0])
    keep_loaded()
    return packed_rows(rows)


def _concatenated(starts: IntArray, senders: IntArray, messages: pa.Array) -> pa.Array:
    """Concatenate the messages to each receiver."""
    rows = byte_rows(messages, _MESSAGE)[senders[starts[0] : starts[-1]]]
    return packed((starts - starts[0]) * _MESSAGE, rows)


def _fallen(
    ids: pa.Array, estimates: pa.Array, targets: pa.Array, known: pa.Array, received: pa.Array
) -> pa.Array:
    """Return estimates, messages and known estimates; null for vertices that do not update."""
    looks = ids.is_valid()
    row_starts, neighbours = lists(targets.filter(looks))
    own = estimates.drop_null().to_numpy().copy()
    stored = np.full(int(row_starts[-1]), np.iinfo(np.int64).max)
    before_starts, before = words(known.filter(looks))
    _kept(row_starts, before_starts, before, stored)
    inbox, messages = lists(received.filter(looks))
    at, pairs = words(messages)
    _lowered(own, row_starts, neighbours.to_numpy(), stored, at, inbox, pairs)
    columns = (
        pa.array(own),
        packed_rows(np.column_stack((ids.drop_null().to_numpy(), own))),
        packed(row_starts * 8, stored),
    )
    found = looks.to_numpy(zero_copy_only=False)
    places = pa.array(np.cumsum(found) - 1, mask=~found)
    taken = [column.take(places) for column in columns]
    return pa.StructArray.from_arrays(taken, names=["estimate", "message", "known"])


@numba.njit(cache=True, nogil=True)
def _kept(row_starts: Any, before_starts: Any, before: Any, stored: Any) -> None:
    """Copy the stored estimates of each vertex."""
    for i in range(len(row_starts) - 1):
        for j in range(before_starts[i + 1] - before_starts[i]):
            stored[row_starts[i] + j] = before[before_starts[i] + j]


@numba.njit(cache=True, nogil=True)
def _lowered(
    own: Any, row_starts: Any, neighbours: Any, stored: Any, at: Any, inbox: Any, pairs: Any
) -> None:
    """Merge received estimates, and lower the estimates of vertices, in place.

    Messages from vertices that are not neighbours are ignored.
    """
    for i in range(len(row_starts) - 1):
        first, stop = row_starts[i], row_starts[i + 1]
        for message in range(inbox[i], inbox[i + 1]):
            for pair in range(at[message], at[message + 1], 2):
                place = first + np.searchsorted(neighbours[first:stop], pairs[pair])
                if place < stop and neighbours[place] == pairs[pair]:
                    stored[place] = pairs[pair + 1]
        counts = np.zeros(max(own[i], 1), np.int64)
        own[i] = lowered(own[i], stored[first:stop], counts)
