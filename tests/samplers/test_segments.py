"""Walks side by side, without the reverse of the graph, are those that the reverse leads."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.graph import Graph, check_graph
from samplers import MetropolisHastingsRandomWalk, check_csr, reverse_csr
from samplers._random import chance_threshold, new_state
from samplers.csr import owned
from samplers.segments import (
    DEAD_END,
    Segments,
    count_in_degrees,
    in_degree,
    walk_one_by_one,
    walk_side_by_side,
)


def with_reverse(graph):
    return owned(*reverse_csr(graph.indptr, graph.indices), directed=True)


def walked(graph, restart, seed, walk, *arguments):
    segments = Segments.drawn(50, chance_threshold(restart), new_state(seed), graph)
    walk(graph, *arguments, segments)
    return segments


@given(
    vertices=st.integers(1, 30),
    edges=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=120),
    restart=st.sampled_from([0.05, 0.15, 0.6, 1.0]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_both_ways_walk_alike(vertices, edges, restart, seed):
    matrix = np.zeros((vertices, vertices))
    for source, target in edges:
        matrix[source % vertices, target % vertices] = 1
    graph = check_csr(nx.DiGraph(matrix))
    one_by_one = walked(graph, restart, seed, walk_one_by_one, with_reverse(graph))
    side_by_side = walked(graph, restart, seed, walk_side_by_side)
    np.testing.assert_array_equal(one_by_one.path, side_by_side.path)
    degrees = np.diff(graph.indptr) + np.diff(graph.reverse().indptr)
    ended = one_by_one.path[np.flatnonzero(one_by_one.path == DEAD_END) - 1]
    assert (degrees[ended[ended != DEAD_END]] == 0).all()


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.24])
def test_the_sample_is_that_of_the_reverse(ratio):
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=3")
    sampler = MetropolisHastingsRandomWalk()
    without = sampler.sample(graph, ratio, 5)
    assert "reverse" not in vars(graph)
    with_it = sampler.sample(graph, ratio, 5, reverse=with_reverse(check_csr(graph)))
    np.testing.assert_array_equal(without.vertices, with_it.vertices)
    assert (without.steps, without.restarts) == (with_it.steps, with_it.restarts)


def test_without_the_reverse_it_takes_a_fifth_of_the_graph_at_most():
    graph = check_graph("rmat:scale=16,edge_factor=8,seed=1")
    sampler = MetropolisHastingsRandomWalk()
    sampler.sample(graph, 0.1, 1)  # compiles
    tracemalloc.start()
    sampler.sample(graph, 0.1, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * (graph.indptr.nbytes + graph.indices.nbytes)


@pytest.mark.parametrize("leaves", [254, 255, 256, 1000])
def test_in_degrees_that_a_byte_does_not_hold(leaves):
    edges = np.zeros(leaves, dtype=np.int32)
    counted = count_in_degrees(np.append(edges, [1, 1]).astype(np.int32), 3)
    assert [in_degree(*counted, v) for v in range(3)] == [leaves, 2, 0]


def test_an_edge_cap_and_a_stall_hold_for_segments_too():
    star = Graph(np.array([0, 99] + [99] * 99), np.arange(1, 100, dtype=np.int32), name="star")
    capped = MetropolisHastingsRandomWalk().sample(star, 0.2, 1, max_edges=50)
    assert capped.capped or capped.edges_scanned <= 50
    everything = MetropolisHastingsRandomWalk(patience=1).sample(star, 1.0, 1)
    assert sorted(everything.vertices) == list(range(100))
    assert everything.unreached > 0
