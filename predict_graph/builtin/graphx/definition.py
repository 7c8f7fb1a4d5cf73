"""What each algorithm of GraphX is called, what it takes, and where its call and its twin are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from predict_graph.algorithms import Parameter
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.errors import RequestError
from predict_graph.plugins import Registry

__all__ = [
    "GRAPHX",
    "GraphXAlgorithm",
    "GraphXConnectedComponents",
    "GraphXLabelPropagation",
    "GraphXPageRank",
    "GraphXPersonalizedPageRank",
    "GraphXShortestPaths",
    "GraphXStronglyConnectedComponents",
    "GraphXTriangleCount",
    "with_landmarks",
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
        "personalizedPageRank": f"{_HERE}:GraphXPersonalizedPageRank",
        "stronglyConnectedComponents": f"{_HERE}:GraphXStronglyConnectedComponents",
        "triangleCount": f"{_HERE}:GraphXTriangleCount",
    },
)
"""A line each: the name that GraphX has, and its class."""


class GraphXAlgorithm(LibraryAlgorithm):
    """An algorithm of GraphX."""

    library = "GraphX"


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
    declared: ClassVar[tuple[Parameter, ...]] = (
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


class GraphXPersonalizedPageRank(GraphXPageRank):
    """PageRank of those who start anew at one vertex, by rounds or until no rank changes by `tol`.

    Until it converges, only what is reached from there sends; by rounds, every edge does.

    Parameters
    ----------
    srcId : int
        The vertex.
    tol : float, optional
        0.001 if `numIter` is not given either.
    numIter : int, optional
    resetProb : float
    """

    name = "graphx:personalizedPageRank"
    summary = "ranks as seen from one vertex by GraphX"
    declared = (
        Parameter("srcId", int, 0, "id of the vertex to start at", 0, low_included=True),
        *GraphXPageRank.declared,
    )
    alike = "graphx:pageRank"
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:personalized"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:personalized"})

    @property
    def source(self) -> int:
        """The vertex to start at."""
        return int(self.parameters["srcId"])  # type: ignore[arg-type]


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

    def __init__(self, **parameters: object) -> None:
        super().__init__(**with_landmarks(parameters))

    @property
    def landmarks(self) -> list[int]:
        """The ids, each once."""
        return list(
            dict.fromkeys(int(each) for each in str(self.parameters["landmarks"]).split(","))
        )


def with_landmarks(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return parameters with the landmarks, if they are given, as a text of ids.

    Raises
    ------
    RequestError
        If they are something else.

    Examples
    --------
    >>> with_landmarks({"landmarks": [3, 17]})
    {'landmarks': '3,17'}
    """
    given = dict(parameters)
    if "landmarks" in given:
        several = given["landmarks"]
        listed = several if isinstance(several, list | tuple) else [several]
        text = given["landmarks"] = ",".join(str(each) for each in listed)
        if not all(each.strip().isdecimal() for each in text.split(",")):
            raise RequestError(
                f"landmarks are {text!r}; accepted: ids of vertices, with commas between them"
            )
    return given


class GraphXStronglyConnectedComponents(GraphXAlgorithm):
    """The smallest id of the strong component of each vertex; of those found in `numIter` rounds.

    A round takes away vertices without in-edges or out-edges until there are none, and then lets
    the smallest ids spread along edges, and be confirmed against them. All of these are supersteps:
    each count of the degrees, in and out, is one, and so is each round of either loop of messages.
    The last round only takes away.

    Parameters
    ----------
    numIter : int
    """

    name = "graphx:stronglyConnectedComponents"
    summary = "strongly connected components by GraphX"
    declared = (Parameter("numIter", int, 10, "rounds, at most", 1, low_included=True),)
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:strong"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"twin": "predict_graph.builtin.graphx.strong_twin:strong"}
    )


class GraphXTriangleCount(GraphXAlgorithm):
    """The number of triangles through each vertex, whatever the direction of edges.

    Three supersteps: edges are dealt anew, each pair of vertices once; vertices collect the ids of
    their neighbours; and these sets go along to the edges, which compare them at both ends.
    Each id that is put to a list of them has the list copied: d²/2 ids at a vertex of degree d.
    """

    name = "graphx:triangleCount"
    summary = "triangles through vertices by GraphX"
    declared = ()
    told_by = "stages"
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:triangles"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"twin": "predict_graph.builtin.graphx.triangles_twin:triangles"}
    )
