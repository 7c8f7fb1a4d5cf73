"""Semi-clustering as supersteps over tables (PREDIcT, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.semi_clustering.batches import (
    alone,
    best_members,
    grown,
    without_copies,
)
from predict_graph.builtin.semi_clustering.definition import SemiClustering
from predict_graph.engines.spark.programs.spreading import SpreadingProgram, by_batch
from predict_graph.engines.spark.tables.graph_tables import GraphTables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_RESULT = (
    "sent binary, kept binary, updated long, held long, best_score double, best_size long, "
    "total_score double"
)
_NAMES = [field.split()[0] for field in _RESULT.split(", ")]


class SemiClusteringProgram(SpreadingProgram):
    """Every vertex sends its best semi-clusters, and adds itself to received ones.

    This takes the edges of one vertex only, so compiled code of the local engine does it on batches
    of vertices with their edges and messages.
    """

    algorithm: SemiClustering

    def __init__(
        self, algorithm: SemiClustering, tables: GraphTables, prior: DataFrame | None = None
    ) -> None:
        super().__init__(algorithm, tables, prior)
        parameters: Any = algorithm.parameters
        self._v_max = int(parameters["v_max"])
        self._limits = (
            int(parameters["s_max"]),
            int(parameters["c_max"]),
            self._v_max,
            float(parameters["boundary_factor"]),
        )

    def initial(self) -> DataFrame:
        """Let every vertex hold the semi-cluster of itself."""
        vertices = self.with_edges(self.tables.vertices)
        weights = ["weights"] if "weights" in vertices.columns else []
        held = vertices.withColumn("sent", by_batch(alone, "binary")("id", "targets", *weights))
        return self.state_of(
            held,
            sent="sent",
            kept="sent",
            updated="0L",
            held="1L",
            best_score="0.0D",
            best_size="1L",
            total_score="0.0D",
        )

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send semi-clusters, and extend the received ones."""
        joined = self.with_received(self.with_edges(state), state, "sent", without_copies)
        following = {name: f"new.{name}" for name in _NAMES}
        return self.state_of(joined.withColumn("new", self._grown), "sending", **following)

    @cached_property
    def _grown(self) -> Column:
        """The column computed by Python from a vertex, its edges, and received semi-clusters."""
        weights = ["weights"] if "weights" in self.out_rows.columns else []
        grow = by_batch(grown, _RESULT, limits=self._limits)
        return grow("id", "targets", "sent", "kept", "received", *weights)

    def sums(self) -> dict[str, str]:
        """Sum the changed list entries, all entries, and their scores."""
        return {name: name for name in ("updated", "held", "total_score")}

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the share of list entries that changed."""
        return sums["updated"] / max(sums["held"], 1.0)

    def values(self, state: DataFrame) -> DataFrame:
        """Return the members of the best semi-cluster of each vertex, -1 for none."""
        from pyspark.sql import functions as F

        members = by_batch(best_members, "array<long>", v_max=self._v_max)
        found = state.select("id", members("kept").alias("members"))
        columns = (F.get("members", i).alias(f"value_{i + 1}") for i in range(self._v_max))
        return found.select("id", *columns)

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the score and the size of the best semi-cluster, and the mean score of lists."""
        from pyspark.sql import functions as F

        best = state.agg(F.max(F.struct("best_score", -F.col("id"), "best_size"))).collect()[0][0]
        return {
            "best_score": float(best[0]),
            "best_size": int(best[2]),
            "mean_score": sums[-1]["total_score"] / sums[-1]["held"],
        }
