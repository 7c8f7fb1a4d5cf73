"""A graph of ours has the same edges in every form that a function takes."""

import numpy as np
import pytest
from scipy import sparse

from predict_graph.functions.subject import build
from predict_graph.graph.build import from_edges

EDGES = {(0, 1): 1.0, (2, 1): 2.0, (0, 3): 3.0, (4, 4): 4.0, (3, 2): 5.0}
EITHER_WAY = {frozenset(edge): weight for edge, weight in EDGES.items()}
READ = {
    "networkx": lambda made: made.edges(data="weight"),
    "igraph": lambda made: ((*edge.tuple, edge["weight"]) for edge in made.es),
    "networkit": lambda made: made.iterEdgesWeights(),
    "scipy": lambda made: zip(*sparse.find(made), strict=True),
    "edges": lambda made: ((*edge, EITHER_WAY[frozenset(edge)]) for edge in made.tolist()),
    "graph": lambda made: zip(*sparse.find(made.to_scipy()), strict=True),
}


@pytest.mark.parametrize("form", READ)
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_has_the_same_edges_in_every_form(form, directed):
    pytest.importorskip("predict_graph" if form in ("edges", "graph") else form)
    sources, targets = np.array([*EDGES]).T
    weights = np.array([*EDGES.values()])
    graph = from_edges(sources, targets, vertices=6, weights=weights, directed=directed)
    found = {(int(u), int(v)): float(w) for u, v, w in READ[form](build(graph, form))}
    kind, expected = (tuple, EDGES) if directed else (frozenset, EITHER_WAY)
    assert {kind(edge): weight for edge, weight in found.items()} == expected
