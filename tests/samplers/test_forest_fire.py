"""Forest fires burn along edges."""

import networkx as nx
import numpy as np
import pytest

from samplers import ForestFire, UniformVertices, check_csr


@pytest.fixture(scope="module")
def graph():
    return check_csr(nx.barabasi_albert_graph(2000, 6, seed=2).to_directed())


def lit(graph, vertices):
    """Count the vertices that no earlier one points to: each must have had a fire of its own."""
    reachable = np.zeros(graph.vertices, dtype=bool)
    count = 0
    for v in vertices:
        count += not reachable[v]
        reachable[graph.indices[graph.indptr[v] : graph.indptr[v + 1]]] = True
    return count


def test_fires_spread_along_edges(graph):
    sample = ForestFire().sample(graph, 0.2, 1)
    assert lit(graph, sample.vertices) <= sample.restarts + 1
    assert sample.restarts < 0.2 * len(sample)


def test_without_burning_every_vertex_is_lit(graph):
    sample = ForestFire(burning=0).sample(graph, 0.2, 1)
    assert sample.restarts == len(sample) - 1


@pytest.mark.parametrize("burning", [0.2, 0.5, 0.7])
def test_mean_spread_from_the_centre_of_a_large_star(burning):
    # The centre is found first or lit by no one else: what it burns is geometric.
    spread = []
    star = check_csr(nx.DiGraph([(0, v) for v in range(1, 400)]))
    for seed in range(4000):
        sample = ForestFire(burning=burning).sample(star, 60 / 400, seed)
        fires = sample.restarts + 1
        if 0 in sample.vertices[:20]:
            spread.append(len(sample) - fires)
    mean, variance = burning / (1 - burning), burning / (1 - burning) ** 2
    assert len(spread) > 100
    assert abs(np.mean(spread) - mean) < 4 * np.sqrt(variance / len(spread))


def test_burnt_neighbours_are_chosen_uniformly():
    star = check_csr(nx.DiGraph([(0, v) for v in range(1, 9)]))
    counts = np.zeros(9)
    for seed in range(6000):
        vertices = ForestFire().sample(star, 2 / 9, seed).vertices
        if vertices[0] == 0:
            counts[vertices[1]] += 1
    expected = counts.sum() / 8
    assert counts[0] == 0
    assert ((counts[1:] - expected) ** 2 / expected).sum() < 24.3  # 7 degrees of freedom, 0.001


def test_uniform_vertices_are_uniform():
    graph = check_csr(nx.star_graph(9))
    counts = np.zeros(10)
    for seed in range(3000):
        counts[UniformVertices().sample(graph, 0.3, seed).vertices] += 1
    assert counts.sum() == 9000
    # Drawing without replacement lowers the variance, by 7/9.
    assert ((counts - 900) ** 2 / 900).sum() < 27.9
