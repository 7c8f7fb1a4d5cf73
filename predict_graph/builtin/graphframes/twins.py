"""What algorithms of GraphFrames do in each superstep: what GraphX does, or stars over tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from predict_graph.builtin.graphframes.definition import (
    GraphFramesAlgorithm,
    GraphFramesConnectedComponents,
)
from predict_graph.builtin.graphframes.stars_twin import stars
from predict_graph.engines.spark.library.layout import EdgeLayout

__all__ = ["by_graphx", "components"]


def by_graphx(algorithm: GraphFramesAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count what GraphX does; it is given all vertices, those without edges, too."""
    assert algorithm.graphx is not None
    return algorithm.graphx.twin(replace(layout, everyone=True))


def components(algorithm: GraphFramesConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ConnectedComponents``."""
    return stars(algorithm, layout) if algorithm.graphx is None else by_graphx(algorithm, layout)
