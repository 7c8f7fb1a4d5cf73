"""Neighborhood estimation as supersteps over tables: the union of HyperLogLog counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.builtin.merging import MAXIMUM, pull
from predict_graph.builtin.neighborhood.definition import Neighborhood
from predict_graph.builtin.neighborhood.local import effective_diameter, hashed, settle
from predict_graph.engines.spark.programs.merging import IntArray, MergingProgram, Rows, warm_up
from predict_graph.engines.spark.programs.packed import packed_rows
from predict_graph.engines.spark.programs.spreading import by_batch
from predict_graph.engines.spark.tables.graph_tables import GraphTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _merge(starts: IntArray, senders: IntArray, rows: Rows, into: Rows) -> None:
    """Take the maximum of counters, register by register."""
    everyone, changed = np.ones(len(rows), np.uint8), np.zeros(len(into), np.uint8)
    pull(MAXIMUM, 0, len(into), starts, senders, everyone, rows, into, changed)


class NeighborhoodProgram(MergingProgram):
    """Vertices send counters that changed; a vertex takes the maximum of each register.

    The Python of the executors must be able to import this package, numba and pyarrow.
    """

    algorithm: Neighborhood
    value = "figure"

    def __init__(
        self, algorithm: Neighborhood, tables: GraphTables, prior: DataFrame | None = None
    ) -> None:
        super().__init__(algorithm, tables, prior)
        self.empty = np.zeros(algorithm.registers, np.uint8)
        self.merge, self.measure = _merge, _estimates

    def first_rows(self) -> DataFrame:
        """Return counters that hold their own vertex."""
        from pyspark.sql import functions as F

        registers = self.algorithm.registers
        counters = by_batch(_first, "binary", registers=registers)
        alone = float(_estimates(hashed(np.zeros(1, np.int64), registers))[0])
        return self.tables.vertices.withColumns({"row": counters("id"), "figure": F.lit(alone)})

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the neighbourhood function, for 0, 1, … hops, and the effective diameter."""
        reached = [found["figure"] for found in sums]
        return {
            "neighborhood_function": reached,
            "effective_diameter": effective_diameter(np.array(reached)),
        }


def _first(ids: pa.Array, registers: int) -> pa.Array:
    rows = packed_rows(hashed(ids.to_numpy(), registers))
    _estimates(hashed(ids.to_numpy()[:1], registers))
    warm_up(_merge, registers)
    return rows


def _estimates(counters: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the estimate of each counter, as in the local kernel."""
    n = len(counters)
    estimates, blocks, changed = np.empty(n), np.array([0, n]), np.ones(n, np.uint8)
    settle(0, 1, blocks, changed, counters.copy(), counters, estimates, np.zeros(1))
    return estimates
