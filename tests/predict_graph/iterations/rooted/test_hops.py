"""Shortest-path trees against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.hops import add_paths, component_trees, hop_tree


@st.composite
def graphs(draw, kinds=(nx.Graph, nx.DiGraph)):
    n = draw(st.integers(1, 80))
    vertices = st.integers(0, n - 1)
    graph = draw(st.sampled_from(kinds))()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(draw(st.lists(st.tuples(vertices, vertices), min_size=1, max_size=300)))
    return graph


def check_tree(tree, graph, distances):
    expected = np.full(graph.number_of_nodes(), -1)
    for vertex, distance in distances.items():
        expected[vertex] = distance
    np.testing.assert_array_equal(tree.distance, expected)
    np.testing.assert_array_equal(tree.reached, expected >= 0)
    for vertex, parent in enumerate(tree.parent):
        if expected[vertex] <= 0:
            assert parent == -1
        else:
            assert graph.has_edge(parent, vertex)
            assert expected[parent] == expected[vertex] - 1


@given(graph=graphs(), root=st.integers(0, 79))
def test_distances_and_parents(graph, root):
    root %= graph.number_of_nodes()
    ours = check_graph(graph)
    check_tree(hop_tree(ours, root), graph, nx.single_source_shortest_path_length(graph, root))
    backward = graph.reverse() if graph.is_directed() else graph
    check_tree(
        hop_tree(ours, root, backward=True),
        backward,
        nx.single_source_shortest_path_length(backward, root),
    )


@given(graph=graphs(kinds=(nx.Graph,)))
def test_every_component_has_a_tree_from_its_smallest_id(graph):
    tree = component_trees(check_graph(graph))
    distances = {}
    for component in nx.connected_components(graph):
        distances |= nx.single_source_shortest_path_length(graph, min(component))
    check_tree(tree, graph, distances)


@pytest.mark.parametrize(
    "name", ["rmat:scale=15,edge_factor=16,seed=1", "grid:rows=150,columns=150"]
)
def test_a_large_search_looks_at_no_more_than_every_edge_about_once(name):
    graph = check_graph(name, directed=False)
    root = int(graph.out_degrees.argmax())
    tree = hop_tree(graph, root)
    expected = nx.single_source_shortest_path_length(
        nx.from_scipy_sparse_array(graph.to_scipy()), root
    )
    assert {v: int(d) for v, d in enumerate(tree.distance) if d >= 0} == dict(expected)
    assert 0 < tree.edge_visits <= 1.1 * graph.edges
    if name.startswith("rmat"):  # found backwards: most edges are never looked at
        assert tree.edge_visits < 0.4 * graph.edges


@given(graph=graphs(), seed=st.integers(0, 99))
def test_paths_join_members_to_the_root(graph, seed):
    ours = check_graph(graph)
    tree = hop_tree(ours, 0)
    members = np.random.default_rng(seed).random(ours.vertices) < 0.2
    before = members.copy()
    add_paths(members, tree)
    assert members[before].all()
    for vertex in np.flatnonzero(members):
        if tree.distance[vertex] > 0:
            assert members[tree.parent[vertex]]
    wanted = before.copy()
    for vertex in np.flatnonzero(before):
        while tree.parent[vertex] >= 0:
            vertex = tree.parent[vertex]
            wanted[vertex] = True
    np.testing.assert_array_equal(members, wanted)
