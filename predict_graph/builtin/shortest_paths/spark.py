"""Shortest paths as supersteps over tables: a column of hops for each landmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.engines.spark.superstep import VERTEX, SuperstepProgram
from predict_graph.engines.spark.tables.graph_tables import vertices_in_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ShortestPathsProgram(SuperstepProgram):
    """Vertices with shorter paths send their hops plus one; a vertex takes the minimum."""

    algorithm: ShortestPaths

    @property
    def _columns(self) -> list[str]:
        return [f"hops_{number + 1}" for number in range(self.algorithm.count)]

    def initial(self) -> DataFrame:
        """Set the landmarks to 0 hops; unknown hops are null."""
        here = [f"id = {vertex}" for vertex in vertices_in_tables(self.algorithm, self.tables)]
        hops = {
            name: f"CASE WHEN {is_landmark} THEN 0 END"
            for name, is_landmark in zip(self._columns, here, strict=True)
        }
        return self.state_of(sending=" OR ".join(here), **hops)

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send changed hops, and take the smaller ones."""
        names = self._columns
        offers = [f"{name} + 1 AS offered_{name}" for name in names]
        found = (f"min(offered_{name}) AS heard_{name}" for name in names)
        news = (
            f"heard_{name} IS NOT NULL AND ({name} IS NULL OR heard_{name} < {name})"
            for name in names
        )
        return self.received(state, offers, *found).selectExpr(
            *VERTEX,
            f"{' OR '.join(news)} AS sending",
            *(f"least({name}, heard_{name}) AS {name}" for name in names),
        )

    def sums(self) -> dict[str, str]:
        """Count the vertices with shorter paths, and those that a landmark reaches."""
        reached = " OR ".join(f"{name} IS NOT NULL" for name in self._columns)
        return {**super().sums(), "reached": f"int({reached})"}

    def values(self, state: DataFrame) -> DataFrame:
        """Return the hops from each landmark, -1 where there is no path."""
        names = self._columns
        values = ["value"] if len(names) == 1 else [f"value_{i + 1}" for i in range(len(names))]
        hops = zip(names, values, strict=True)
        return state.selectExpr("id", *(f"coalesce({name}, -1) AS {value}" for name, value in hops))

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many vertices a landmark reaches, and how many hops the farthest is away."""
        found = state.agg(dict.fromkeys(self._columns, "max")).collect()[0]
        return {
            "reached": int(sums[-1]["reached"]),
            "farthest": max(int(hops) for hops in found if hops is not None),
        }
