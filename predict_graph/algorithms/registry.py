"""Registered algorithms."""

from __future__ import annotations

from collections.abc import Mapping

from predict_graph.algorithms.base import Algorithm
from predict_graph.errors import RequestError
from predict_graph.plugins import Registry, loaded

_FOLDER = "predict_graph.builtin"

BUILT_IN = {
    "pagerank": f"{_FOLDER}.pagerank.definition:PageRank",
    "semi-clustering": f"{_FOLDER}.semi_clustering.definition:SemiClustering",
    "topk-ranking": f"{_FOLDER}.topk_ranking.definition:TopKRanking",
    "connected-components": f"{_FOLDER}.connected_components.definition:ConnectedComponents",
    "label-propagation": f"{_FOLDER}.label_propagation.definition:LabelPropagation",
    "neighborhood": f"{_FOLDER}.neighborhood.definition:Neighborhood",
    "shortest-paths": f"{_FOLDER}.shortest_paths.definition:ShortestPaths",
    "k-core": f"{_FOLDER}.k_core.definition:KCore",
    "triangle-count": f"{_FOLDER}.triangle_count.definition:TriangleCount",
    "personalised-pagerank": f"{_FOLDER}.personalised_pagerank.definition:PersonalisedPageRank",
}
"""Names, and the class in the folder of each."""

SPARK_LIBRARIES = {
    "graphx": f"{_FOLDER}.graphx.definition:GRAPHX",
    "graphframes": f"{_FOLDER}.graphframes.definition:GRAPHFRAMES",
}
"""Prefixes of the names of library algorithms on Spark, as in ``graphx:pageRank``; registries."""

ALGORITHMS: Registry[type[Algorithm]] = Registry("algorithm", "predict_graph.algorithms", BUILT_IN)


def check_algorithm(
    value: str | Algorithm | type[Algorithm], parameters: Mapping[str, object] | None = None
) -> Algorithm:
    """Return an algorithm from its name, or class, and parameters; or the given algorithm.

    Raises
    ------
    RequestError
        If the name is unknown, or parameters are given with an algorithm that has its own.

    Examples
    --------
    >>> check_algorithm("pagerank", {"epsilon": "0.01"}).threshold(100)
    0.0001
    >>> check_algorithm("graphx:pageRank", {"tol": "0.01"})
    GraphXPageRank(tol=0.01, resetProb=0.15)
    >>> check_algorithm("graphframes:labelPropagation", {"maxIter": 3})
    GraphFramesLabelPropagation(maxIter=3)
    """
    if isinstance(value, Algorithm):
        if parameters:
            raise RequestError("parameters are given for an algorithm that has its own")
        return value
    given = dict(parameters or {})
    if isinstance(value, type) and issubclass(value, Algorithm):
        return value(**given)
    if not isinstance(value, str):
        raise RequestError(
            f"algorithm is {value!r}; accepted: an Algorithm, or one of "
            f"{', '.join(ALGORITHMS.names())}"
        )
    library, _, own = value.partition(":")
    if library in SPARK_LIBRARIES:
        return loaded(SPARK_LIBRARIES[library]).get(own)(**given)  # type: ignore[no-any-return]
    return ALGORITHMS.get(value)(**given)
