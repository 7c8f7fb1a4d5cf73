"""Graphs that hypothesis makes up."""

import networkx as nx
from hypothesis import strategies as st

from predict_graph.graph import check_graph


@st.composite
def graphs(draw, vertices=60, edges=150):
    """A graph of at most so many vertices and edges, directed or not."""
    n = draw(st.integers(1, vertices))
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph]))()
    graph.add_nodes_from(range(n))
    ends = st.tuples(*2 * [st.integers(0, n - 1)])
    graph.add_edges_from(draw(st.lists(ends, min_size=1, max_size=edges)))
    return check_graph(graph)
