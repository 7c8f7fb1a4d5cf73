"""How faithful a sample is: the properties of its induced subgraph beside those of the graph.

These properties are those of a graph that a sample of it should keep.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from samplers.csr import CSRArrays, IntArray, check_csr, induced_csr, owned
from samplers.search import breadth_first
from samplers.splitmix import RandomState, new_state


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
        `hop_sources` vertices; empty if none of them reaches another vertex.
    hop_sources : int
        Random vertices from which the hop plot was measured.
    effective_diameter : float
        Distance within which 90% of the connected pairs are, interpolated; NaN where
        the hop plot is empty.
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
    bytes a vertex and about 20 bytes an edge, 37 of a directed graph.

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
    generator = np.random.default_rng(int(new_state(random_state)[0]))
    graph = check_csr(csr)
    n = graph.vertices
    out_degrees = np.diff(graph.indptr).astype(np.int64, copy=False)
    in_degrees = np.bincount(graph.indices, minlength=n) if graph.directed else out_degrees
    links = _links(graph)
    degrees = np.diff(links.indptr)
    sources = _hop_sources(n, n + links.nnz, generator)
    hop_plot = _hop_plot(links, sources)
    # Each pair counts at both ends: 2 × edges between two vertices = links + mutual ones.
    mutual = np.count_nonzero(links.data == 2) if graph.directed else links.nnz
    _, components = connected_components(links, directed=False)
    return GraphProperties(
        vertices=n,
        edges=graph.edges,
        in_degrees=in_degrees,
        out_degrees=out_degrees,
        hop_plot=hop_plot,
        hop_sources=len(sources),
        effective_diameter=_effective_diameter(hop_plot),
        clustering=_closed_wedges(links, degrees, generator),
        largest_component=int(np.bincount(components).max()) / n,
        pendant=float(np.count_nonzero(degrees == 1) / n),
        dangling=float(np.count_nonzero(out_degrees == 0) / n),
        reciprocity=2 * mutual / (links.nnz + mutual) if links.nnz else np.nan,
    )


def _links(graph: CSRArrays) -> sparse.csr_array:
    """Return the neighbours of each vertex but itself; 2 where both directions have an edge."""
    rows = np.repeat(np.arange(graph.vertices), np.diff(graph.indptr))
    kept = rows != graph.indices
    ends = rows[kept].astype(graph.indices.dtype), graph.indices[kept]
    links = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=graph.shape).tocsr()
    links.data[:] = 1
    return (links + links.T.tocsr()).tocsr() if graph.directed else links


_WEDGES = 20_000  # limits the standard error to 0.0036


def _closed_wedges(
    links: sparse.csr_array, degrees: IntArray, generator: np.random.Generator
) -> float:
    """Return the share of random vertices with an edge between two random neighbours.

    A vertex of fewer than two neighbours counts as open.
    """
    centres = generator.integers(len(degrees), size=_WEDGES)
    centres = centres[degrees[centres] > 1]
    if not len(centres):
        return 0.0
    first = generator.integers(degrees[centres])
    second = generator.integers(degrees[centres] - 1)
    second += second >= first
    ends = [links.indices[links.indptr[centres] + place] for place in (first, second)]
    return int(np.count_nonzero(sparse.csr_matrix(links)[ends[0], ends[1]])) / _WEDGES


# Bounds on the time of searches: the most and the fewest of them, and the edges that they read
# (precision: docs/samplers.md).
_MOST, _FEWEST, _READS = 64, 4, 500_000_000


def _hop_sources(n: int, reads: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return vertices to search from, where a search reads so many edges."""
    count = min(_MOST, max(_FEWEST, _READS // reads))
    return np.arange(n) if n <= count else generator.integers(n, size=count)


def _hop_plot(links: sparse.csr_array, sources: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the fraction of pairs of a source and a vertex it reaches at up to 1, 2, … edges."""
    rows = (links.indptr.astype(np.int64, copy=False), links.indices)
    pairs = np.zeros(1, np.int64)
    for source in sources:
        distance, _ = breadth_first(rows, rows, source, source + 1, True)
        counts = np.bincount(distance[distance > 0], minlength=len(pairs))
        counts[: len(pairs)] += pairs
        pairs = counts
    return np.asarray(np.cumsum(pairs[1:]) / pairs.sum())


def _effective_diameter(hop_plot: npt.NDArray[np.float64], reached: float = 0.9) -> float:
    if len(hop_plot) == 0:
        return float("nan")
    cumulated = np.concatenate([[0.0], hop_plot])
    return float(np.interp(reached, cumulated, np.arange(len(cumulated))))


PROPERTIES = {
    "density": "edges per vertex",
    "effective_diameter": "effective diameter",
    "clustering": "clustering coefficient",
    "largest_component": "largest component",
    "pendant": "pendant vertices",
    "dangling": "dangling vertices",
    "reciprocity": "reciprocity",
}


@dataclass(frozen=True, eq=False)
class FidelityReport:
    """A sample compared with its graph.

    Parameters
    ----------
    graph, sample : GraphProperties
        Properties of the graph and of the subgraph that the sample induces.
    in_degree_d, out_degree_d : float
        Kolmogorov–Smirnov D-statistics of the degree distributions, in [0, 1]; 0 is alike
        (Leskovec and Faloutsos, KDD 2006, table 1).
    hop_plot_d : float
        D-statistic of the distributions of distances; NaN when that of a graph is empty.
    density_ratio : float
        Edges per vertex of the sample over those of the graph; NaN for a graph without edges.
    seconds : float
        Time that the report took.
    """

    graph: GraphProperties
    sample: GraphProperties
    in_degree_d: float
    out_degree_d: float
    hop_plot_d: float
    density_ratio: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain numbers, text and None (for what is not defined)."""
        pairs = ("vertices", "edges", *PROPERTIES, "hop_sources")
        return {
            "d_statistics": {
                "in_degree": self.in_degree_d,
                "out_degree": self.out_degree_d,
                "hop_plot": _or_none(self.hop_plot_d),
            },
            "density_ratio": _or_none(self.density_ratio),
            **{
                name: {
                    "graph": _or_none(getattr(self.graph, name)),
                    "sample": _or_none(getattr(self.sample, name)),
                }
                for name in pairs
            },
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        titles = {"vertices": "vertices", "edges": "edges", **PROPERTIES}
        distances = {
            "D in-degree": self.in_degree_d,
            "D out-degree": self.out_degree_d,
            "D hop plot": self.hop_plot_d,
            "density ratio": self.density_ratio,
        }
        lines = [f"{'':<24}{'graph':>12}{'sample':>12}"]
        for name, title in titles.items():
            form = "d" if name in ("vertices", "edges") else ".3g"
            whole, part = getattr(self.graph, name), getattr(self.sample, name)
            lines.append(f"{title:<24}{whole:>12{form}}{part:>12{form}}")
        return "\n".join([*lines, *(f"{name:<24}{d:>24.3f}" for name, d in distances.items())])


def fidelity_report(
    csr: Any,
    vertices: npt.ArrayLike,
    random_state: RandomState = None,
    properties: GraphProperties | None = None,
) -> FidelityReport:
    """Compare the subgraph that `vertices` induce with the whole graph.

    The cost is that of :func:`graph_properties` on both; see there for its bounds.

    Parameters
    ----------
    csr : graph-like
        The whole graph: anything that :func:`samplers.check_csr` accepts.
    vertices : array_like of int, shape (k,)
        Distinct vertices, such as ``sample.vertices``; at least one.
    random_state : int, numpy.random.Generator or None
        For the estimated properties.
    properties : GraphProperties, optional
        Those of the whole graph, when they are known from an earlier report.

    Raises
    ------
    ValueError
        If the graph is wrong, or if `vertices` are empty, not distinct or not in the graph.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.karate_club_graph()
    >>> report = fidelity_report(graph, range(34), random_state=0)
    >>> report.in_degree_d, report.hop_plot_d, report.density_ratio
    (0.0, 0.0, 1.0)
    """
    start = time.perf_counter()
    generator = np.random.default_rng(random_state)
    graph = check_csr(csr)
    chosen = np.asarray(vertices)
    if chosen.size == 0:
        raise ValueError("there are no vertices to report on; at least one is needed")
    indptr, indices, _ = induced_csr(graph.indptr, graph.indices, chosen)
    whole = properties if properties is not None else graph_properties(graph, generator)
    part = graph_properties(owned(indptr, indices, directed=graph.directed), generator)
    return FidelityReport(
        graph=whole,
        sample=part,
        in_degree_d=degree_distance(whole.in_degrees, part.in_degrees),
        out_degree_d=degree_distance(whole.out_degrees, part.out_degrees),
        hop_plot_d=_largest_gap(whole.hop_plot, part.hop_plot),
        density_ratio=part.density / whole.density if whole.edges else float("nan"),
        seconds=time.perf_counter() - start,
    )


def degree_distance(first: IntArray, second: IntArray) -> float:
    """Return the Kolmogorov–Smirnov D-statistic of two samples of non-negative integers.

    The largest distance between the two cumulative distributions, in [0, 1].

    Examples
    --------
    >>> degree_distance(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    0.25
    """
    return _largest_gap(*(np.cumsum(np.bincount(each)) / len(each) for each in (first, second)))


def _largest_gap(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Return the largest distance of two cumulative distributions; NaN if one is empty."""
    if len(one) == 0 or len(other) == 0:
        return math.nan
    size = max(len(one), len(other))
    one, other = (np.pad(each, (0, size - len(each)), constant_values=1.0) for each in (one, other))
    return float(np.abs(one - other).max())


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
