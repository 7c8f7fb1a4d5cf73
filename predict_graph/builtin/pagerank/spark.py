"""PageRank as supersteps over tables (PREDIcT, equation 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.engines.spark.superstep import SuperstepProgram, changing_number

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class PageRankProgram(SuperstepProgram):
    """Every vertex sends its rank over its out-degree in every superstep."""

    algorithm: PageRank

    def initial(self) -> DataFrame:
        """Return rank 1 / n everywhere."""
        from pyspark.sql import functions as F

        return self.tables.vertices.select(
            "id",
            "degree",
            "inside",
            F.lit(True).alias("sending"),
            F.lit(1.0 / self.tables.count).alias("rank"),
            F.lit(0.0).alias("change"),
        )

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send and sum contributions, and add the base rank."""
        from pyspark.sql import functions as F

        damping = float(self.algorithm.damping)
        offers = state.where("degree > 0").selectExpr(
            "id", f"rank * {damping!r}D / degree AS offer"
        )
        inbox = (
            self.tables.edges.join(offers.hint("shuffle_hash"), F.expr("src = id"))
            .groupBy("dst")
            .agg(F.expr("sum(offer) AS received"))
        )
        rank = f"({self.base(sums)} + coalesce(received, 0.0D))"
        return state.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left").selectExpr(
            *("id", "degree", "inside", "sending"),
            f"{rank} AS rank",
            f"abs({rank} - rank) AS change",
        )

    def base(self, sums: Mapping[str, float]) -> str:
        """Return the base rank of vertices, which does not depend on messages, as SQL."""
        algorithm, n = self.algorithm, self.tables.count
        spread = algorithm.damping * sums["dangling"] / n if algorithm.spread_dangling else 0.0
        return changing_number((1.0 - algorithm.damping) / n + spread)

    def sums(self) -> dict[str, Column]:
        """Sum the changes, and the rank of dangling vertices."""
        from pyspark.sql import functions as F

        return {
            "change": F.col("change"),
            "dangling": F.when(F.col("degree") == 0, F.col("rank")).otherwise(0.0),
        }

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the mean change of rank per vertex."""
        return sums["change"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return the ranks."""
        from pyspark.sql import functions as F

        return state.select("id", F.col("rank").alias("value"))
