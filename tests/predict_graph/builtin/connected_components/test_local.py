import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ConnectedComponents
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges


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


def edges(*pairs, n=None):
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return from_edges(array[:, 0], array[:, 1], vertices=n, directed=False)


SMALL = {
    "one vertex": edges(n=1),
    "one vertex and its loop": edges((0, 0)),
    "no edges": edges(n=5),
    "two and one alone": edges((0, 1), n=3),
    "loops": edges((0, 0), (1, 2), (2, 2), (3, 3)),
    "star, smallest id outside": edges(*((9, leaf) for leaf in range(9))),
    "path": check_graph("path:n=12", directed=False),
    "path, numbered from the middle": edges((5, 3), (3, 1), (1, 0), (0, 2), (2, 4), (4, 6)),
    "cycle": check_graph("cycle:n=9", directed=False),
    "grid": check_graph("grid:rows=4,columns=5", directed=False),
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
    graph = edges(*data.draw(st.lists(st.tuples(vertex, vertex), max_size=60)), n=n)
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
    graph = edges((0, 1), n=3)
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
        ConnectedComponents(), edges((0, 0), n=n), threshold=0.0, max_iterations=3
    )
    assert profile.table["active_vertices"].tolist() == [n, 0, 0]


def test_a_large_graph_has_the_components_of_igraph_whatever_the_threads():
    igraph = pytest.importorskip("igraph")
    rng = np.random.default_rng(3)
    sources, targets = rng.integers(0, 60_000, (2, 50_000))
    graph = from_edges(sources, targets, vertices=60_000, directed=False)
    profile, *others = (
        LocalEngine(threads=threads).run(ConnectedComponents(), graph) for threads in (1, 2, 3)
    )
    membership = np.array(
        igraph.Graph(n=60_000, edges=np.column_stack([sources, targets]))
        .connected_components()
        .membership
    )
    least = np.full(membership.max() + 1, 60_000)
    np.minimum.at(least, membership, np.arange(60_000))
    np.testing.assert_array_equal(profile.values, least[membership])
    assert profile.result["components"] == len(least)
    for other in others:
        assert other.values.tobytes() == profile.values.tobytes()
        assert other.convergence.tobytes() == profile.convergence.tobytes()
        assert other.features_total() == profile.features_total()
