"""Top-k ranking as supersteps over tables: the union of short lists of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.engines.spark.programs.merging import IntArray, MergingProgram, Rows, warm_up
from predict_graph.engines.spark.programs.packed import byte_rows, packed_rows
from predict_graph.engines.spark.programs.spreading import by_batch
from predict_graph.engines.spark.tables.graph_tables import GraphTables
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _merge(starts: IntArray, senders: IntArray, rows: Rows, into: Rows) -> None:
    """Merge lists of k ranks and their k vertices; equal ranks are ordered by vertex."""
    _merged_lists(starts, senders, rows, into)


@numba.njit(cache=True, nogil=True)
def _merged_lists(starts: Any, senders: Any, rows: Any, into: Any) -> None:
    k = into.shape[1] // 16
    ranks, vertices = rows.view(np.float64)[:, :k], rows.view(np.int64)[:, k:]
    my_ranks, my_vertices = into.view(np.float64)[:, :k], into.view(np.int64)[:, k:]
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            u = senders[e]
            place = 0
            for j in range(k):
                rank, vertex = ranks[u, j], vertices[u, j]
                if vertex < 0:
                    break
                while place < k and (
                    my_ranks[i, place] > rank
                    or (my_ranks[i, place] == rank and my_vertices[i, place] < vertex)
                ):
                    place += 1
                if place == k:
                    break
                if my_vertices[i, place] == vertex:
                    continue
                for later in range(k - 1, place, -1):
                    my_ranks[i, later] = my_ranks[i, later - 1]
                    my_vertices[i, later] = my_vertices[i, later - 1]
                my_ranks[i, place], my_vertices[i, place] = rank, vertex


class TopKRankingProgram(MergingProgram):
    """Vertices send lists that changed; a vertex keeps the k best of all entries.

    A row is k ranks, best first, and their k vertices. Ranks that differ only by the order of
    additions may swap positions between runs.

    The Python of the executors must be able to import this package, numba and pyarrow.
    """

    algorithm: TopKRanking

    def __init__(
        self, algorithm: TopKRanking, tables: GraphTables, prior: DataFrame | None = None
    ) -> None:
        if prior is None:
            raise RequestError("top-k ranking on Spark is given no ranks; accepted: those of a run")
        super().__init__(algorithm, tables, prior)
        self.empty = _lists(np.array([-np.inf]), np.array([-1]), algorithm.k)[0]
        self.merge = _merge

    def first_rows(self) -> DataFrame:
        """Return lists that hold their own vertex."""
        from pyspark.sql import functions as F

        assert self.prior is not None
        ranks = self.prior.select(F.col("id").alias("ranked"), F.col("value"))
        lists = by_batch(_first, "binary", k=self.algorithm.k)
        ranked = self.tables.vertices.join(
            ranks.hint("shuffle_hash"), F.col("id") == F.col("ranked")
        )
        return ranked.withColumn("row", lists("id", "value"))

    def values(self, state: DataFrame) -> DataFrame:
        """Return the vertices with the k highest ranks that reach each vertex, -1 for none."""
        from pyspark.sql import functions as F

        k = self.algorithm.k
        vertices = by_batch(_vertices, "array<long>", k=k)
        listed = state.select("id", vertices("row").alias("listed"))
        columns = (F.get("listed", i).alias(f"value_{i + 1}") for i in range(k))
        return listed.select("id", *columns)

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many different lists there are."""
        return {"different_lists": state.select("row").distinct().count()}


def _lists(
    ranks: npt.NDArray[np.float64], vertices: npt.NDArray[np.int64], k: int
) -> npt.NDArray[np.uint8]:
    """Return rows of lists with one entry each, shape (n, 16 k)."""
    rows = np.full((len(ranks), 2 * k), -1, np.int64)
    rows.view(np.float64)[:, :k] = -np.inf
    rows.view(np.float64)[:, 0] = ranks
    rows[:, k] = vertices
    return rows.view(np.uint8)


def _first(ids: pa.Array, ranks: pa.Array, k: int) -> pa.Array:
    rows = packed_rows(_lists(ranks.to_numpy(), ids.to_numpy(), k))
    warm_up(_merge, 16 * k)
    return rows


def _vertices(rows: pa.Array, k: int) -> pa.Array:
    """Return the vertices of lists."""
    vertices = byte_rows(rows, 16 * k).view(np.int64)[:, k:]
    starts = np.arange(len(vertices) + 1, dtype=np.int32) * k
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(vertices.ravel()))
