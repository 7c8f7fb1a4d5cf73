"""Reasons not to trust a prediction, in plain words."""

from __future__ import annotations

import numpy as np

from predict_graph.graph import Graph


def graph_doubts(
    graph: Graph, fewest: int = 5_000, flat: float = 3.0, most_alone: float = 0.05
) -> list[str]:
    """Return what about the graph makes samples of it unlike it.

    - Too few vertices for a sample to say anything (docs/iterations.md).
    - No hubs, of a degree far above the mean: a mesh or lattice has no small part that behaves like
      the whole, and its walk samples are strips (the premise of section 3.2 of PREDIcT is a
      scale-free graph).
    - Dust: vertices in pairs or alone, which no walk reaches.
    """
    doubts = []
    if graph.vertices < fewest:
        doubts.append(
            f"the graph has only {graph.vertices} vertices: a sample of it is too small to be like "
            "it, and running the job costs less than predicting it"
        )
    out = graph.out_degrees
    degrees = out + graph.in_degrees if graph.directed else out
    largest, mean = int(degrees.max(initial=0)), degrees.sum() / max(graph.vertices, 1)
    if graph.vertices >= fewest and largest < flat * max(mean, 1.0):
        doubts.append(
            f"the graph has no hubs (largest degree {largest}, mean {mean:.1f}): if it "
            "is a mesh, samples of it converge unlike the whole"
        )
    lone = np.flatnonzero((degrees == 1) & (out == 1))
    other = graph.indices[graph.indptr[lone]]
    pairs = np.count_nonzero((degrees[other] == 1) & (other != lone))
    dust = np.count_nonzero(degrees == 0) + pairs * (2 if graph.directed else 1)
    if dust > most_alone * graph.vertices:
        doubts.append(
            f"{dust / graph.vertices:.0%} of the vertices are alone or in pairs, out of reach of "
            "any walk: walk samples overstate how connected the graph is"
        )
    return doubts
