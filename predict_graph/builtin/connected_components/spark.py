"""Connected components as supersteps over tables (PREDIcT, section 5; PEGASUS)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.engines.spark.programs.spreading import declared
from predict_graph.engines.spark.superstep import SuperstepProgram

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class ComponentsProgram(SuperstepProgram):
    """Vertices whose label decreased send it; a vertex takes the smallest label that it
    receives.
    """

    algorithm: ConnectedComponents

    def initial(self) -> DataFrame:
        """Return each vertex with its own id as the label."""
        from pyspark.sql import functions as F

        state = self.tables.vertices.select(
            "id",
            "degree",
            "inside",
            F.lit(True).alias("sending"),
            F.col("id").alias("label"),
        )
        # Spark would assume partitioning by label, which matches the id now but not later.
        return declared(state, self.tables.partitions)

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send decreased labels, and take the smallest received one where it is lower."""
        from pyspark.sql import functions as F

        offers = state.where("sending and degree > 0").selectExpr("id", "label AS offer")
        inbox = (
            self.tables.edges.join(offers.hint("shuffle_hash"), F.expr("src = id"))
            .groupBy("dst")
            .agg(F.expr("min(offer) AS received"))
        )
        return state.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left").selectExpr(
            *("id", "degree", "inside"),
            "coalesce(received < label, false) AS sending",
            "least(label, received) AS label",
        )

    def sums(self) -> dict[str, Column]:
        """Count the decreased labels, and the vertices whose label is their own id."""
        from pyspark.sql import functions as F

        return {
            "changed": F.col("sending").cast("int"),
            "components": (F.col("label") == F.col("id")).cast("int"),
        }

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the share of vertices whose label changed."""
        return sums["changed"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return the smallest id of the component of each vertex."""
        from pyspark.sql import functions as F

        return state.select("id", F.col("label").alias("value"))

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        from pyspark.sql import functions as F

        largest = state.groupBy("label").count().agg(F.max("count")).collect()[0][0]
        return {"components": int(sums[-1]["components"]), "largest": int(largest)}
