"""Shortest paths as supersteps over tables: a column of hops for each landmark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.engines.spark.programs.spreading import declared
from predict_graph.engines.spark.superstep import SuperstepProgram
from predict_graph.engines.spark.tables.graph_tables import vertices_in_tables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class ShortestPathsProgram(SuperstepProgram):
    """Vertices with shorter paths send their hops plus one; a vertex takes the minimum."""

    algorithm: ShortestPaths

    @property
    def _columns(self) -> list[str]:
        return [f"hops_{number + 1}" for number in range(self.algorithm.count)]

    def initial(self) -> DataFrame:
        """Set the landmarks to 0 hops; unknown hops are null."""
        from pyspark.sql import functions as F

        here = [F.col("id") == vertex for vertex in vertices_in_tables(self.algorithm, self.tables)]
        hops = [
            F.when(is_landmark, F.lit(0)).alias(name)
            for is_landmark, name in zip(here, self._columns, strict=True)
        ]
        state = self.tables.vertices.select(
            *("id", "degree", "inside"), reduce(or_, here).alias("sending"), *hops
        )
        return declared(state, self.tables.partitions)

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send changed hops, and take the smaller ones."""
        from pyspark.sql import functions as F

        names = self._columns
        columns = (f"{name} + 1 AS offered_{name}" for name in names)
        offers = state.where("sending and degree > 0").selectExpr("id", *columns)
        inbox = (
            self.tables.edges.join(offers.hint("shuffle_hash"), F.expr("src = id"))
            .groupBy("dst")
            .agg(*(F.expr(f"min(offered_{name}) AS heard_{name}") for name in names))
        )
        news = (
            f"heard_{name} IS NOT NULL AND ({name} IS NULL OR heard_{name} < {name})"
            for name in names
        )
        return state.join(inbox.hint("shuffle_hash"), F.expr("id = dst"), "left").selectExpr(
            *("id", "degree", "inside"),
            f"{' OR '.join(news)} AS sending",
            *(f"least({name}, heard_{name}) AS {name}" for name in names),
        )

    def sums(self) -> dict[str, Column]:
        """Count the vertices with shorter paths, and those that a landmark reaches."""
        from pyspark.sql import functions as F

        reached = reduce(or_, (F.col(name).isNotNull() for name in self._columns))
        return {"changed": F.col("sending").cast("int"), "reached": reached.cast("int")}

    def convergence(self, sums: Mapping[str, float]) -> float:
        """Return the share of vertices that found shorter paths."""
        return sums["changed"] / self.tables.count

    def values(self, state: DataFrame) -> DataFrame:
        """Return the hops from each landmark, -1 where there is no path."""
        from pyspark.sql import functions as F

        names = self._columns
        values = ["value"] if len(names) == 1 else [f"value_{i + 1}" for i in range(len(names))]
        hops = (
            F.coalesce(name, F.lit(-1)).alias(value)
            for name, value in zip(names, values, strict=True)
        )
        return state.select("id", *hops)

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return how many vertices a landmark reaches, and how many hops the farthest is away."""
        from pyspark.sql import functions as F

        found = state.agg(*(F.max(name) for name in self._columns)).collect()[0]
        return {
            "reached": int(sums[-1]["reached"]),
            "farthest": max(int(hops) for hops in found if hops is not None),
        }
