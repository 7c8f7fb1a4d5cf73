"""How degrees are distributed, coarsely: enough to draw a sample beside its graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Graph

__all__ = ["binned_degrees", "degree_bins"]


def degree_bins(graph: Graph) -> tuple[float, ...]:
    """Return how many vertices have degree 0, 1, 2 to 3, 4 to 7, …; in and out are added up.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> degree_bins(check_graph("grid:rows=3,columns=3"))
    (0.0, 0.0, 8.0, 1.0)
    """
    return binned_degrees(graph.out_degrees + (graph.in_degrees if graph.directed else 0))


def binned_degrees(
    degrees: npt.NDArray[np.integer], weights: npt.NDArray[np.float64] | None = None
) -> tuple[float, ...]:
    """Return the same of degrees, each for so many vertices as its weight says."""
    places = np.frexp(degrees.astype(np.float64))[1]  # 0 of 0, 1 of 1, 2 of 2 and 3
    return tuple(np.bincount(places, weights=weights).astype(np.float64).tolist())
