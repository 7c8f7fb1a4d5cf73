"""PageRank, connected components, label propagation and shortest paths, as GraphX has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from predict_graph.algorithms import Parameter
from predict_graph.engines.spark.graphx.algorithm import GraphXAlgorithm
from predict_graph.errors import RequestError
from predict_graph.plugins import Registry

__all__ = [
    "GRAPHX",
    "GraphXConnectedComponents",
    "GraphXLabelPropagation",
    "GraphXPageRank",
    "GraphXShortestPaths",
    "graphx_algorithm",
]

_HERE = "predict_graph.builtin.graphx.definition"
_CALLS, _TWINS = "predict_graph.builtin.graphx.calls", "predict_graph.builtin.graphx.twins"

GRAPHX: Registry[type[GraphXAlgorithm]] = Registry(
    "algorithm of GraphX",
    "predict_graph.graphx",
    {
        "pageRank": f"{_HERE}:GraphXPageRank",
        "connectedComponents": f"{_HERE}:GraphXConnectedComponents",
        "labelPropagation": f"{_HERE}:GraphXLabelPropagation",
        "shortestPaths": f"{_HERE}:GraphXShortestPaths",
    },
)
"""A line each: the name that GraphX has, and its class."""


def graphx_algorithm(name: str, parameters: Mapping[str, object] | None = None) -> GraphXAlgorithm:
    """Return the algorithm that ``graphx:NAME`` names.

    Raises
    ------
    RequestError
        If there is none, or a parameter is not accepted.

    Examples
    --------
    >>> graphx_algorithm("graphx:pageRank", {"tol": "0.01"})
    GraphXPageRank(tol=0.01, resetProb=0.15)
    """
    return GRAPHX.get(name.removeprefix("graphx:"))(**dict(parameters or {}))


class GraphXPageRank(GraphXAlgorithm):
    """PageRank, by rounds (``PageRank.run``) or until no rank changes more than `tol`.

    Ranks are not divided by the number of vertices. With `tol`, only vertices whose rank rose by
    more send, and only to where the change goes (``PageRank.runUntilConvergence``).

    Parameters
    ----------
    tol : float, optional
        0.001 if `numIter` is not given either.
    numIter : int, optional
    resetProb : float
    """

    name = "graphx:pageRank"
    summary = "ranks of vertices by GraphX"
    declared = (
        Parameter("tol", float, None, "stop when no rank changes more", 0.0),
        Parameter("numIter", int, None, "rounds, instead of tol", 1, low_included=True),
        Parameter("resetProb", float, 0.15, "share that starts anew", 0.0, 1.0),
    )
    aggregations_before = 1
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:pagerank"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:pagerank"})

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        tol, rounds = self.parameters["tol"], self.parameters["numIter"]
        if tol is not None and rounds is not None:
            raise RequestError(
                f"tol is {tol} and numIter is {rounds}; accepted: one of them, as GraphX has it"
            )
        if tol is None and rounds is None:
            self.parameters = {**self.parameters, "tol": 0.001}


class GraphXConnectedComponents(GraphXAlgorithm):
    """The smallest id of the component of each vertex, whatever the direction of edges.

    Parameters
    ----------
    maxIterations : int, optional
    """

    name = "graphx:connectedComponents"
    summary = "connected components by GraphX"
    declared = (Parameter("maxIterations", int, None, "rounds, at most", 1, low_included=True),)
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:components"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:components"})


class GraphXLabelPropagation(GraphXAlgorithm):
    """The label that most neighbours have, `maxSteps` times over, whatever the direction of edges.

    Messages are maps of labels, and combining them goes over all their entries each time: at a hub
    whose neighbours all have different labels, the square of its degree.

    Parameters
    ----------
    maxSteps : int
    """

    name = "graphx:labelPropagation"
    summary = "communities by label propagation of GraphX"
    declared = (Parameter("maxSteps", int, 5, "rounds", 1, low_included=True),)
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:labels"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:labels"})


class GraphXShortestPaths(GraphXAlgorithm):
    """Hops from each vertex to each of some landmarks, along the direction of edges.

    Parameters
    ----------
    landmarks : str
        Ids with commas between them.
    """

    name = "graphx:shortestPaths"
    summary = "hops to landmarks by GraphX"
    declared = (Parameter("landmarks", str, "0", "ids of vertices, with commas between them"),)
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:paths"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:paths"})

    def __init__(self, *, landmarks: object = "0") -> None:
        several = landmarks if isinstance(landmarks, list | tuple) else [landmarks]
        text = ",".join(str(each) for each in several)
        if not all(each.strip().isdecimal() for each in text.split(",")):
            raise RequestError(
                f"landmarks are {text!r}; accepted: ids of vertices, with commas between them"
            )
        super().__init__(landmarks=text)

    @property
    def landmarks(self) -> list[int]:
        """The ids, each once."""
        return list(
            dict.fromkeys(int(each) for each in str(self.parameters["landmarks"]).split(","))
        )
