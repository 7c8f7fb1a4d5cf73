"""Calls of GraphX algorithms through pyspark's JVM."""

from __future__ import annotations

from typing import Any

from predict_graph.builtin.graphx.definition import (
    GraphXConnectedComponents,
    GraphXLabelPropagation,
    GraphXPageRank,
    GraphXPersonalizedPageRank,
    GraphXShortestPaths,
    GraphXStronglyConnectedComponents,
    GraphXTriangleCount,
)


def pagerank(algorithm: GraphXPageRank, java: Any, graph: Any) -> Any:
    """Run ``PageRank.run`` or ``runUntilConvergence``."""
    given, tag = algorithm.parameters, _tag(java)
    program, reset = java.org.apache.spark.graphx.lib.PageRank, float(str(given["resetProb"]))
    if given["numIter"] is not None:
        return program.run(graph, int(given["numIter"]), reset, tag, tag)
    return program.runUntilConvergence(graph, float(str(given["tol"])), reset, tag, tag)


def personalized(algorithm: GraphXPersonalizedPageRank, java: Any, graph: Any) -> Any:
    """Run ``PageRank.runWithOptions`` or ``runUntilConvergenceWithOptions``.

    It uses the graph's methods, which take the id as a number: py4j cannot pass a ``Long`` inside
    an ``Option``.
    """
    given, (source,) = algorithm.parameters, algorithm.at
    reset = float(str(given["resetProb"]))
    if given["numIter"] is not None:
        rounds = int(given["numIter"])
        return graph.ops().staticPersonalizedPageRank(source, rounds, reset)
    return graph.ops().personalizedPageRank(source, float(str(given["tol"])), reset)


def components(algorithm: GraphXConnectedComponents, java: Any, graph: Any) -> Any:
    """Run ``ConnectedComponents.run``."""
    program, tag = java.org.apache.spark.graphx.lib.ConnectedComponents, _tag(java)
    most = algorithm.parameters["maxIterations"]
    return program.run(graph, tag, tag) if most is None else program.run(graph, int(most), tag, tag)


def labels(algorithm: GraphXLabelPropagation, java: Any, graph: Any) -> Any:
    """Run ``LabelPropagation.run``."""
    steps = int(algorithm.parameters["maxSteps"])  # type: ignore[arg-type]
    return java.org.apache.spark.graphx.lib.LabelPropagation.run(graph, steps, _tag(java))


def paths(algorithm: GraphXShortestPaths, java: Any, graph: Any) -> Any:
    """Run ``ShortestPaths.run``."""
    listed = java.java.util.ArrayList()
    for each in algorithm.at:
        listed.add(each)
    landmarks = java.org.apache.spark.api.python.PythonUtils.toSeq(listed)
    return java.org.apache.spark.graphx.lib.ShortestPaths.run(graph, landmarks, _tag(java))


def strong(algorithm: GraphXStronglyConnectedComponents, java: Any, graph: Any) -> Any:
    """Run ``StronglyConnectedComponents.run``."""
    rounds, tag = int(algorithm.parameters["numIter"]), _tag(java)  # type: ignore[arg-type]
    return java.org.apache.spark.graphx.lib.StronglyConnectedComponents.run(graph, rounds, tag, tag)


def triangles(algorithm: GraphXTriangleCount, java: Any, graph: Any) -> Any:
    """Run ``TriangleCount.run``."""
    tag = _tag(java)
    return java.org.apache.spark.graphx.lib.TriangleCount.run(graph, tag, tag)


def _tag(java: Any) -> Any:
    """Return the class tag for vertices and edges, which GraphX does not check."""
    return getattr(getattr(java.scala.reflect, "ClassTag$"), "MODULE$").Int()
