"""Rooted samples: what they keep of the graph."""

import numpy as np
import pytest

from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.hops import hop_tree
from predict_graph.iterations.rooted.sample import RootedSampler, small_neighbours


@pytest.fixture(scope="module")
def graph():
    return check_graph("barabasi-albert:n=3000,m=2,seed=4")


def sampler(graph, certain=(5, 9), **options):
    tree = hop_tree(graph, int(graph.out_degrees.argmax()))
    return RootedSampler(graph, [tree], np.array(certain), **options), tree


def test_weights_stand_for_the_whole_graph(graph):
    drawing, _ = sampler(graph)
    sample = drawing.draw(200, np.random.default_rng(0))
    assert sample.weights.sum() == pytest.approx(graph.vertices)
    assert set(np.unique(sample.weights)) == {0.0, 1.0, (3000 - 2) / 200}
    assert np.count_nonzero(sample.weights) == 202
    assert set(sample.vertices[sample.weights == 1.0]) == {5, 9}
    np.testing.assert_array_equal(sample.degrees, graph.out_degrees[sample.vertices])


def test_distances_to_the_root_are_those_of_the_graph(graph):
    drawing, tree = sampler(graph)
    sample = drawing.draw(150, np.random.default_rng(1))
    root = int(np.flatnonzero(sample.vertices == graph.out_degrees.argmax())[0])
    found = hop_tree(sample.graph, root).distance
    np.testing.assert_array_equal(found, tree.distance[sample.vertices])


def test_same_seed_same_sample(graph):
    drawing, _ = sampler(graph)
    first, again, other = (drawing.draw(100, np.random.default_rng(s)) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.weights, again.weights)
    assert not np.array_equal(first.vertices, other.vertices)


def test_a_sample_of_all_is_the_graph(graph):
    drawing, _ = sampler(graph)
    sample = drawing.draw(10**9, np.random.default_rng(0))
    np.testing.assert_array_equal(sample.vertices, np.arange(graph.vertices))
    np.testing.assert_array_equal(sample.weights, np.ones(graph.vertices))
    assert sample.graph.fingerprint == graph.fingerprint


def test_small_neighbours_of_small_vertices_come_along():
    star = check_graph("star:n=20")
    pair = check_graph("path:n=5")
    assert small_neighbours(pair, np.array([1]), 2).tolist() == [0, 2]
    assert small_neighbours(pair, np.array([1]), 1).tolist() == []
    assert small_neighbours(star, np.array([3, 4]), 2).tolist() == []  # the middle is not small
    drawing, _ = sampler(pair, certain=(1,), near=2)
    sample = drawing.draw(0, np.random.default_rng(0))
    assert {0, 1, 2} <= set(sample.vertices)
    assert sample.weights[sample.vertices == 0] == 0.0
