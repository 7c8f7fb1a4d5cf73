"""Label propagation as supersteps over tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.engines.spark.programs.spreading import declared
from predict_graph.engines.spark.superstep import SuperstepProgram

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class LabelPropagationProgram(SuperstepProgram):
    """Every vertex sends its label, and takes the one with most votes or weight.

    Messages are counted at the receiver: combining by receiver and label would need a second
    shuffle to compare the labels of a receiver.
    """

    combines = False
    algorithm: LabelPropagation

    def initial(self) -> DataFrame:
        """Return each vertex with its own id as the label."""
        from pyspark.sql import functions as F

        state = self.tables.vertices.select(
            *("id", "degree", "inside"),
            F.lit(True).alias("sending"),
            F.col("id").alias("label"),
            F.lit(False).alias("changed"),
        )
        # Spark would assume partitioning by label, which matches the id now but not later.
        return declared(state, self.tables.partitions)

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send all labels, sum votes, and take the label with most; the smallest of several."""
        from pyspark.sql import functions as F

        edges = self.tables.edges
        weight = "weight" if "weight" in edges.columns else "1.0D AS weight"
        offers = state.where("degree > 0").selectExpr("id", "label")
        votes = (
            edges.join(offers.hint("shuffle_hash"), F.expr("src = id"))
            .selectExpr("dst", "label", weight)
            .repartition(self.tables.partitions, "dst")
            .groupBy("dst", "label")
            .agg(F.expr("sum(weight) AS votes"))
        )
        best = F.expr("-max(struct(votes, -label AS negative)).negative AS received")
        inbox = votes.groupBy("dst").agg(best)
        return state.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left").selectExpr(
            *("id", "degree", "inside", "sending"),
            "coalesce(received, label) AS label",
            "coalesce(received, label) != label AS changed",
        )

    def sums(self) -> dict[str, Column]:
        """Count the labels that changed."""
        from pyspark.sql import functions as F

        return {"changed": F.col("changed").cast("int")}

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the share of vertices whose label changed."""
        return sums["changed"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return the label of each vertex."""
        from pyspark.sql import functions as F

        return state.select("id", F.col("label").alias("value"))

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of communities and the size of the largest."""
        from pyspark.sql import functions as F

        sizes = state.groupBy("label").count()
        found = sizes.agg(F.count("*"), F.max("count")).collect()[0]
        return {"communities": int(found[0]), "largest": int(found[1])}
