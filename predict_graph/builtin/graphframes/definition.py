"""GraphFrames algorithms: names, parameters, calls and local replays.

Names and parameters are those of version 0.8.2. All but one run GraphX on the edges as partitioned
in their table, and use the local replays of GraphX.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from predict_graph.algorithms import Parameter
from predict_graph.algorithms.naming import NamedVertices
from predict_graph.algorithms.parameters import one_of
from predict_graph.builtin.graphx import definition as graphx
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.session.graphframes import check_brought, check_there
from predict_graph.engines.spark.session.opening import OpenSession, require_spark
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.plugins import Registry

GRAPHFRAMES: Registry[type[GraphFramesAlgorithm]] = graphx.registry_of(
    *("GraphFrames", "pageRank", "connectedComponents", "labelPropagation", "shortestPaths"),
    "stronglyConnectedComponents",
)
"""The algorithms by their names in GraphFrames."""


class GraphFramesAlgorithm(LibraryAlgorithm):
    """An algorithm of GraphFrames, which needs its jar in the session."""

    library = "GraphFrames"
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"replay": "predict_graph.builtin.graphframes.stars_replay:replayed"}
    )

    @property
    def ran_by(self) -> graphx.GraphXAlgorithm | None:
        """The GraphX algorithm that runs it, or None."""
        return None

    def check(self, settings: SparkSettings) -> None:
        """Check that the settings load GraphFrames."""
        require_spark()
        check_brought(settings.graphframes_jar, settings.conf)

    def read(self, session: OpenSession, source: str) -> Any:
        """Read the edges as a table, with our settings for tables."""
        check_there(session.spark._jvm)
        spark, size = session.spark, "spark.sql.files.maxPartitionBytes"
        spark.sparkContext.setCheckpointDir(session.new_address())
        before = spark.conf.get(size)
        spark.conf.set(size, "1")  # Spark merges small files up to this size
        try:
            rows = spark.read.schema("src long, dst long").csv(source, sep=" ")
            edges = rows.persist()
            edges.count()
        finally:
            spark.conf.set(size, str(before))
        return edges

    def graph(self, session: OpenSession, edges: Any, vertices: int) -> Any:
        """Return a GraphFrame of two tables, which includes vertices without edges."""
        spark: Any = session.spark
        table: Any = spark.range(0, vertices, 1, session.settings.partitions)
        return spark._jvm.org.graphframes.GraphFrame.apply(table._jdf, edges._jdf)

    def compute(self, result: Any) -> None:
        """Write the table to nowhere."""
        result.write().format("noop").mode("overwrite").save()

    def given(self, java: Any) -> dict[str, Any]:
        """Return the arguments by the names of the methods that take them."""
        return dict(self.parameters)

    def call(self, java: Any, graph: Any) -> Any:
        """Run the method of a GraphFrame of this name; return a table of vertices."""
        program = getattr(graph, self.name.partition(":")[2])()
        for name, value in self.given(java).items():
            if value is not None:
                program = getattr(program, name)(value)
        return program.run()


class GraphFramesPageRank(NamedVertices, GraphFramesAlgorithm):
    """PageRank by rounds or until no rank changes more than `tol`; optionally from one vertex."""

    name = "graphframes:pageRank"
    summary = "ranks of vertices by GraphFrames"
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("resetProbability", float, 0.15, "probability of a restart", 0.0, 1.0),
        Parameter("sourceId", str, None, "id of the vertex to start at"),
        Parameter("maxIter", int, None, "iterations, instead of tol", 1),
        Parameter("tol", float, None, "stop when no rank changes more", 0.0),
    )
    named_by, several = "sourceId", False

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.parameters = one_of(self.parameters, "tol", "maxIter", 0.001)

    def on(self, graph: Any) -> Self:
        """Return the algorithm with its vertex resolved in a graph."""
        return super().on(graph) if self.ids else self

    def given(self, java: Any) -> dict[str, Any]:
        """Return the parameters, with the number of the vertex."""
        return {**self.parameters, "sourceId": next(iter(self.at), None)}

    def call(self, java: Any, graph: Any) -> Any:
        """Run ``pageRank``, whose result is a graph."""
        return super().call(java, graph).vertices()

    @property
    def ran_by(self) -> graphx.GraphXAlgorithm:
        """``PageRank`` of GraphX."""
        given = self.parameters
        names = {"tol": "tol", "maxIter": "numIter", "resetProbability": "resetProb"}
        theirs = {its: given[mine] for mine, its in names.items()}
        if given["sourceId"] is None:
            return graphx.GraphXPageRank(**theirs)
        return graphx.GraphXPersonalizedPageRank(srcId=given["sourceId"], **theirs).as_in(self)


class GraphFramesConnectedComponents(GraphFramesAlgorithm):
    """The smallest id of the component of each vertex, by stars over tables or by GraphX."""

    name = "graphframes:connectedComponents"
    summary = "connected components by GraphFrames"
    declared = (
        Parameter(
            *("algorithm", str, "graphframes", "by stars over tables, or by GraphX"),
            choices=("graphframes", "graphx"),
        ),
        # Without checkpoints, plans grow until runs do not finish.
        Parameter(*("checkpointInterval", int, 2, "iterations between checkpoints", 1, 2)),
        Parameter(*("broadcastThreshold", int, 1_000_000, "neighbours of a hub, at least", 0)),
    )

    def given(self, java: Any) -> dict[str, Any]:
        """Return the parameters by the names of their setters."""
        return {f"set{name[0].upper()}{name[1:]}": each for name, each in self.parameters.items()}

    @property
    def ran_by(self) -> graphx.GraphXAlgorithm | None:
        """``ConnectedComponents`` of GraphX, if selected."""
        chosen = self.parameters["algorithm"] == "graphx"
        return graphx.GraphXConnectedComponents() if chosen else None


class GraphFramesLabelPropagation(GraphFramesAlgorithm):
    """The most frequent label of the neighbours, `maxIter` times, ignoring edge directions."""

    name = "graphframes:labelPropagation"
    summary = "communities by label propagation of GraphFrames"
    declared = (Parameter("maxIter", int, 5, "iterations", 1),)

    @property
    def ran_by(self) -> graphx.GraphXAlgorithm:
        """``LabelPropagation`` of GraphX."""
        return graphx.GraphXLabelPropagation(maxSteps=self.parameters["maxIter"])


class GraphFramesShortestPaths(NamedVertices, GraphFramesAlgorithm):
    """Hops from each vertex to each landmark, along edge directions."""

    name = "graphframes:shortestPaths"
    summary = "hops to landmarks by GraphFrames"
    named_by, spread_by = graphx.GraphXShortestPaths.named_by, graphx.GraphXShortestPaths.spread_by
    declared = graphx.GraphXShortestPaths.declared

    def given(self, java: Any) -> dict[str, Any]:
        """Return the numbers of the landmarks."""
        return {"landmarks": [*self.at]}

    @property
    def ran_by(self) -> graphx.GraphXShortestPaths:
        """``ShortestPaths`` of GraphX."""
        return graphx.GraphXShortestPaths(**self.parameters).as_in(self)


class GraphFramesStronglyConnectedComponents(GraphFramesAlgorithm):
    """The smallest id of the strong component of each vertex, for those found in `maxIter`
    rounds.
    """

    name = "graphframes:stronglyConnectedComponents"
    summary = "strongly connected components by GraphFrames"
    declared = (Parameter("maxIter", int, 10, "iterations, at most", 1),)

    @property
    def ran_by(self) -> graphx.GraphXAlgorithm:
        """``StronglyConnectedComponents`` of GraphX."""
        return graphx.GraphXStronglyConnectedComponents(numIter=self.parameters["maxIter"])
