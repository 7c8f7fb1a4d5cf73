"""What each sampler does in its own way: where walks start and lead."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

import samplers
from samplers.splitmix import new_state
from samplers.walk import metropolis_step

WALKS = [samplers.RandomJump, samplers.BiasedRandomJump, samplers.RandomWalkWithRestart]


CONNECTED = samplers.check_csr(nx.barabasi_albert_graph(2000, 4, seed=2))


MATRIX = sparse.random_array((3000, 3000), density=0.0015, rng=4, format="csr")
DIRECTED = samplers.check_csr(MATRIX)


@pytest.mark.parametrize("walk", WALKS)
def test_without_restarts_a_ring_is_walked_round(walk):
    ring = SimpleNamespace(indptr=np.arange(51), indices=(np.arange(50) + 1) % 50, shape=(50, 50))
    sample = walk(restart=0).sample(ring, 1.0, 9)
    np.testing.assert_array_equal(np.diff(sample.vertices) % 50, np.ones(49))
    assert (sample.steps, sample.restarts, sample.dead_ends, sample.unreached) == (49, 0, 0, 0)


def newcomers(graph, vertices):
    """Return the sampled vertices that no earlier vertex of the sample points to."""
    reachable = np.zeros(graph.vertices, dtype=bool)
    strangers = []
    for v in vertices:
        if not reachable[v]:
            strangers.append(int(v))
        reachable[graph.indices[graph.indptr[v] : graph.indptr[v + 1]]] = True
    return strangers


@pytest.mark.parametrize("walk", WALKS)
def test_walks_follow_edges(walk):
    for seed in range(3):
        sample = walk().sample(DIRECTED, 0.3, seed)
        strangers = newcomers(DIRECTED, sample.vertices)
        allowed = 1 + sample.restarts + sample.dead_ends + sample.unreached
        if walk is samplers.BiasedRandomJump:
            seeds = set(walk().seeds(DIRECTED).tolist())
            strangers = [v for v in strangers if v not in seeds]
            allowed = sample.unreached
        elif walk is samplers.RandomWalkWithRestart:
            allowed = 1 + sample.unreached
        assert len(strangers) <= allowed
        # Uniform vertices would be strangers much more often than this.
        assert len(strangers) < 0.5 * len(sample)


@pytest.mark.parametrize("walk", [*WALKS, samplers.MetropolisHastingsRandomWalk])
@pytest.mark.parametrize("restart", [0.15, 0.5])
def test_restart_rate(walk, restart):
    samples = [walk(restart=restart).sample(CONNECTED, 0.5, seed) for seed in range(10)]
    steps, restarts = (sum(getattr(s, each) for s in samples) for each in ("steps", "restarts"))
    assert steps > 10_000
    assert sum(sample.dead_ends for sample in samples) == 0
    assert abs(restarts - restart * steps) < 4 * np.sqrt(steps * restart * (1 - restart))


@pytest.mark.parametrize("fraction", [0.001, 0.01, 0.037, 0.5, 1.0])
@pytest.mark.parametrize("largest", [1, 3, 4095, 4096, 70_000])
def test_seeds_are_the_highest_out_degrees_ties_to_the_lower_id(fraction, largest):
    degrees = np.random.default_rng(largest).integers(0, largest + 1, 400)
    indptr, indices = np.concatenate([[0], np.cumsum(degrees)]), np.zeros(degrees.sum(), np.int32)
    graph = SimpleNamespace(indptr=indptr, indices=indices, shape=(400, 400))
    expected = np.sort(np.lexsort((np.arange(400), -degrees))[: max(1, round(fraction * 400))])
    found = samplers.BiasedRandomJump(seed_fraction=fraction).seeds(graph)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("both", [True, False])
def test_stationary_distribution_of_metropolis_is_uniform(both):
    graph = nx.barabasi_albert_graph(20, 2, seed=5)
    if not both:
        graph = nx.DiGraph([*graph.edges, (5, 2), (0, 7), (3, 3)])
    rows, state, v = samplers.check_csr(graph), new_state(11), 0
    arrays = [(each.indptr, each.indices) for each in (rows, rows.reverse())]
    counts = np.zeros(20, dtype=np.int64)
    for i in range(60_000):
        v = metropolis_step(*arrays, rows.directed, v, state)
        counts[v] += i % 15 == 0  # far enough apart to be nearly independent
    # With 19 degrees of freedom it stays below 43.8 in 99.9% of the cases.
    assert chisquare(counts).statistic < 60


def test_the_reverse_is_built_or_taken_from_the_graph_if_it_fits():
    def sample():
        return samplers.MetropolisHastingsRandomWalk().sample(graph, 0.5, 1).vertices

    reverse = samplers.reverse_csr(DIRECTED.indptr, DIRECTED.indices)
    graph = SimpleNamespace(indptr=DIRECTED.indptr, indices=DIRECTED.indices, shape=DIRECTED.shape)
    built = sample()
    graph.reverse = SimpleNamespace(indptr=reverse[0], indices=reverse[1], shape=graph.shape)
    np.testing.assert_array_equal(sample(), built)
    assert np.shares_memory(samplers.check_csr(graph).reverse().indices, reverse[1])
    graph.reverse = samplers.check_csr(nx.cycle_graph(4))
    np.testing.assert_array_equal(sample(), built)


def test_uniform_vertices_are_uniform():
    star = samplers.check_csr(nx.star_graph(9))
    drawn = [samplers.UniformVertices().sample(star, 0.3, seed).vertices for seed in range(3000)]
    assert chisquare(np.bincount(np.concatenate(drawn), minlength=10)).statistic < 27.9
