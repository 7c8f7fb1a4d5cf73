"""Random Jump, Biased Random Jump and random walk with restart."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from samplers import BiasedRandomJump, RandomJump, RandomWalkWithRestart, check_csr

WALKS = [RandomJump, BiasedRandomJump, RandomWalkWithRestart]


@pytest.fixture(scope="module")
def connected():
    return check_csr(nx.barabasi_albert_graph(2000, 4, seed=2))


@pytest.fixture(scope="module")
def directed():
    matrix = sparse.random_array((3000, 3000), density=0.0015, rng=4, format="csr")
    return check_csr(matrix)


def ring(n):
    return SimpleNamespace(indptr=np.arange(n + 1), indices=(np.arange(n) + 1) % n, shape=(n, n))


@pytest.mark.parametrize("walk", WALKS)
def test_without_restarts_a_ring_is_walked_round(walk):
    sample = walk(restart=0).sample(ring(50), 1.0, 9)
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
@pytest.mark.parametrize("seed", range(3))
def test_walks_follow_edges(walk, seed, directed):
    sample = walk().sample(directed, 0.3, seed)
    strangers = newcomers(directed, sample.vertices)
    if walk is RandomJump:
        allowed = 1 + sample.restarts + sample.dead_ends + sample.unreached
    elif walk is BiasedRandomJump:
        seeds = set(walk().seeds(directed).tolist())
        strangers = [v for v in strangers if v not in seeds]
        allowed = sample.unreached
    else:
        allowed = 1 + sample.unreached
    assert len(strangers) <= allowed
    # Uniform vertices would be strangers much more often than this.
    assert len(strangers) < 0.5 * len(sample)


def test_random_walk_with_restart_has_one_start(connected):
    sample = RandomWalkWithRestart().sample(connected, 0.2, 1)
    assert sample.unreached == 0
    assert newcomers(connected, sample.vertices) == [int(sample.vertices[0])]


def test_the_start_can_be_given(connected):
    sample = RandomWalkWithRestart(start=17).sample(connected, 0.1, 1)
    assert sample.vertices[0] == 17
    for wrong in (-1, 2000, 0.5, True, "a"):
        with pytest.raises(ValueError, match=r"start is .*a vertex from 0 to 1999"):
            RandomWalkWithRestart(start=wrong).sample(connected, 0.1, 1)


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("restart", [0.15, 0.5])
def test_restart_rate(walk, restart, connected):
    steps = restarts = 0
    for seed in range(10):
        sample = walk(restart=restart).sample(connected, 0.5, seed)
        steps += sample.steps
        restarts += sample.restarts
        assert sample.dead_ends == 0
    deviation = (restarts - restart * steps) / np.sqrt(steps * restart * (1 - restart))
    assert steps > 10_000
    assert abs(deviation) < 4


def expected_seeds(degrees, k):
    order = np.lexsort((np.arange(len(degrees)), -degrees))
    return np.sort(order[:k])


@pytest.mark.parametrize("fraction", [0.001, 0.01, 0.037, 0.5, 1.0])
@pytest.mark.parametrize("largest", [1, 3, 4095, 4096, 70_000])
def test_seeds_are_the_highest_out_degrees_ties_to_the_lower_id(fraction, largest):
    degrees = np.random.default_rng(largest).integers(0, largest + 1, 400)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    graph = SimpleNamespace(
        indptr=indptr, indices=np.zeros(indptr[-1], dtype=np.int32), shape=(400, 400)
    )
    seeds = BiasedRandomJump(seed_fraction=fraction).seeds(graph)
    np.testing.assert_array_equal(seeds, expected_seeds(degrees, max(1, round(fraction * 400))))


def test_biased_jump_starts_only_at_seeds(directed):
    sampler = BiasedRandomJump(restart=1.0, seed_fraction=0.02)
    seeds = sampler.seeds(directed)
    sample = sampler.sample(directed, 0.02, 3)
    np.testing.assert_array_equal(np.sort(sample.vertices), seeds)
    starts = [
        int(BiasedRandomJump(seed_fraction=0.02).sample(directed, 1e-9, seed).vertices[0])
        for seed in range(300)
    ]
    assert set(starts) <= set(seeds.tolist())
    assert len(set(starts)) > 50


def test_first_vertices_of_random_jump_are_uniform(directed):
    starts = [RandomJump().sample(directed, 1e-9, seed).vertices[0] for seed in range(2000)]
    counts, _ = np.histogram(starts, bins=10, range=(0, 3000))
    assert ((counts - 200) ** 2 / 200).sum() < 27.9  # chi-square, 9 degrees of freedom, p = 0.001


def test_biased_jump_prefers_the_core(connected):
    degrees = np.diff(connected.indptr)
    biased = BiasedRandomJump().sample(connected, 0.1, 1).vertices
    plain = RandomJump().sample(connected, 0.1, 1).vertices
    assert degrees[biased].mean() > degrees[plain].mean() > degrees.mean()
