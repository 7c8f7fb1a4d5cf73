"""Algorithms of libraries on Spark, by names such as ``graphx:pageRank``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from predict_graph.builtin.graphframes.definition import GRAPHFRAMES
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.plugins import Registry

LIBRARIES: Mapping[str, Registry[type[LibraryAlgorithm]]] = MappingProxyType(
    {"graphx": GRAPHX, "graphframes": GRAPHFRAMES}  # type: ignore[dict-item]
)
"""Prefixes of names, and the algorithms of each library."""


def library_algorithm(
    name: str, parameters: Mapping[str, object] | None = None
) -> LibraryAlgorithm:
    """Return the algorithm that ``LIBRARY:NAME`` names.

    Examples
    --------
    >>> library_algorithm("graphx:pageRank", {"tol": "0.01"})
    GraphXPageRank(tol=0.01, resetProb=0.15)
    >>> library_algorithm("graphframes:labelPropagation", {"maxIter": 3})
    GraphFramesLabelPropagation(maxIter=3)
    """
    library, _, own = name.partition(":")
    return LIBRARIES[library].get(own)(**dict(parameters or {}))
