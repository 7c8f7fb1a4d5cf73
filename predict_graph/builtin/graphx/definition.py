"""What each algorithm of GraphX is called, what it takes, and where its call and its twin are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from predict_graph.algorithms import Parameter
from predict_graph.algorithms.parameters import Value
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, NamedLibraryAlgorithm
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
    "OneVertex",
    "tol_or_rounds",
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
        self.parameters = tol_or_rounds(self.parameters, "numIter", self.library)


def tol_or_rounds(given: Mapping[str, Value], rounds: str, library: str) -> dict[str, Value]:
    """Return parameters with a `tol` unless there is a number of rounds.

    Raises
    ------
    RequestError
        If both are given.
    """
    tol, number = given["tol"], given[rounds]
    if tol is not None and number is not None:
        raise RequestError(
            f"tol is {tol} and {rounds} is {number}; accepted: one of them, as {library} has it"
        )
    return {**given, "tol": 0.001} if tol is None and number is None else dict(given)


class OneVertex(NamedLibraryAlgorithm):
    """An algorithm with a parameter that names one vertex."""

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        if len(self.ids) > 1:
            text = self.parameters[self.named_by]
            raise RequestError(f"{self.named_by} is {text!r}; accepted: the id of one vertex")


class GraphXPersonalizedPageRank(OneVertex, GraphXPageRank):
    """PageRank of those who start anew at one vertex, by rounds or until no rank changes by `tol`.

    Until it converges, only what is reached from there sends; by rounds, every edge does.

    Parameters
    ----------
    srcId : id, optional
        The vertex; by default the one with most out-edges.
    tol : float, optional
        0.001 if `numIter` is not given either.
    numIter : int, optional
    resetProb : float
    """

    name = "graphx:personalizedPageRank"
    summary = "ranks as seen from one vertex by GraphX"
    declared = (
        Parameter("srcId", str, None, "id of a vertex; by default the one with most out-edges"),
        *GraphXPageRank.declared,
    )
    named_by = "srcId"
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:personalized"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:personalized"})


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


class GraphXShortestPaths(NamedLibraryAlgorithm, GraphXAlgorithm):
    """Hops from each vertex to each of some landmarks, along the direction of edges.

    Parameters
    ----------
    landmarks : str or sequence of ids, optional
        Ids with commas between them; by default the vertex with most in-edges.
    """

    name = "graphx:shortestPaths"
    summary = "hops to landmarks by GraphX"
    named_by, spread_by = "landmarks", "in_degrees"
    declared = (
        Parameter(
            "landmarks",
            str,
            None,
            "ids of vertices, with commas between them; by default the one with most in-edges",
        ),
    )
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({"spark": f"{_CALLS}:paths"})
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"twin": f"{_TWINS}:paths"})


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
