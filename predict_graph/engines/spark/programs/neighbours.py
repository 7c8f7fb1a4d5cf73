"""Programs whose vertices store their neighbours and receive separate messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.engines.spark.programs.spreading import out_rows, spread
from predict_graph.engines.spark.superstep import SuperstepProgram
from predict_graph.engines.spark.tables.graph_tables import GraphTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IntArray = npt.NDArray[np.int64]


class NeighbourProgram(SuperstepProgram):
    """A program whose vertices use their neighbours and each neighbour's message separately.

    The Python of the executors must be able to import this package, numba and pyarrow.
    """

    oldest_spark = (4, 1)  # needs column functions that accept Arrow arrays
    looks_up = False  # received messages are combined in arrays

    def __init__(self, algorithm: Any, tables: GraphTables, prior: DataFrame | None = None) -> None:
        super().__init__(algorithm, tables, prior)
        self._out_rows: DataFrame | None = None

    def keep_neighbours(self) -> None:
        """Store the neighbours of each vertex, except itself, with the first state."""
        self._out_rows = out_rows(self.tables, self_loops=False)

    def with_messages(
        self, state: DataFrame, concatenate: Callable[[IntArray, IntArray, pa.Array], pa.Array]
    ) -> DataFrame:
        """Return the state with ``targets``, the neighbours, and ``received``, their messages."""
        from pyspark.sql import functions as F

        assert self._out_rows is not None  # stored with the first state
        inbox = spread(state, "message", self._out_rows, concatenate)
        return state.join(self._out_rows.hint("shuffle_hash"), F.expr("id = src"), "left").join(
            inbox.hint("shuffle_hash"), F.expr("id = dst"), "left"
        )
