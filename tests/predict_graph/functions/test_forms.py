"""Graphs of networkx that are made of ours are what networkx itself makes of the edges."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.functions.forms import build
from predict_graph.graph.build import from_edges

ends = st.integers(0, 11)


@given(edges=st.lists(st.tuples(ends, ends)), directed=st.booleans(), weighted=st.booleans())
def test_a_networkx_graph_is_what_networkx_makes_of_the_edges(
    edges: list[tuple[int, int]], directed: bool, weighted: bool
) -> None:
    sources, targets = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    weights = np.arange(1.0, len(edges) + 1.0) if weighted else None
    graph = from_edges(sources, targets, vertices=12, weights=weights, directed=directed)
    made = build(graph, "networkx")
    expected = nx.DiGraph() if directed else nx.Graph()
    expected.add_nodes_from(range(12))
    for vertex in range(12):
        row = slice(graph.indptr[vertex], graph.indptr[vertex + 1])
        for place, near in enumerate(graph.indices[row].tolist()):
            weight = {} if graph.weights is None else {"weight": float(graph.weights[row][place])}
            if directed or vertex <= near:
                expected.add_edge(vertex, near, **weight)
    assert list(made) == list(expected)
    assert {v: list(made.adj[v].items()) for v in made} == {
        v: list(expected.adj[v].items()) for v in expected
    }
    for one, other, data in made.edges(data=True):
        back = made.pred[other][one] if directed else made.adj[other][one]
        assert back is data  # one dictionary an edge: what is set at one end is seen at the other
    if directed:
        assert {v: list(made.pred[v]) for v in made} == {v: list(expected.pred[v]) for v in made}
    made.add_edge(0, 99)  # it goes on as any other
    assert made.has_edge(0, 99)
