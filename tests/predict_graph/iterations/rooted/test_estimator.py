"""Estimates from rooted samples, and the weighted runs they are made of."""

import numpy as np
import pytest

from predict_graph.algorithms import (
    ConnectedComponents,
    Neighborhood,
    SemiClustering,
    TopKRanking,
)
from predict_graph.engines import COUNTERS, per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import Weighting
from predict_graph.engines.local.observed import observed_run
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.degrees import edge_weights
from predict_graph.iterations import EdgeBudget, SamplingCase
from predict_graph.iterations.rooted import estimate_by_rooted_samples, recipes
from predict_graph.transforms import default_transform

JOBS = [ConnectedComponents(), Neighborhood(), TopKRanking(), SemiClustering()]


def read(name, job):
    return check_graph(name, directed=False if job.undirected else None)


def estimate(graph, job, ratio=0.1, seed=1, budget=None):
    return estimate_by_rooted_samples(
        SamplingCase(
            graph=graph,
            algorithm=job,
            engine=LocalEngine(threads=1),
            transform=default_transform(job.convergence),
            sampler="brj",
            ratio=ratio,
            budget=budget or EdgeBudget(graph.edges, 100.0),
            rng=np.random.default_rng(seed),
            progress=lambda text, fraction: None,
        )
    )


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_whole_graph_as_its_own_sample_runs_as_the_engine_does(job):
    graph = read("rmat:scale=10,edge_factor=6,seed=5", job)
    truth = LocalEngine(workers=1).run(job, graph)
    everyone = Weighting(
        np.arange(graph.vertices),
        np.ones(graph.vertices),
        graph.out_degrees,
        graph.to_scipy().sum(axis=1) - graph.to_scipy().diagonal(),
    )
    found = observed_run(
        job,
        graph,
        everyone,
        threshold=job.threshold(graph.vertices),
        edges=graph.edges,
        workers=1,
        prior=None if truth.prior is None else truth.prior.values,
    )
    np.testing.assert_allclose(found.convergence, truth.convergence)
    assert found.converged == truth.converged
    for name in COUNTERS:
        np.testing.assert_allclose(found.counters[name], truth.per_iteration()[name], err_msg=name)
    assert "seconds" not in found.table
    np.testing.assert_allclose(found.whole_work, found.work)


def test_weights_count_vertices_more_than_once():
    """Two like halves: one of them, counted twice, is the whole."""
    half = check_graph("barabasi-albert:n=300,m=2,seed=1")
    n, m = half.vertices, half.edges
    whole = Graph(
        np.concatenate((half.indptr, half.indptr[1:] + m)),
        np.concatenate((half.indices, half.indices + n)).astype(np.int32),
        directed=False,
    )
    job = ConnectedComponents()
    truth = LocalEngine(workers=1).run(job, whole)
    found = observed_run(
        job,
        half,
        Weighting(np.arange(n), np.full(n, 2.0), half.out_degrees, half.out_degrees.astype(float)),
        threshold=job.threshold(whole.vertices),
        edges=whole.edges,
        workers=1,
    )
    np.testing.assert_allclose(found.convergence, truth.convergence)
    np.testing.assert_allclose(
        found.counters["local_messages"], truth.per_iteration()["local_messages"]
    )


def test_work_at_vertices_does_not_grow_with_edges():
    """A whole graph with the vertices of its sample and ten times the edges: less than tenfold."""
    graph = check_graph("barabasi-albert:n=300,m=2,seed=1")
    everyone = Weighting(
        np.arange(300), np.ones(300), 10 * graph.out_degrees, 10.0 * graph.out_degrees
    )

    def ratio(job):
        found = observed_run(job, graph, everyone, threshold=0.5, edges=10 * graph.edges, workers=1)
        return found.whole_work[0] / found.work[0]

    assert ratio(ConnectedComponents()) == pytest.approx(10.0)
    assert 1.0 < ratio(SemiClustering()) < ratio(Neighborhood()) < 9.0


@pytest.mark.parametrize("job", [JOBS[0], JOBS[1], JOBS[3]], ids=lambda job: job.name)
def test_a_sample_of_everything_is_exact(job):
    graph = read("powerlaw-cluster:n=1500,m=3,p=0.3,seed=2", job)
    truth = LocalEngine().run(job, graph)
    found = estimate(graph, job, ratio=1.0)
    assert found.iterations == truth.iterations
    assert found.low <= truth.iterations <= found.high
    total = found.counters["remote_message_bytes"].sum()
    assert total == pytest.approx(truth.features_total()["remote_message_bytes"], rel=0.01)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "name",
    ["rmat:scale=13,edge_factor=8,seed=3", "path:n=2500", "barabasi-albert:n=9000,m=3,seed=6"],
)
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


def test_a_long_run_gets_a_smaller_sample():
    graph = check_graph("path:n=6000")
    job = ConnectedComponents(max_iterations=100_000)
    short = estimate(graph, job, budget=EdgeBudget(graph.edges, 0.6))
    assert sum(sample.edges for sample in short.samples) / graph.edges <= 1.0
    assert len(short.samples) == 1  # paths of a path are all of it: nothing is left to spend


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_to_others_are_counted_without_reading_rows(weighted):
    indptr, indices = np.array([0, 3, 5, 7, 7]), np.array([0, 1, 2, 0, 1, 0, 3], np.int32)
    weights = np.arange(1.0, 8.0, dtype=np.float32) if weighted else None
    graph = Graph(indptr, indices, weights)
    expected = [2.0 + 3.0, 4.0, 6.0 + 7.0, 0.0] if weighted else [2.0, 1.0, 2.0, 0.0]
    assert edge_weights(graph, np.arange(4)).tolist() == expected
    backward = Graph(np.array([0, 3, 3, 3]), np.array([2, 0, 1], np.int32))  # in no order
    assert edge_weights(backward, np.arange(3)).tolist() == [2.0, 0.0, 0.0]


def test_a_large_graph_has_no_more_hubs_than_can_be_joined(monkeypatch):
    graph = check_graph("rmat:scale=14,edge_factor=4,seed=1", directed=False)
    assert len(recipes.hubs(graph)) == graph.vertices // 1000
    monkeypatch.setattr(recipes, "_MOST_HUBS", 5)
    assert recipes.hubs(graph).tolist() == recipes.largest(graph.out_degrees, 5).tolist()
