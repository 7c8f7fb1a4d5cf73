"""Label propagation as supersteps over tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.engines.spark.superstep import VERTEX, SuperstepProgram

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LabelPropagationProgram(SuperstepProgram):
    """Every vertex sends its label, and takes the one with most votes or weight.

    Messages are counted at the receiver: combining by receiver and label would need a second
    shuffle to compare the labels of a receiver.
    """

    combines = False
    algorithm: LabelPropagation
    value = "label"

    def initial(self) -> DataFrame:
        """Return each vertex with its own id as the label."""
        # Without a declaration Spark would assume partitioning by label, which matches the id now
        # but not later.
        return self.state_of(label="id", changed="false")

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
            *(*VERTEX, "sending"),
            "coalesce(received, label) AS label",
            "coalesce(received, label) != label AS changed",
        )

    def sums(self) -> dict[str, str]:
        """Count the labels that changed."""
        return {"changed": "int(changed)"}

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of communities and the size of the largest."""
        from pyspark.sql import functions as F

        sizes = state.groupBy("label").count()
        found = sizes.agg(F.count("*"), F.max("count")).collect()[0]
        return {"communities": int(found[0]), "largest": int(found[1])}
