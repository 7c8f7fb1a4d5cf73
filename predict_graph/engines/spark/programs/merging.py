"""Programs whose vertices merge received byte rows into their own and send changed rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.engines.spark.programs.packed import byte_rows, lists, packed_rows
from predict_graph.engines.spark.programs.spreading import (
    SpreadingProgram,
    by_batch,
    keep_loaded,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

IntArray = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint8]
Merge = Callable[[IntArray, IntArray, Rows, Rows], None]
Measure = Callable[[Rows], npt.NDArray[np.float64]]


class MergingProgram(SpreadingProgram):
    """A program whose state is a row of bytes per vertex, merged with received rows."""

    self_loops = True

    empty: Rows
    """The identity element of the merge, shape (width,)."""
    merge: Merge
    """``merge(starts, senders, rows, into)`` merges into row *i* of the last argument the rows that
    ``senders[starts[i] : starts[i + 1]]`` names. It is a module-level function, pickled by name:
    a compiled one would be pickled with its code, and compiled again."""
    measure: Measure | None = None
    """Optional function of each changed row, stored in the column ``figure``."""

    @abstractmethod
    def first_rows(self) -> DataFrame:
        """Return the vertices with ``row``, and ``figure`` if defined."""

    def initial(self) -> DataFrame:
        """Let every vertex send its initial row."""
        self.keep_edges()
        return self.state_of(self.first_rows(), **{name: name for name in self._columns})

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send changed rows, and merge received ones."""
        combine = partial(_combined, empty=self.empty, merge=self.merge)
        joined = self.with_received(state, state, "row", combine)
        return self.state_of(
            joined.withColumn("new", self._merged),
            "coalesce(new.changed, false)",
            **{name: f"coalesce(new.{name}, {name})" for name in self._columns},
        )

    def sums(self) -> dict[str, str]:
        """Count the changed rows, and sum the figures."""
        return {**super().sums(), **({"figure": "figure"} if self.measure else {})}

    @cached_property
    def _merged(self) -> Column:
        """The column computed by Python from a row and the received rows."""
        from pyspark.sql import functions as F

        kind = "row binary, changed boolean" + (", figure double" if self.measure else "")
        fixed = {"width": len(self.empty), "merge": self.merge, "measure": self.measure}
        return by_batch(_received, kind, **fixed)(
            F.expr("CASE WHEN received IS NOT NULL THEN row END"),
            F.expr("coalesce(received, cast(array() AS array<binary>))"),
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        return ("row", "figure") if self.measure else ("row",)


def warm_up(merge: Merge, width: int) -> None:
    """Compile a merge in this process, so that no superstep includes compilation."""
    rows = packed_rows(np.zeros((1, width), np.uint8))
    starts, senders = np.zeros(2, np.int64), np.zeros(0, np.int64)
    merge(starts, senders, byte_rows(rows, width), byte_rows(rows, width).copy())
    keep_loaded()


def _combined(
    starts: IntArray,
    senders: IntArray,
    messages: pa.Array,
    empty: Rows,
    merge: Merge,
) -> pa.Array:
    """Merge the rows for the same receiver."""
    into = np.tile(empty, (len(starts) - 1, 1))
    merge(starts, senders, byte_rows(messages, len(empty)), into)
    return packed_rows(into)


def _received(
    own: pa.Array, received: pa.Array, width: int, merge: Merge, measure: Measure | None
) -> pa.Array:
    """Merge received rows into those of the receivers; null where nothing was received.

    Missing rows are empty lists rather than nulls: for every row, Spark's Arrow writer scans all
    null lists since the last non-null one.
    """
    heard = own.is_valid().to_numpy(zero_copy_only=False)
    starts, messages = lists(received.filter(own.is_valid()))
    mine = byte_rows(own.drop_null(), width)
    rows = mine.copy()
    merge(starts, np.arange(len(messages)), byte_rows(messages, width), rows)
    fields = {"row": packed_rows(rows), "changed": pa.array((rows != mine).any(axis=1))}
    if measure is not None:
        fields["figure"] = pa.array(measure(rows))
    places = pa.array(np.cumsum(heard) - 1, mask=~heard)
    columns = [column.take(places) for column in fields.values()]
    return pa.StructArray.from_arrays(columns, names=list(fields))
