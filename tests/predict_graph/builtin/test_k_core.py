"""Core numbers: kernel, replica and Spark program beside a slow program and networkx; samples."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import KCore
from predict_graph.builtin.k_core.peeling import supersteps_by_peeling
from predict_graph.builtin.k_core.spark import _lowered
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.prediction import predict
from tests.predict_graph.builtin.small import UNDIRECTED, edges, networkx_graph

undirected = partial(edges, directed=False)


class Program:
    """Algorithm 1 of Montresor et al., vertex by vertex: what each has heard of each neighbour."""

    def __init__(self, graph, k):
        self.neighbours = [set(graph.neighbors(v).tolist()) - {v} for v in range(graph.vertices)]
        most = float("inf") if k is None else k
        self.core = [int(min(degree, most)) for degree in graph.out_degrees]
        self.heard = [dict.fromkeys(around, float("inf")) for around in self.neighbours]
        self.fell, self.falling = set(range(graph.vertices)), set()

    def message(self, v):
        return self.core[v] if v in self.fell else None

    def size(self, message):
        return 16

    def receive(self, v, messages):
        for u, estimate in messages:
            if u != v:
                self.heard[v][u] = estimate
        estimates = sorted(self.heard[v].values(), reverse=True)
        enough = [k for k, found in enumerate(estimates, start=1) if found >= k]
        lower = min(self.core[v], max(enough, default=0))
        if lower < self.core[v]:
            self.core[v] = lower
            self.falling.add(v)

    def aggregate(self):
        self.fell, self.falling = self.falling, set()
        return len(self.fell) / len(self.core)


def check(held_against, graph, k=None, **parameters):
    algorithm = KCore(k=k, **parameters)
    profile, program = held_against(algorithm, graph, lambda _: Program(graph, k))
    cores = program.core if k is None else [int(core == k) for core in program.core]
    assert profile.values.tolist() == cores
    if profile.converged:
        cores_of = nx.core_number(networkx_graph(graph, loops=False))
        numbers = [cores_of[v] for v in range(graph.vertices)]
        right = numbers if k is None else [int(number >= k) for number in numbers]
        assert cores == right
        expected = {"degeneracy": max(right), "innermost": right.count(max(right))}
        assert profile.result == (expected if k is None else {"members": sum(right)})
    return profile


CLIQUE = [(a, b) for a in range(6) for b in range(a)]
SMALL = UNDIRECTED | {
    "clique with a tail": undirected(*CLIQUE, (5, 6), (6, 7), (7, 8)),
    "communities": check_graph("powerlaw-cluster:n=150,m=3,p=0.6,seed=1", directed=False),
}


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, k, held_against):
    assert check(held_against, SMALL[name], k).converged


@given(data=st.data(), n=st.integers(1, 25))
def test_core_numbers_are_those_of_networkx(data, n, held_against):
    vertex = st.integers(0, n - 1)
    graph = undirected(*data.draw(st.lists(st.tuples(vertex, vertex), max_size=90)), n=n)
    k = data.draw(st.sampled_from([None, None, 1, 3]))
    check(held_against, graph, k, max_iterations=data.draw(st.sampled_from([1, 2, 500])))


def test_what_comes_from_others_than_neighbours_is_left_out():
    """Folded graphs have edges one way; the place past the last neighbour is not ours."""
    own, row_starts = np.array([2, 1]), np.array([0, 2, 3])
    neighbours, heard = np.array([3, 5, 4]), np.full(3, np.iinfo(np.int64).max)
    pairs = np.array([5, 1, 7, 0, 9, 0])  # who sends, and its estimate
    _lowered.py_func(own, row_starts, neighbours, heard, np.array([0, 4, 6]), np.arange(3), pairs)
    assert heard.tolist() == [np.iinfo(np.int64).max, 1, np.iinfo(np.int64).max]
    assert own.tolist() == [1, 1]


def test_estimates_above_k_have_nothing_to_fall():
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=4", directed=False)
    every, one = (LocalEngine().run(KCore(k=k), graph) for k in (None, 4))
    assert one.values.tolist() == (every.values >= 4).astype(int).tolist()
    sent = [profile.features_total()["remote_messages"] for profile in (every, one)]
    assert sent[1] < 0.7 * sent[0]


@pytest.mark.parametrize("k", [0, -1, 2.5, "many"])
def test_what_is_no_k_is_refused(k):
    with pytest.raises(RequestError, match=r"k is .*; accepted: a whole number at least 1"):
        KCore(k=k)


def test_it_ignores_the_direction_of_edges():
    with pytest.raises(RequestError, match="k-core ignores the direction of edges"):
        predict("k-core", "path:n=9", directed=True)


# Samples


@given(data=st.data(), n=st.integers(1, 25), k=st.none() | st.integers(1, 4))
def test_peeling_counts_the_supersteps(data, n, k):
    ends = st.integers(0, n - 1)
    graph = undirected(*data.draw(st.lists(st.tuples(ends, ends), max_size=60)), n=n)
    truth = LocalEngine(workers=1).run(KCore(k=k), graph)
    assert supersteps_by_peeling(graph, k) == truth.iterations
