"""A graph whose edges stay on a cluster: what is known of it here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Described, Graph
from predict_graph.graph.degrees import counted_degrees


@dataclass(frozen=True)
class ClusterGraph(Described):
    """A graph on a cluster; the driver holds its degrees.

    Parameters
    ----------
    name, fingerprint : str
    vertices, edges : int
    directed, weighted : bool
    read_seconds : float
        What packing it on the cluster took.
    out_degrees, in_degrees : ndarray of int32, shape (n,)
    dust_share : float
        Vertices that are alone or in pairs, of all.
    labels : ndarray, optional
        Original id of each vertex; None when the ids were 0 … n - 1.
    core : Graph, optional
        The subgraph of some vertices that were drawn by their degrees.
    notes : tuple of str
        As of a :class:`Graph`.
    """

    name: str
    fingerprint: str
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    read_seconds: float
    out_degrees: npt.NDArray[np.int32] = field(repr=False)
    in_degrees: npt.NDArray[np.int32] = field(repr=False)
    dust_share: float
    labels: npt.NDArray[np.generic] | None = field(default=None, repr=False)
    core: Graph | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def in_degree_counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """In-degrees that some vertex has, ascending, and how many vertices have each."""
        return counted_degrees(self.in_degrees)

    @cached_property
    def out_degree_counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Out-degrees that some vertex has, ascending, and how many vertices have each."""
        return counted_degrees(self.out_degrees)


AnyGraph = Graph | ClusterGraph
"""A graph in memory, or on a cluster."""
