"""Connected components as supersteps over tables (PREDIcT, section 5; PEGASUS)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.engines.spark.superstep import VERTEX, SuperstepProgram

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ComponentsProgram(SuperstepProgram):
    """Vertices whose label decreased send it; a vertex takes the smallest label that it
    receives.
    """

    algorithm: ConnectedComponents
    value = "label"

    def initial(self) -> DataFrame:
        """Return each vertex with its own id as the label."""
        # Without a declaration Spark would assume partitioning by label, which matches the id now
        # but not later.
        return self.state_of(label="id")

    def advance(self, state: DataFrame, sums: Mapping[str, float]) -> DataFrame:
        """Send decreased labels, and take the smallest received one where it is lower."""
        found = self.received(state, ["label AS offer"], "min(offer) AS received")
        return found.selectExpr(
            *VERTEX,
            "coalesce(received < label, false) AS sending",
            "least(label, received) AS label",
        )

    def sums(self) -> dict[str, str]:
        """Count the decreased labels, and the vertices whose label is their own id."""
        return {**super().sums(), "components": "int(label = id)"}

    def summary(self, state: DataFrame, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        largest = state.groupBy("label").count().agg({"count": "max"}).collect()[0][0]
        return {"components": int(sums[-1]["components"]), "largest": int(largest)}
