from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ConnectedComponents
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges
from tests.predict_graph.builtin.small import UNDIRECTED, edges

undirected = partial(edges, directed=False)


class Program:
    """Smallest-id propagation, vertex by vertex."""

    def __init__(self, graph):
        self.labels = list(range(graph.vertices))
        self.changed = set(self.labels)
        self.lowered = set()

    def message(self, v):
        return self.labels[v] if v in self.changed else None

    def size(self, message):
        return 16

    def receive(self, v, messages):
        least = min([label for _, label in messages], default=self.labels[v])
        if least < self.labels[v]:
            self.labels[v] = least
            self.lowered.add(v)

    def aggregate(self):
        self.changed, self.lowered = self.lowered, set()
        return len(self.changed) / len(self.labels)


def components(graph):
    """Sets of vertices, as networkx finds them."""
    found = nx.Graph()
    found.add_nodes_from(range(graph.vertices))
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    found.add_edges_from(zip(rows.tolist(), graph.indices.tolist(), strict=True))
    return list(nx.connected_components(found))


def check(held_against, graph, **parameters):
    profile, program = held_against(
        ConnectedComponents(**parameters), graph, lambda _: Program(graph)
    )
    assert profile.values.tolist() == program.labels
    return profile


SMALL = UNDIRECTED | {
    "star, smallest id outside": undirected(*((9, leaf) for leaf in range(9))),
    "path, numbered from the middle": undirected((5, 3), (3, 1), (1, 0), (0, 2), (2, 4), (4, 6)),
}


@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, held_against):
    graph = SMALL[name]
    profile = check(held_against, graph)
    assert profile.converged
    found = components(graph)
    assert profile.result == {"components": len(found), "largest": max(map(len, found))}


@given(data=st.data(), n=st.integers(1, 40))
def test_random_graphs_too(data, n, held_against):
    vertex = st.integers(0, n - 1)
    graph = undirected(*data.draw(st.lists(st.tuples(vertex, vertex), max_size=60)), n=n)
    limit = data.draw(st.sampled_from([1, 2, 500]))
    profile = check(held_against, graph, max_iterations=limit)
    if profile.converged:
        for component in components(graph):
            assert {int(profile.values[v]) for v in component} == {min(component)}


def test_iterations_are_the_hops_to_the_farthest_vertex_and_one_more():
    # The path's smallest id is its end, 0, so the other end hears of it after n - 1 supersteps.
    for n in (2, 5, 30):
        graph = check_graph(f"path:n={n}", directed=False)
        assert LocalEngine().run(ConnectedComponents(), graph).iterations == n


def test_silence_is_counted_as_silence_after_the_fixed_point():
    graph = undirected((0, 1), n=3)
    profile = LocalEngine(workers=2).run(
        ConnectedComponents(), graph, threshold=0.0, max_iterations=4
    )
    per_step = profile.per_iteration()
    assert per_step["active_vertices"].tolist() == [3, 1, 0, 0]
    sent = per_step["local_messages"] + per_step["remote_messages"]
    assert sent.tolist() == [2, 1, 0, 0]


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_graphs_fall_silent(n):
    profile = LocalEngine(workers=1).run(
        ConnectedComponents(), undirected((0, 0), n=n), threshold=0.0, max_iterations=3
    )
    assert profile.table["active_vertices"].tolist() == [n, 0, 0]


def test_a_large_graph_has_the_components_of_igraph():
    igraph = pytest.importorskip("igraph")
    rng = np.random.default_rng(3)
    sources, targets = rng.integers(0, 60_000, (2, 50_000))
    graph = from_edges(sources, targets, vertices=60_000, directed=False)
    profile = LocalEngine(threads=2).run(ConnectedComponents(), graph)
    membership = np.array(
        igraph.Graph(n=60_000, edges=np.column_stack([sources, targets]))
        .connected_components()
        .membership
    )
    least = np.full(membership.max() + 1, 60_000)
    np.minimum.at(least, membership, np.arange(60_000))
    np.testing.assert_array_equal(profile.values, least[membership])
    assert profile.result["components"] == len(least)
