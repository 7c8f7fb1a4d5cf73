"""PageRank as supersteps over tables (PREDIcT, equation 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.engines.spark.superstep import VERTEX, SuperstepProgram, changing_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PageRankProgram(SuperstepProgram):
    """Every vertex sends its rank over its out-degree in every superstep."""

    algorithm: PageRank
    value = "rank"

    def initial(self) -> DataFrame:
        """Return rank 1 / n everywhere."""
        return self.state_of(rank=f"{1.0 / self.tables.count!r}D", change="0.0D")

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send and sum contributions, and add the base rank."""
        offers = [f"rank * {float(self.algorithm.damping)!r}D / degree AS offer"]
        rank = f"({self.base(sums)} + coalesce(received, 0.0D))"
        return self.received(state, offers, "sum(offer) AS received").selectExpr(
            *(*VERTEX, "sending"), f"{rank} AS rank", f"abs({rank} - rank) AS change"
        )

    def base(self, sums: Mapping[str, float]) -> str:
        """Return the base rank of vertices, which does not depend on messages, as SQL."""
        algorithm, n = self.algorithm, self.tables.count
        spread = algorithm.damping * sums["dangling"] / n if algorithm.spread_dangling else 0.0
        return changing_number((1.0 - algorithm.damping) / n + spread)

    def sums(self) -> dict[str, str]:
        """Sum the changes, and the rank of dangling vertices."""
        return {"changed": "change", "dangling": "if(degree = 0, rank, 0.0D)"}
