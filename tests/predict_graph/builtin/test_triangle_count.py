"""Triangles: kernel, replica and Spark program beside a slow program and networkx; samples."""

from functools import partial

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import TriangleCount
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from tests.predict_graph.builtin.small import UNDIRECTED, edges, networkx_graph

undirected = partial(edges, directed=False)


class Program:
    """Degrees, then sets of the neighbours above, vertex by vertex."""

    def __init__(self, graph):
        self.around = [set(graph.neighbors(v).tolist()) for v in range(graph.vertices)]
        self.degrees = [len(around) for around in self.around]
        self.above = None
        self.triangles = [0] * graph.vertices
        self.found = [set() for _ in self.around]

    def message(self, v):
        return self.degrees[v] if self.above is None else self.above[v]

    def size(self, message):
        return 16 if isinstance(message, int) else 8 + 8 * len(message)

    def receive(self, v, messages):
        for u, message in messages:
            if u == v:
                continue
            if isinstance(message, int):
                if (message, u) > (self.degrees[v], v):
                    self.found[v].add(u)
            else:
                self.triangles[v] += len(message & (self.around[v] - {v}))

    def aggregate(self):
        first, self.above = self.above is None, self.found
        return float(first)


def check(held_against, graph):
    profile, program = held_against(TriangleCount(), graph, lambda _: Program(graph))
    assert (profile.iterations, profile.converged) == (2, True)
    counts = nx.triangles(networkx_graph(graph, loops=False))
    assert profile.values.tolist() == program.triangles == [counts[v] for v in sorted(counts)]
    right = program.triangles
    assert profile.result == {"triangles": sum(right) // 3, "most": max(right)}


SMALL = UNDIRECTED | {
    "triangle with loops": undirected((0, 1), (1, 2), (2, 0), (0, 0), (2, 2)),
    "wheel": undirected(*((9, v) for v in range(9)), *((v, (v + 1) % 9) for v in range(9))),
    "clique": undirected(*((a, b) for a in range(8) for b in range(a))),
    "communities": check_graph("powerlaw-cluster:n=150,m=3,p=0.6,seed=1", directed=False),
}


@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, held_against):
    check(held_against, SMALL[name])


@given(data=st.data(), n=st.integers(1, 25))
def test_triangles_are_those_of_networkx(data, n, held_against):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=120))
    check(held_against, undirected(*pairs, n=n))


def test_nothing_is_sent_when_all_is_counted():
    profile = LocalEngine(workers=1).run(
        TriangleCount(), SMALL["wheel"], threshold=0.0, max_iterations=4
    )
    assert profile.table["active_vertices"].tolist() == [10, 10, 0, 0]
    assert profile.values.tolist() == [2] * 9 + [9]


@pytest.mark.parametrize("name", ["k", "max_iterations"])
def test_there_are_no_parameters(name):
    with pytest.raises(RequestError, match=f"unknown parameter of triangle-count '{name}'"):
        TriangleCount(**{name: 1})
