"""Rooted samples: shortest-path trees, what samples keep of the graph, and estimates from them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ConnectedComponents, Neighborhood, SemiClustering, TopKRanking
from predict_graph.engines import COUNTERS, per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import WeightedSample
from predict_graph.engines.local.observed import observed_run
from predict_graph.graph import check_graph
from predict_graph.graph.csr import edge_weights
from predict_graph.iterations import EdgeBudget
from predict_graph.iterations.rooted.sample import RootedSampler, component_trees, hop_tree
from tests.graphs import graphs
from tests.predict_graph.iterations.test_estimates import estimate as estimate_by


def check_tree(tree, graph, distances):
    expected = np.array([distances.get(vertex, -1) for vertex in graph])
    np.testing.assert_array_equal(tree.distance, expected)
    np.testing.assert_array_equal(tree.reached, expected >= 0)
    for vertex, parent in enumerate(tree.parent):
        if expected[vertex] <= 0:
            assert parent == -1
        else:
            assert graph.has_edge(parent, vertex)
            assert expected[parent] == expected[vertex] - 1


@given(graph=graphs(80, 300), root=st.integers(0, 79))
def test_distances_and_parents(graph, root):
    root %= graph.vertices
    edges = nx.from_scipy_sparse_array(graph.to_scipy(), create_using=nx.DiGraph)
    for backward, other in ((False, edges), (True, edges.reverse())):
        tree = hop_tree(graph, root, backward=backward)
        check_tree(tree, other, nx.single_source_shortest_path_length(other, root))
    if not graph.directed:
        roots = [min(component) for component in nx.weakly_connected_components(edges)]
        distances = nx.multi_source_dijkstra_path_length(edges, roots)
        check_tree(component_trees(graph), edges, distances)


GRAPH = check_graph("barabasi-albert:n=3000,m=2,seed=4")
TREE = hop_tree(GRAPH, int(GRAPH.out_degrees.argmax()))
SAMPLER = RootedSampler(GRAPH, [TREE], np.array([5, 9]))


def test_weights_stand_for_the_whole_graph():
    sample = SAMPLER.draw(200, np.random.default_rng(0))
    assert sample.weights.sum() == pytest.approx(GRAPH.vertices)
    assert set(np.unique(sample.weights)) == {0.0, 1.0, (3000 - 2) / 200}
    assert np.count_nonzero(sample.weights) == 202
    assert set(sample.vertices[sample.weights == 1.0]) == {5, 9}
    np.testing.assert_array_equal(sample.degrees, GRAPH.out_degrees[sample.vertices])


def test_distances_to_the_root_are_those_of_the_graph():
    sample = SAMPLER.draw(150, np.random.default_rng(1))
    root = int(np.flatnonzero(sample.vertices == GRAPH.out_degrees.argmax())[0])
    found = hop_tree(sample.graph, root).distance
    np.testing.assert_array_equal(found, TREE.distance[sample.vertices])


def test_small_neighbours_of_small_vertices_come_along():
    for text, most, expected in (
        ("path:n=5", 2, {0, 2}),
        ("path:n=5", 1, {}),
        ("star:n=20", 2, {}),
    ):
        drawing = RootedSampler(check_graph(text), [], np.array([1]), near=most)
        sample = drawing.draw(0, np.random.default_rng(0))
        assert set(sample.vertices) == {1, *expected}
        assert sample.weights.sum() == 1.0


JOBS = [ConnectedComponents(), Neighborhood(), TopKRanking(), SemiClustering()]


def read(name, job):
    return check_graph(name, directed=False if job.undirected else None)


def estimate(graph, job, ratio=0.1, seed=1, budget=None):
    budget = budget or EdgeBudget(graph.edges, 100.0)
    return estimate_by(graph, job, "rooted", seed, ratio=ratio, budget=budget)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_whole_graph_as_its_own_sample_runs_as_the_engine_does(job):
    graph = read("rmat:scale=10,edge_factor=6,seed=5", job)
    truth = LocalEngine(workers=1).run(job, graph)
    to_others = edge_weights(graph, np.arange(graph.vertices))
    matrix = graph.to_scipy()
    np.testing.assert_allclose(to_others, matrix.sum(axis=1) - matrix.diagonal())
    ones = np.ones(graph.vertices)
    everyone = WeightedSample(graph, np.arange(graph.vertices), ones, graph.out_degrees, to_others)
    prior = None if truth.prior is None else truth.prior.values
    limits = {"threshold": job.threshold(graph.vertices), "edges": graph.edges}
    found = observed_run(job, everyone, workers=1, prior=prior, **limits)
    np.testing.assert_allclose(found.convergence, truth.convergence)
    for name in COUNTERS:
        np.testing.assert_allclose(found.counters[name], truth.per_iteration()[name], err_msg=name)
    np.testing.assert_allclose(found.whole_work, found.work)


GRAPHS = ["rmat:scale=13,edge_factor=8,seed=3", "path:n=2500", "barabasi-albert:n=9000,m=3,seed=6"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", GRAPHS)
def test_components_take_exactly_as_long_as_predicted(name, seed):
    graph = check_graph(name, directed=False)
    job = ConnectedComponents(max_iterations=10_000)
    found = estimate(graph, job, seed=seed)
    assert found.iterations == LocalEngine().run(job, graph).iterations


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_series_and_iterations_are_near_the_truth(job):
    graph = read("rmat:scale=14,edge_factor=8,seed=7", job)
    truth = LocalEngine().run(job, graph)
    found = estimate(graph, job, budget=EdgeBudget(graph.edges))
    assert abs(found.iterations - truth.iterations) <= 1
    actual = per_iteration(truth.rows)
    length = min(len(actual), len(found.counters))
    sent = [
        table.floats("local_messages", "remote_messages")[:length]
        for table in (found.counters, actual)
    ]
    assert np.abs(sent[0] - sent[1]).sum() < 0.15 * sent[1].sum()
