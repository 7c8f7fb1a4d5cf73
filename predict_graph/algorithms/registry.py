"""Registered algorithms."""

from __future__ import annotations

from collections.abc import Mapping

from predict_graph.algorithms.base import Algorithm
from predict_graph.errors import RequestError
from predict_graph.plugins import Registry

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

SPARK_LIBRARIES = ("graphx", "graphframes")
"""Prefixes of the names of library algorithms on Spark: ``graphx:pageRank``."""

ALGORITHMS: Registry[type[Algorithm]] = Registry("algorithm", "predict_graph.algorithms", BUILT_IN)


def check_algorithm(
    value: str | Algorithm, parameters: Mapping[str, object] | None = None
) -> Algorithm:
    """Return an algorithm from its name and parameters, or the given algorithm.

    Raises
    ------
    RequestError
        If the name is unknown, or parameters are given with an algorithm that has its own.

    Examples
    --------
    >>> check_algorithm("pagerank", {"epsilon": "0.01"}).threshold(100)
    0.0001
    """
    if isinstance(value, Algorithm):
        if parameters:
            raise RequestError("parameters are given for an algorithm that has its own")
        return value
    if not isinstance(value, str):
        raise RequestError(
            f"algorithm is {value!r}; accepted: an Algorithm, or one of "
            f"{', '.join(ALGORITHMS.names())}"
        )
    return ALGORITHMS.get(value)(**dict(parameters or {}))
