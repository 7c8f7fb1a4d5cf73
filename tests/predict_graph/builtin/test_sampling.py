"""What a rooted sample holds for each algorithm."""

import numpy as np
import pytest

from predict_graph.algorithms import (
    ConnectedComponents,
    Neighborhood,
    PageRank,
    SemiClustering,
    TopKRanking,
    check_algorithm,
)
from predict_graph.builtin.neighborhood.local import hashed
from predict_graph.builtin.sampling import next_ranks
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.recipes import recipe_of
from predict_graph.prediction import predict


@pytest.fixture(scope="module")
def directed():
    return check_graph("rmat:scale=12,edge_factor=6,seed=2")


@pytest.fixture(scope="module")
def undirected(directed):
    return check_graph(directed, directed=False)


def drawn(algorithm, graph, size=100):
    recipe = recipe_of(algorithm, graph)
    return recipe, recipe.sampler.draw(size, np.random.default_rng(0))


def test_components_are_rooted_in_their_smallest_ids(undirected):
    recipe, sample = drawn(ConnectedComponents(), undirected)
    labels = LocalEngine().run(ConnectedComponents(), undirected).values
    held = set(sample.vertices)
    assert all(labels[vertex] in held for vertex in sample.vertices)
    (tree,) = recipe.sampler.trees
    deepest = np.flatnonzero(tree.distance == tree.depth)
    assert held & set(deepest)


def test_the_vertices_with_the_largest_hashes_are_held(directed):
    algorithm = Neighborhood(registers=16)
    _, sample = drawn(algorithm, directed)
    counters = hashed(np.arange(directed.vertices), 16)
    held = counters[sample.vertices[sample.weights > 0]].max(axis=0)
    np.testing.assert_array_equal(held, counters.max(axis=0))


def test_the_highest_ranks_are_held_and_roughly_known(directed):
    algorithm = TopKRanking()
    recipe, sample = drawn(algorithm, directed)
    ranks = LocalEngine().run(PageRank(), directed).values
    best = np.argsort(-ranks)[:5]
    assert set(best) <= set(sample.vertices[sample.weights > 0])
    given = recipe.inputs(sample)
    assert np.corrcoef(given, ranks[sample.vertices])[0, 1] > 0.95


def test_ranks_are_iterations_of_pagerank(directed):
    everyone = np.arange(directed.vertices)
    algorithm = PageRank(dangling="drop")
    first = next_ranks(directed, algorithm, np.full(len(everyone), 1 / len(everyone)), everyone)
    engine = LocalEngine()
    once = engine.run(algorithm, directed, max_iterations=1).values
    twice = engine.run(algorithm, directed, max_iterations=2).values
    np.testing.assert_allclose(first, once)
    np.testing.assert_allclose(next_ranks(directed, algorithm, first, everyone), twice)
    some = np.array([3, 50, 7])
    np.testing.assert_allclose(next_ranks(directed, algorithm, first, some), twice[some])


def test_semi_clusters_begin_around_small_vertices(undirected):
    algorithm = SemiClustering()
    recipe, sample = drawn(algorithm, undirected)
    degrees = undirected.out_degrees
    pairs = [
        (degrees[v] + degrees[w], v)
        for v in range(undirected.vertices)
        for w in undirected.neighbors(v)
        if v != w
    ]
    smallest = min(pairs)[0]
    held = set(sample.vertices[sample.weights > 0])
    assert any(v in held for total, v in pairs if total == smallest)
    assert recipe.sampler.near == 30  # 3 / boundary factor


def test_an_algorithm_without_a_recipe_takes_the_one_for_any(directed):
    class Other(Neighborhood):
        name = "other"

    recipe, sample = drawn(Other(), directed)
    assert recipe.inputs(sample) is None
    assert recipe.edge_visits > 0
    assert recipe.sampler.near == 0


@pytest.mark.parametrize(
    ("name", "source", "error"),
    [
        ("k-core", "rmat:scale=14,edge_factor=8,seed=3", 0.25),
        ("k-core", "barabasi-albert:n=20000,m=4,seed=1", 0.25),
        ("triangle-count", "rmat:scale=14,edge_factor=8,seed=3", 0.05),
        ("triangle-count", "powerlaw-cluster:n=20000,m=6,p=0.5,seed=1", 0.05),
    ],
)
def test_a_sample_knows_how_long_a_run_is_and_what_it_sends(name, source, error):
    graph = check_graph(source, directed=False)
    truth = LocalEngine().run(check_algorithm(name), graph)
    found = predict(name, graph, method="rooted", history="none", seed=1, ratio=0.2)
    assert found.iterations.predicted == truth.iterations
    for counter in ("remote_messages", "remote_message_bytes"):
        predicted, actual = found.features_total()[counter], truth.features_total()[counter]
        assert predicted == pytest.approx(actual, rel=error), counter
