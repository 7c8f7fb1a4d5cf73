"""Vertices that know their neighbours, and hear messages beside each other."""

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

__all__ = ["IntArray", "NeighbourProgram"]

IntArray = npt.NDArray[np.int64]


class NeighbourProgram(SuperstepProgram):
    """A program whose vertices look at their neighbours and at all that these send, apart.

    The Python of the executors must be able to import this package, numba and pyarrow.
    """

    oldest_spark = (4, 1)  # whose functions of columns take Arrow's arrays as they are
    looks_up = False  # what arrives is put together in arrays

    def __init__(self, algorithm: Any, tables: GraphTables, prior: DataFrame | None = None) -> None:
        super().__init__(algorithm, tables, prior)
        self._out_rows: DataFrame | None = None

    def keep_neighbours(self) -> None:
        """Keep the neighbours of each vertex, itself left out; with the first state."""
        self._out_rows = out_rows(self.tables, self_loops=False)

    def hearing(
        self, state: DataFrame, beside: Callable[[IntArray, IntArray, pa.Array], pa.Array]
    ) -> DataFrame:
        """Return the state with ``targets``, the neighbours, and ``received``, what they told.

        Parameters
        ----------
        state : DataFrame
            Vertices, with what each tells in ``told``.
        beside : callable
            Puts the messages to each receiver beside each other; see
            :func:`~predict_graph.engines.spark.programs.spreading.spread`.
        """
        from pyspark.sql import functions as F

        assert self._out_rows is not None  # kept with the first state
        inbox = spread(state, "told", self._out_rows, beside)
        return state.join(self._out_rows.hint("shuffle_hash"), F.expr("id = src"), "left").join(
            inbox.hint("shuffle_hash"), F.expr("id = dst"), "left"
        )
