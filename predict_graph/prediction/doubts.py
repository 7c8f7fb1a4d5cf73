"""Reasons not to trust a prediction, in plain words."""

from __future__ import annotations

from predict_graph.graph import Graph
from predict_graph.graph.degrees import degree_facts

_FEW_VERTICES = 5_000  # where samples fail: docs/iterations.md
_FLAT = 3.0  # largest degree / mean, limits what counts as a mesh
_DUST = 0.05  # limits warnings: share of vertices without an edge


def graph_doubts(graph: Graph) -> list[str]:
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
    facts = degree_facts(graph)
    if graph.vertices >= _FEW_VERTICES and facts.largest < _FLAT * max(facts.mean, 1.0):
        doubts.append(
            f"the graph has no hubs (largest degree {facts.largest}, mean {facts.mean:.1f}): if it "
            "is a mesh, samples of it converge unlike the whole"
        )
    if facts.dust > _DUST:
        doubts.append(
            f"{facts.dust:.0%} of the vertices are alone or in pairs, out of reach of any walk: "
            "walk samples overstate how connected the graph is"
        )
    return doubts
