"""The graphs of the study, read once, and what real runs on them do: the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.accuracy import DIRECTED, UNDIRECTED
from benchmarks.common import table
from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph, check_graph

RMAT = {
    "rmat 16": "rmat:scale=16,edge_factor=32,seed=1",
    "rmat 18": "rmat:scale=18,edge_factor=16,seed=1",
}
MESH = "wing"
ALL = (*DIRECTED, *UNDIRECTED, *RMAT, MESH)


@cache
def read(name: str, directed: bool) -> Graph:
    """Return a graph; its edges may have a direction."""
    directed = directed and (name in DIRECTED or name in RMAT)
    return check_graph(RMAT.get(name, name), directed=directed)


def graph_for(algorithm: Algorithm, name: str) -> Graph:
    """Return a graph as an algorithm needs it."""
    return read(name, not algorithm.undirected)


@cache
def truth(algorithm: Algorithm, name: str) -> RunProfile:
    """The real run of an algorithm on a graph, without its result."""
    profile = LocalEngine().run(algorithm, graph_for(algorithm, name))
    prior = profile.prior and replace(profile.prior, values=np.empty(0))
    return replace(profile, values=np.empty(0), prior=prior)


def graph_table(names: Sequence[str]) -> list[str]:
    """Return Table 2: the graphs."""
    rows = []
    for name in names:
        graph, both = read(name, True), read(name, False)
        kind = "mesh" if name == MESH else "directed" if graph.directed else "undirected"
        sizes = [f"{each:,}" for each in (graph.vertices, graph.edges, both.edges)]
        degrees = [f"{graph.edges / graph.vertices:.1f}", f"{int(graph.out_degrees.max()):,}"]
        rows.append([name, kind, *sizes, *degrees])
    head = ["graph", "kind", "vertices", "edges", "edges both ways", "edges a vertex"]
    return table([*head, "largest out-degree"], rows, text_columns=2)
