"""The Metropolis–Hastings walk visits every vertex equally often."""

import networkx as nx
import numpy as np
import pytest

from samplers import MetropolisHastingsRandomWalk, RandomJump, check_csr, reverse_csr
from samplers._random import new_state
from samplers.csr import owned
from samplers.walk import metropolis_step

STEPS = 60_000
EVERY = 15


def visits(graph, step):
    """Count the vertices at every 15th step, far enough apart to be nearly independent."""
    counts = np.zeros(graph.vertices, dtype=np.int64)
    state = new_state(11)
    v = 0
    for i in range(STEPS):
        v = step(v, state)
        if i % EVERY == 0:
            counts[v] += 1
    return counts


def chi_square(counts):
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum()


def metropolis(graph):
    reverse = graph.reverse()

    def step(v, state):
        return metropolis_step(
            graph.indptr,
            graph.indices,
            reverse.indptr,
            reverse.indices,
            graph.directed,
            v,
            state,
        )

    return step


@pytest.fixture(scope="module")
def undirected():
    return check_csr(nx.barabasi_albert_graph(20, 2, seed=5))


@pytest.fixture(scope="module")
def directed():
    graph = nx.DiGraph(nx.barabasi_albert_graph(20, 2, seed=5).edges)
    graph.add_edges_from([(5, 2), (0, 7), (3, 3)])
    return check_csr(graph)


LIMIT = 60  # chi-square with 19 degrees of freedom stays below 43.8 in 99.9% of the cases


def test_stationary_distribution_is_uniform(undirected):
    assert chi_square(visits(undirected, metropolis(undirected))) < LIMIT


def test_stationary_distribution_is_uniform_on_a_directed_graph(directed):
    assert chi_square(visits(directed, metropolis(directed))) < LIMIT


def test_refused_moves_stay():
    # From a leaf of a star the hub is accepted with probability 1/9.
    star = check_csr(nx.star_graph(9))
    step = metropolis(star)
    state = new_state(2)
    moves = sum(step(1, state) != 1 for _ in range(9000))
    assert abs(moves - 1000) < 4 * np.sqrt(9000 * (1 / 9) * (8 / 9))
    assert all(step(0, state) != 0 for _ in range(100))


def test_the_sample_is_less_biased_than_that_of_a_plain_walk():
    # Visits are uniform; distinct vertices keep some bias, because a walk dwells at low degrees.
    graph = check_csr(nx.barabasi_albert_graph(3000, 4, seed=2))
    degrees = np.diff(graph.indptr)

    def excess(sampler):
        samples = [sampler.sample(graph, 0.1, seed) for seed in range(10)]
        return np.mean([degrees[s.vertices].mean() for s in samples]) / degrees.mean() - 1

    assert excess(MetropolisHastingsRandomWalk(restart=0)) < 0.4 * excess(RandomJump(restart=0))


def test_restart_rate():
    graph = check_csr(nx.barabasi_albert_graph(3000, 4, seed=2))
    samples = [MetropolisHastingsRandomWalk().sample(graph, 0.5, seed) for seed in range(5)]
    steps = sum(sample.steps for sample in samples)
    restarts = sum(sample.restarts for sample in samples)
    assert abs(restarts - 0.15 * steps) < 4 * np.sqrt(steps * 0.15 * 0.85)


def test_edges_are_walked_both_ways():
    path = nx.DiGraph([(v, v + 1) for v in range(9)])
    sampler = MetropolisHastingsRandomWalk(restart=0)
    for seed in range(5):
        sample = sampler.sample(path, 1.0, seed)
        assert sample.unreached == 0
        assert sample.dead_ends == 0


def test_reverse_given_built_or_taken_from_the_graph(directed):
    reverse = owned(*reverse_csr(directed.indptr, directed.indices), directed=True)

    class WithReverse:
        indptr, indices, shape = directed.indptr, directed.indices, directed.shape
        asked = 0

        @property
        def reverse(self):
            self.asked += 1
            return reverse

    graph = WithReverse()
    built = MetropolisHastingsRandomWalk().sample(directed, 0.5, 1)
    given = MetropolisHastingsRandomWalk().sample(directed, 0.5, 1, reverse=reverse)
    taken = MetropolisHastingsRandomWalk().sample(graph, 0.5, 1)
    np.testing.assert_array_equal(built.vertices, given.vertices)
    np.testing.assert_array_equal(built.vertices, taken.vertices)
    assert graph.asked > 0


def test_a_reverse_of_another_graph(directed):
    with pytest.raises(ValueError, match="the reverse has 4 vertices and 8 edges"):
        MetropolisHastingsRandomWalk().sample(directed, 0.5, reverse=nx.cycle_graph(4))
