"""How faithful a sample is: the properties of its induced subgraph beside those of the graph."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samplers.csr import IntArray, check_csr, owned
from samplers.induced import induced_csr
from samplers.properties import GraphProperties, graph_properties
from samplers.splitmix import RandomState

_PROPERTIES = {
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
        pairs = ("vertices", "edges", *_PROPERTIES, "hop_sources")
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
        titles = {"vertices": "vertices", "edges": "edges", **_PROPERTIES}
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
        hop_plot_d=_hop_distance(whole.hop_plot, part.hop_plot),
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
    if len(first) == 0 or len(second) == 0:
        return 0.0 if len(first) == len(second) else 1.0
    size = int(max(first.max(), second.max())) + 1
    one = np.cumsum(np.bincount(first, minlength=size)) / len(first)
    other = np.cumsum(np.bincount(second, minlength=size)) / len(second)
    return float(np.abs(one - other).max())


def _hop_distance(whole: npt.NDArray[np.float64], part: npt.NDArray[np.float64]) -> float:
    if len(whole) == 0 or len(part) == 0:
        return float("nan")
    hops = max(len(whole), len(part))
    padded = [np.pad(plot, (0, hops - len(plot)), constant_values=1.0) for plot in (whole, part)]
    return float(np.abs(padded[0] - padded[1]).max())


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
