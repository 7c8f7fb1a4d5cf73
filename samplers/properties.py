"""The properties of one graph that a sample of it should keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samplers._measures import (
    ascending_rows,
    closed_wedges,
    hop_counts,
    largest_component,
    neighbourhood_counts,
)
from samplers._random import RandomState, below, new_state
from samplers.csr import CSRArrays, check_csr, owned, reverse_csr

# Bounds on the time; docs/samplers.md has the resulting precision.
HOP_SOURCES = 64
LEAST_HOP_SOURCES = 4
HOP_EDGE_BUDGET = 500_000_000
WEDGES = 20_000  # a standard error of the clustering of at most 0.0036
_REACHED_SHARE = 0.9  # by definition of the effective diameter


@dataclass(frozen=True, eq=False)
class GraphProperties:
    """Measured properties of a graph.

    Edges count in both directions for the hop plot, the diameter, the clustering, the component
    and the pendant vertices.

    Parameters
    ----------
    vertices, edges : int
        Numbers of vertices and of stored edges.
    in_degrees, out_degrees : ndarray of int64, shape (n,)
        Degrees.
    hop_plot : ndarray of float64, shape (h,)
        Share of the connected pairs that are within 1, 2, …, h edges of each other, estimated from
        `hop_sources` vertices; empty for a graph without edges.
    hop_sources : int
        Random vertices from which the hop plot was measured.
    effective_diameter : float
        Distance within which 90% of the connected pairs are, interpolated; NaN without edges.
    clustering : float
        Mean local clustering coefficient, vertices of degree 0 and 1 counting as 0; estimated from
        20,000 random wedges, with a standard error of at most 0.0036.
    largest_component : float
        Share of the vertices in the largest weakly connected component.
    pendant : float
        Share of the vertices with exactly one neighbour.
    dangling : float
        Share of the vertices without an out-edge.
    reciprocity : float
        Share of the edges whose opposite exists, self-loops left out; NaN without such edges.
    """

    vertices: int
    edges: int
    in_degrees: npt.NDArray[np.int64]
    out_degrees: npt.NDArray[np.int64]
    hop_plot: npt.NDArray[np.float64]
    hop_sources: int
    effective_diameter: float
    clustering: float
    largest_component: float
    pendant: float
    dangling: float
    reciprocity: float

    @property
    def density(self) -> float:
        """Edges per vertex."""
        return self.edges / self.vertices


def graph_properties(csr: Any, random_state: RandomState = None) -> GraphProperties:
    """Measure the properties of a graph.

    Time is a few passes over the edges and the hop plot, whose searches read at most 64 times the
    edges in both directions and at most about 5e8 edges (with 4 sources at the least). Memory is 32
    bytes a vertex, and the reverse of a directed graph when the graph has none.

    Parameters
    ----------
    csr : graph-like
        Anything that :func:`samplers.check_csr` accepts.
    random_state : int, numpy.random.Generator or None
        For the sources of the hop plot and the wedges of the clustering.

    Raises
    ------
    ValueError
        If the graph or `random_state` is wrong.

    Examples
    --------
    >>> import networkx as nx
    >>> triangle = graph_properties(nx.complete_graph(3), random_state=0)
    >>> triangle.clustering, triangle.largest_component, triangle.effective_diameter
    (1.0, 1.0, 0.9)
    """
    state = new_state(random_state)
    graph = check_csr(csr)
    reverse = _ascending(graph.reverse())
    graph = _ascending(graph)
    both = graph.directed
    arrays = (graph.indptr, graph.indices, reverse.indptr, reverse.indices, both)
    n = graph.vertices

    sources = _hop_sources(graph, state)
    pairs = hop_counts(*arrays, sources)[1:]
    hop_plot = np.cumsum(pairs) / pairs.sum() if len(pairs) else np.empty(0)

    out_degrees = np.diff(graph.indptr).astype(np.int64, copy=False)
    in_degrees = np.diff(reverse.indptr).astype(np.int64, copy=False)
    most = int((out_degrees + in_degrees).max()) if both else int(out_degrees.max())
    scratch = np.empty(most, dtype=graph.indices.dtype)
    pendant, neighbours, mutual = neighbourhood_counts(*arrays, scratch)
    # Each pair counts at both ends: 2 × edges between two vertices = neighbours + mutual.
    between = (neighbours + mutual) / 2
    if both:
        reciprocity = mutual / between if between else np.nan
    else:
        reciprocity = 1.0 if neighbours else np.nan
    return GraphProperties(
        vertices=n,
        edges=graph.edges,
        in_degrees=in_degrees,
        out_degrees=out_degrees,
        hop_plot=hop_plot,
        hop_sources=len(sources),
        effective_diameter=_effective_diameter(hop_plot),
        clustering=closed_wedges(*arrays, WEDGES, state, scratch) / WEDGES,
        largest_component=largest_component(graph.indptr, graph.indices) / n,
        pendant=pendant / n,
        dangling=int(np.count_nonzero(out_degrees == 0)) / n,
        reciprocity=float(reciprocity),
    )


def _ascending(graph: CSRArrays) -> CSRArrays:
    if ascending_rows(graph.indptr, graph.indices):
        return graph
    turned = reverse_csr(*reverse_csr(graph.indptr, graph.indices))
    return owned(*turned, directed=graph.directed)


def _hop_sources(graph: CSRArrays, state: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    reads = graph.vertices + graph.edges * (2 if graph.directed else 1)
    affordable = max(LEAST_HOP_SOURCES, HOP_EDGE_BUDGET // reads)
    count = min(HOP_SOURCES, affordable)
    if graph.vertices <= count:
        return np.arange(graph.vertices)
    return np.array([below(state, graph.vertices) for _ in range(count)], dtype=np.int64)


def _effective_diameter(hop_plot: npt.NDArray[np.float64]) -> float:
    if len(hop_plot) == 0:
        return float("nan")
    cumulated = np.concatenate([[0.0], hop_plot])
    hop = int(np.searchsorted(cumulated, _REACHED_SHARE))
    below_share, share = cumulated[hop - 1], cumulated[hop]
    return float(hop - 1 + (_REACHED_SHARE - below_share) / (share - below_share))
