"""Triangles as supersteps over tables: degrees first, then sets of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pyarrow as pa

from predict_graph.builtin.triangle_count.definition import TriangleCount
from predict_graph.engines.spark.programs.packed import lists, packed, packed_rows, words
from predict_graph.engines.spark.programs.spreading import (
    IntArray,
    SpreadingProgram,
    by_batch,
    keep_loaded,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TriangleCountProgram(SpreadingProgram):
    """All vertices send their degrees, then the neighbours that are above them.

    The sender of a set does not matter, so the sets for one vertex are concatenated.
    """

    algorithm: TriangleCount
    value = "triangles"

    def initial(self) -> DataFrame:
        """Let every vertex send its degree."""
        self.keep_edges()
        message = by_batch(_messages, "binary")("id", "degree")
        return self.state_of(message=message, triangles="0L", ordered="0")

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Sort neighbours by degree, then count."""
        from pyspark.sql import functions as F

        joined = self.with_received(self.with_edges(state), state, "message", _concatenated)
        received = F.expr("coalesce(received, cast(array() AS array<binary>))")
        if not sums["ordered"]:
            above = by_batch(_above, "binary")("id", "degree", received)
            return self.state_of(joined, message=above, triangles="triangles", ordered="1")
        targets = F.expr("coalesce(targets, cast(array() AS array<bigint>))")
        counted = by_batch(_counted, "long")(targets, received)
        return self.state_of(joined, "false", message="X''", triangles=counted, ordered="ordered")

    def sums(self) -> dict[str, str]:
        """Count the vertices that still have to send, those with sorted neighbours, and
        triangles.
        """
        return {**super().sums(), "ordered": "ordered", "triangles": "triangles"}

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the triangles of the graph, and the most through one vertex."""
        most = state.agg({"triangles": "max"}).collect()[0][0]
        return {"triangles": round(sums[-1]["triangles"]) // 3, "most": int(most)}


def _messages(ids: pa.Array, degrees: pa.Array) -> pa.Array:
    """Return messages of the first superstep: the sender and its degree."""
    rows = np.column_stack((ids.to_numpy(), degrees.to_numpy()))
    nothing, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    _found_above(none, none, nothing, nothing, none, nothing, none)
    _found(nothing, none, nothing, nothing, none, none)
    keep_loaded()
    return packed_rows(rows)


def _concatenated(starts: IntArray, senders: IntArray, messages: pa.Array) -> pa.Array:
    """Concatenate the messages to each receiver."""
    firsts, found = words(messages)
    senders = senders[starts[0] : starts[-1]]
    lengths = np.diff(firsts)[senders]
    ends = np.append(0, np.cumsum(lengths))
    places = np.repeat(firsts[senders] - ends[:-1], lengths) + np.arange(ends[-1])
    return packed(ends[starts - starts[0]] * 8, found[places])


def _above(ids: pa.Array, degrees: pa.Array, received: pa.Array) -> pa.Array:
    """Return the neighbours above each vertex in the order of degrees."""
    inbox, messages = lists(received)
    at, pairs = words(messages)
    ends, into = np.zeros(len(ids) + 1, np.int64), np.empty(len(pairs) // 2, np.int64)
    _found_above(ids.to_numpy(), degrees.to_numpy(), inbox, at, pairs, ends, into)
    return packed(ends * 8, into[: ends[-1]])


def _counted(targets: pa.Array, received: pa.Array) -> pa.Array:
    """Return how many of the received vertices are neighbours of each vertex."""
    row_starts, neighbours = lists(targets)
    inbox, messages = lists(received)
    at, sets = words(messages)
    counts = np.zeros(len(targets), np.int64)
    _found(row_starts, neighbours.to_numpy(), inbox, at, sets, counts)
    return pa.array(counts)


@numba.njit(cache=True, nogil=True)
def _found_above(
    ids: Any, degrees: Any, inbox: Any, at: Any, pairs: Any, ends: Any, into: Any
) -> None:
    end = 0
    for i in range(len(ids)):
        for message in range(inbox[i], inbox[i + 1]):
            for pair in range(at[message], at[message + 1], 2):
                other, degree = pairs[pair], pairs[pair + 1]
                if degree > degrees[i] or (degree == degrees[i] and other > ids[i]):
                    into[end] = other
                    end += 1
        ends[i + 1] = end


@numba.njit(cache=True, nogil=True)
def _found(row_starts: Any, neighbours: Any, inbox: Any, at: Any, sets: Any, counts: Any) -> None:
    for i in range(len(counts)):
        row = neighbours[row_starts[i] : row_starts[i + 1]]
        for message in range(inbox[i], inbox[i + 1]):
            for place in range(at[message], at[message + 1]):
                spot = np.searchsorted(row, sets[place])
                if spot < len(row) and row[spot] == sets[place]:
                    counts[i] += 1
