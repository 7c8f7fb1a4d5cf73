"""Calls of GraphFrames algorithms through its Java classes, like its Python half."""

from __future__ import annotations

from typing import Any

from predict_graph.builtin.graphframes.definition import (
    GraphFramesConnectedComponents,
    GraphFramesLabelPropagation,
    GraphFramesPageRank,
    GraphFramesShortestPaths,
    GraphFramesStronglyConnectedComponents,
)


def pagerank(algorithm: GraphFramesPageRank, java: Any, graph: Any) -> Any:
    """Run ``pageRank``."""
    given = algorithm.parameters
    program = graph.pageRank()
    for name, value in {**given, "sourceId": next(iter(algorithm.at), None)}.items():
        if value is not None:
            program = getattr(program, name)(value)
    return program.run().vertices()


def components(algorithm: GraphFramesConnectedComponents, java: Any, graph: Any) -> Any:
    """Run ``connectedComponents``."""
    given = algorithm.parameters
    program = graph.connectedComponents().setAlgorithm(given["algorithm"])
    program = program.setCheckpointInterval(given["checkpointInterval"])
    return program.setBroadcastThreshold(given["broadcastThreshold"]).run()


def labels(algorithm: GraphFramesLabelPropagation, java: Any, graph: Any) -> Any:
    """Run ``labelPropagation``."""
    return graph.labelPropagation().maxIter(algorithm.parameters["maxIter"]).run()


def paths(algorithm: GraphFramesShortestPaths, java: Any, graph: Any) -> Any:
    """Run ``shortestPaths``."""
    listed = java.java.util.ArrayList()
    for each in algorithm.at:
        listed.add(each)
    return graph.shortestPaths().landmarks(listed).run()


def strong(algorithm: GraphFramesStronglyConnectedComponents, java: Any, graph: Any) -> Any:
    """Run ``stronglyConnectedComponents``."""
    return graph.stronglyConnectedComponents().maxIter(algorithm.parameters["maxIter"]).run()
