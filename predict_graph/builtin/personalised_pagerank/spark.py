"""Personalised PageRank as supersteps over tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from predict_graph.builtin.pagerank.spark import PageRankProgram
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.engines.spark.superstep import changing_number
from predict_graph.engines.spark.tables.graph_tables import vertices_in_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PersonalisedPageRankProgram(PageRankProgram):
    """Every vertex sends its rank over its out-degree; the source gets the base rank."""

    algorithm: PersonalisedPageRank

    def initial(self) -> DataFrame:
        """Return rank 1 at the source."""
        (self._source,) = vertices_in_tables(self.algorithm, self.tables)
        return self.state_of(rank=self._at_source("1.0D"), change="0.0D")

    def base(self, sums: Mapping[str, float]) -> str:
        """Return the base rank as SQL: non-zero at the source only."""
        damping = self.algorithm.damping
        spread = damping * sums["dangling"] if self.algorithm.spread_dangling else 0.0
        return self._at_source(changing_number(1.0 - damping + spread))

    def _at_source(self, value: str) -> str:
        return f"CASE WHEN id = {self._source} THEN {value} ELSE 0.0D END"
