"""What a rooted sample holds for each algorithm."""

import numpy as np
import pytest

from predict_graph.algorithms import (
    ConnectedComponents,
    Neighborhood,
    PageRank,
    SemiClustering,
    TopKRanking,
)
from predict_graph.builtin.neighborhood.local import hashed
from predict_graph.builtin.sampling import next_ranks
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.recipes import middle_trees, recipe_of


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


def test_roots_reach_both_ways_in_a_directed_graph(directed, undirected):
    trees = middle_trees(directed)
    assert len(trees) % 2 == 0
    assert trees[0].reached.sum() > 1
    assert len(middle_trees(undirected)) >= 2


def test_an_algorithm_without_a_recipe_takes_the_one_for_any(directed):
    class Other(Neighborhood):
        name = "other"

    recipe, sample = drawn(Other(), directed)
    assert recipe.inputs(sample) is None
    assert recipe.edge_visits > 0
    assert recipe.sampler.near == 0
