"""Reasons not to trust a prediction, in plain words."""

from __future__ import annotations

import numpy as np

from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph

__all__ = ["graph_doubts"]

_FEW_VERTICES = 5_000  # where samples fail: docs/iterations.md
_FLAT = 3.0  # judgement: largest degree / mean, of a mesh and not of a random graph
_DUST = 0.05  # judgement, not measured: of the vertices without an edge


def graph_doubts(graph: AnyGraph) -> list[str]:
    """Return what about the graph makes samples of it unlike it.

    - Too few vertices for a sample to say anything.
    - No hubs: a mesh or lattice has no small part that behaves like the whole, and its walk samples
      are strips (the premise of section 3.2 of PREDIcT is a scale-free graph).
    - Dust: vertices in pairs or alone, which no walk reaches.
    """
    doubts = []
    if graph.vertices < _FEW_VERTICES:
        doubts.append(
            f"the graph has only {graph.vertices} vertices: a sample of it is too small to be like "
            "it, and running the job costs less than predicting it"
        )
    degrees = graph.out_degrees + (graph.in_degrees if graph.directed else 0)
    mean = float(degrees.mean()) if len(degrees) else 0.0
    if graph.vertices >= _FEW_VERTICES and float(degrees.max()) < _FLAT * max(mean, 1.0):
        doubts.append(
            f"the graph has no hubs (largest degree {int(degrees.max())}, mean {mean:.1f}): if it "
            "is a mesh, samples of it converge unlike the whole"
        )
    dust = graph.dust_share if isinstance(graph, ClusterGraph) else _dust_share(graph)
    if dust > _DUST:
        doubts.append(
            f"{dust:.0%} of the vertices are alone or in pairs, out of reach of any walk: walk "
            "samples overstate how connected the graph is"
        )
    return doubts


def _dust_share(graph: Graph) -> float:
    """Return the share of vertices without neighbours, or whose only neighbour has no other."""
    out_degrees = graph.out_degrees
    total = out_degrees + graph.in_degrees if graph.directed else out_degrees
    alone = float(np.count_nonzero(total == 0))
    single = np.flatnonzero((out_degrees == 1) & (total == (1 if graph.directed else out_degrees)))
    partner = graph.indices[graph.indptr[single]]
    paired = (total[partner] == 1) & (partner != single)
    pairs = float(np.count_nonzero(paired))
    return (alone + (2.0 * pairs if graph.directed else pairs)) / max(graph.vertices, 1)
