from functools import partial

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ConnectedComponents
from predict_graph.engines.local import LocalEngine
from tests.predict_graph.builtin.small import UNDIRECTED, edges, networkx_graph

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
    found = list(nx.connected_components(networkx_graph(graph)))
    assert profile.result == {"components": len(found), "largest": max(map(len, found))}


@given(data=st.data(), n=st.integers(1, 40))
def test_random_graphs_too(data, n, held_against):
    vertex = st.integers(0, n - 1)
    graph = undirected(*data.draw(st.lists(st.tuples(vertex, vertex), max_size=60)), n=n)
    limit = data.draw(st.sampled_from([1, 2, 500]))
    profile = check(held_against, graph, max_iterations=limit)
    if profile.converged:
        for component in nx.connected_components(networkx_graph(graph)):
            assert {int(profile.values[v]) for v in component} == {min(component)}


def test_silence_is_counted_as_silence_after_the_fixed_point():
    graph = undirected((0, 1), n=3)
    profile = LocalEngine(workers=2).run(
        ConnectedComponents(), graph, threshold=0.0, max_iterations=4
    )
    per_step = profile.per_iteration()
    assert per_step["active_vertices"].tolist() == [3, 1, 0, 0]
    sent = per_step["local_messages"] + per_step["remote_messages"]
    assert sent.tolist() == [2, 1, 0, 0]
