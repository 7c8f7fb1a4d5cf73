import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.graph.build import from_edges


def random_graph(seed, n=60, edges=200, directed=True):
    rng = np.random.default_rng(seed)
    return from_edges(
        rng.integers(0, n, edges), rng.integers(0, n, edges), vertices=n, directed=directed
    )


def scale_free_graph(n, seed=1):
    edges = np.array(list(nx.scale_free_graph(n, seed=seed).edges(keys=False)))
    return from_edges(edges[:, 0], edges[:, 1], vertices=n)


def reference(graph, damping, spread, threshold, limit=500):
    """Equation 1, word by word: slow and obvious."""
    n = graph.vertices
    rank = np.full(n, 1 / n)
    aggregates = []
    while len(aggregates) < limit:
        updated = np.full(n, (1 - damping) / n)
        for v in range(n):
            out = graph.neighbors(v)
            for w in out:
                updated[w] += damping * rank[v] / len(out)
            if len(out) == 0 and spread:
                updated += damping * rank[v] / n
        aggregates.append(np.abs(updated - rank).sum() / n)
        rank = updated
        if aggregates[-1] < threshold:
            break
    return rank, np.array(aggregates)


SMALL = {
    "random": random_graph(3),
    "undirected": random_graph(4, directed=False),
    "self-loops": from_edges(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), vertices=3),
    "isolated vertices": from_edges(np.array([0, 1]), np.array([1, 0]), vertices=6),
    "one vertex": from_edges(np.array([], int), np.array([], int), vertices=1),
    "one vertex and its loop": from_edges(np.array([0]), np.array([0]), vertices=1),
    "no edges": from_edges(np.array([], int), np.array([], int), vertices=5),
    "path": from_edges(np.arange(9), np.arange(1, 10), vertices=10),
    "star in": from_edges(np.arange(1, 30), np.zeros(29, int), vertices=30),
    "star out": from_edges(np.zeros(29, int), np.arange(1, 30), vertices=30),
}


@pytest.mark.parametrize("dangling", ["uniform", "drop"])
@pytest.mark.parametrize("name", SMALL)
def test_iterations_aggregates_and_ranks_are_those_of_equation_1(name, dangling):
    graph = SMALL[name]
    algorithm = PageRank(epsilon=1e-4, damping=0.8, dangling=dangling)
    profile = LocalEngine().run(algorithm, graph)
    rank, aggregates = reference(
        graph, 0.8, dangling == "uniform", algorithm.threshold(graph.vertices)
    )
    assert profile.iterations == len(aggregates)
    assert profile.converged
    np.testing.assert_allclose(profile.convergence, aggregates, rtol=1e-9, atol=1e-17)
    np.testing.assert_allclose(profile.values, rank, rtol=1e-12)


def test_ranks_of_an_acyclic_graph_change_for_its_depth_plus_one_iterations():
    # Section 1 of PREDIcT; a path of 10 vertices has D = 9. One more iteration sees no change.
    profile = LocalEngine().run(PageRank(dangling="drop"), SMALL["path"], threshold=1e-300)
    assert np.count_nonzero(profile.convergence) == 10
    assert profile.iterations == 11


@pytest.mark.parametrize("directed", [True, False])
def test_ranks_are_those_of_networkx_and_igraph(directed):
    igraph = pytest.importorskip("igraph")
    graph = random_graph(5, n=400, edges=2_000, directed=directed)
    ranks = LocalEngine().run(PageRank(tolerance=1e-15), graph).values
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    pairs = np.column_stack([rows, graph.indices])
    of_networkx = nx.DiGraph()
    of_networkx.add_nodes_from(range(graph.vertices))
    of_networkx.add_edges_from(pairs.tolist())
    expected = nx.pagerank(of_networkx, tol=1e-14, max_iter=1_000)
    np.testing.assert_allclose(ranks, [expected[v] for v in range(graph.vertices)], atol=1e-9)
    of_igraph = igraph.Graph(n=graph.vertices, edges=pairs.tolist(), directed=True)
    np.testing.assert_allclose(ranks, of_igraph.pagerank(damping=0.85), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), n=st.integers(1, 30), damping=st.floats(0.05, 0.95))
def test_ranks_sum_to_one_when_dangling_rank_is_spread(data, n, damping):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=90))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    graph = from_edges(edges[:, 0], edges[:, 1], vertices=n)
    profile = LocalEngine().run(PageRank(damping=damping), graph)
    assert profile.values.sum() == pytest.approx(1.0, abs=1e-12)
    assert profile.values.min() >= (1 - damping) / n * (1 - 1e-12)
    dropped = LocalEngine().run(PageRank(damping=damping, dangling="drop"), graph)
    assert dropped.values.sum() <= 1.0 + 1e-12
