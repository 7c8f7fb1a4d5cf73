"""GraphX algorithms: names, parameters, calls and local replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from predict_graph.algorithms.naming import NamedVertices, naming_parameter
from predict_graph.algorithms.parameters import Parameter, one_of
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.plugins import Registry


def registry_of(library: str, *names: str) -> Registry[Any]:
    """Return the registry of a library, whose algorithms are defined in the folder of its name."""
    folder = f"predict_graph.builtin.{library.lower()}.definition:{library}"
    targets = {name: f"{folder}{name[0].upper()}{name[1:]}" for name in names}
    return Registry(f"algorithm of {library}", f"predict_graph.{library.lower()}", targets)


GRAPHX: Registry[type[GraphXAlgorithm]] = registry_of(
    *("GraphX", "pageRank", "connectedComponents", "labelPropagation", "shortestPaths"),
    *("personalizedPageRank", "stronglyConnectedComponents"),
)
"""The algorithms by their names in GraphX."""


def _replay(name: str) -> Mapping[str, Any]:
    """Return `sampled_by` of an algorithm with a local replay of this folder."""
    return {"replay": f"predict_graph.builtin.graphx.replays:{name}"}


class GraphXAlgorithm(LibraryAlgorithm):
    """An algorithm of GraphX, whose object has the name of the class."""

    library = "GraphX"
    tags: ClassVar[int] = 2
    """The types of vertices and edges that its method has."""

    def read(self, session: OpenSession, source: str) -> Any:
        """Read the edges by ``GraphLoader.edgeListFile``, whose vertices are not set up yet."""
        spark: Any = session.for_functions
        level = spark._jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        return spark._jvm.org.apache.spark.graphx.GraphLoader.edgeListFile(
            *(spark.sparkContext._jsc.sc(), source, False),
            *(session.settings.partitions, level, level),
        )

    def graph(self, session: OpenSession, edges: Any, vertices: int) -> Any:
        """Return the graph, with its vertices and routing tables set up."""
        edges.vertices().count()
        return edges

    def compute(self, result: Any) -> None:
        """Compute the vertices."""
        result.vertices().count()

    def given(self, java: Any) -> list[Any]:
        """Return the arguments after the graph."""
        return [value for value in self.parameters.values() if value is not None]

    def call(self, java: Any, graph: Any) -> Any:
        """Run the method ``run`` of the object."""
        name = type(self).__name__.removeprefix("GraphX")
        program = getattr(java.org.apache.spark.graphx.lib, name)
        # The class tag for vertices and edges, which GraphX does not check.
        tag = getattr(getattr(java.scala.reflect, "ClassTag$"), "MODULE$").Int()
        return program.run(graph, *self.given(java), *[tag] * self.tags)


class GraphXPageRank(GraphXAlgorithm):
    """PageRank by rounds (``PageRank.run``) or until no rank changes more than `tol`.

    Ranks are not divided by the number of vertices. With `tol`, only vertices whose rank increased
    by more than `tol` send the change (``PageRank.runUntilConvergence``).
    """

    name = "graphx:pageRank"
    summary = "ranks of vertices by GraphX"
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("tol", float, None, "stop when no rank changes more", 0.0),
        Parameter("numIter", int, None, "iterations, instead of tol", 1),
        Parameter("resetProb", float, 0.15, "probability of a restart", 0.0, 1.0),
    )
    sampled_by = _replay("pagerank")

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.parameters = one_of(self.parameters, "tol", "numIter", 0.001)

    def call(self, java: Any, graph: Any) -> Any:
        """Run the graph's method for all vertices, or from one, whose id it takes as a number.

        py4j cannot pass a ``Long`` inside an ``Option``, as ``PageRank`` takes it.
        """
        given, at, ops = self.parameters, self.at, graph.ops()
        reset = float(str(given["resetProb"]))
        if given["numIter"] is not None:
            run = ops.staticPersonalizedPageRank if at else ops.staticPageRank
            return run(*at, int(given["numIter"]), reset)
        run = ops.personalizedPageRank if at else ops.pageRank
        return run(*at, float(str(given["tol"])), reset)


class GraphXPersonalizedPageRank(NamedVertices, GraphXPageRank):
    """Personalized PageRank with restarts at one vertex, by rounds or until no rank changes by
    `tol`.

    With `tol`, only vertices reached from the source send; by rounds, every edge does.
    """

    name = "graphx:personalizedPageRank"
    summary = "personalized ranks from one vertex by GraphX"
    declared = (naming_parameter("srcId", several=False), *GraphXPageRank.declared)
    named_by, several = "srcId", False


class GraphXConnectedComponents(GraphXAlgorithm):
    """The smallest id of the component of each vertex, ignoring edge directions."""

    name = "graphx:connectedComponents"
    summary = "connected components by GraphX"
    declared = (Parameter("maxIterations", int, None, "iterations, at most", 1),)
    sampled_by = _replay("components")


class GraphXLabelPropagation(GraphXAlgorithm):
    """The most frequent label of the neighbours, `maxSteps` times, ignoring edge directions.

    Messages are maps of labels, and each combination visits all their entries: the square of the
    degree at a hub whose neighbours all have different labels.
    """

    name = "graphx:labelPropagation"
    summary = "communities by label propagation of GraphX"
    declared = (Parameter("maxSteps", int, 5, "iterations", 1),)
    sampled_by = _replay("labels")
    tags = 1


class GraphXShortestPaths(NamedVertices, GraphXAlgorithm):
    """Hops from each vertex to each landmark, along edge directions."""

    name = "graphx:shortestPaths"
    summary = "hops to landmarks by GraphX"
    named_by, spread_by = "landmarks", "in_degrees"
    declared = (naming_parameter("landmarks", "in-edges", several=True),)
    sampled_by = _replay("paths")
    tags = 1

    def given(self, java: Any) -> list[Any]:
        """Return the numbers of the landmarks."""
        return [java.org.apache.spark.api.python.PythonUtils.toSeq([*self.at])]


class GraphXStronglyConnectedComponents(GraphXAlgorithm):
    """The smallest id of the strong component of each vertex, for those found in `numIter` rounds.

    A round removes vertices without in-edges or out-edges until there are none. Then the smallest
    ids spread along edges, and are confirmed against edge direction. Each count of degrees, in and
    out, is a superstep, and so is each round of either message loop. The last round only removes
    vertices.
    """

    name = "graphx:stronglyConnectedComponents"
    summary = "strongly connected components by GraphX"
    declared = (Parameter("numIter", int, 10, "iterations, at most", 1),)
    sampled_by = _replay("strong")
