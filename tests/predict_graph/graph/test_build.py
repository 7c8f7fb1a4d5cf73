"""CSR: the same as scipy's, symmetric when undirected; what comes in, without the reverse."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from predict_graph.graph.csr import inbound_rows, inbound_shares
from tests.refusals import refused


def weighted_edges(n):
    edges = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(1, 9))
    return st.lists(edges, max_size=60)


CASES = st.integers(1, 15).flatmap(lambda n: st.tuples(st.just(n), weighted_edges(n)))


def build(case, *, weighted=False, directed=True):
    n, edges = case
    table = np.array(edges, dtype=np.int64).reshape(-1, 3)
    weights = table[:, 2].astype(float) if weighted else None
    return from_edges(table[:, 0], table[:, 1], vertices=n, weights=weights, directed=directed)


@given(CASES, st.booleans())
def test_undirected_is_symmetric(case, weighted):
    graph = build(case, weighted=weighted, directed=False)
    n, edges = case
    listed = np.zeros((n, n))
    for source, target, weight in edges:
        listed[source, target] += weight
    expected = np.maximum(listed, listed.T)
    assert np.array_equal(graph.to_scipy().toarray(), expected if weighted else expected > 0)
    assert (graph.indices.dtype, graph.indptr.dtype) == (np.int32, np.int64)
    assert graph.logical_edges == np.count_nonzero(np.triu(expected))
    assert graph.edges == np.count_nonzero(expected)
    assert graph.self_loops == np.count_nonzero(np.diag(expected))
    assert graph.reverse is graph
    both = (n, edges + [(t, s, w) for s, t, w in edges])
    assert weighted or build(both, directed=False).fingerprint == graph.fingerprint


@given(CASES, st.booleans())
def test_transpose(case, weighted):
    graph = build(case, weighted=weighted)
    turned = graph.fresh().reverse
    assert np.array_equal(turned.to_scipy().toarray(), graph.to_scipy().toarray().T)
    assert turned.in_degrees.tolist() == graph.out_degrees.tolist()
    assert turned.reverse.fingerprint == graph.fingerprint
    assert graph.reverse.fingerprint == turned.fingerprint


@given(CASES, st.data(), st.booleans(), st.booleans())
def test_induced_subgraph(case, data, weighted, directed):
    graph = build(case, weighted=weighted, directed=directed)
    chosen = data.draw(st.lists(st.integers(0, case[0] - 1), unique=True))
    part = graph.subgraph(chosen)
    expected = graph.to_scipy().toarray()[np.ix_(chosen, chosen)]
    assert np.array_equal(part.to_scipy().toarray(), expected)
    assert part.directed is directed
    assert part.ascending


def test_negative_weights_and_many_duplicates():
    ends, others = np.array([0, 1]), np.array([1, 0])
    negative = from_edges(ends, others, weights=np.array([-3.0, -2.0]), directed=False)
    assert negative.weights.tolist() == [-2, -2]
    assert from_edges(np.zeros(256, int), np.ones(256, int), directed=False).edges == 2


def test_wrong_edges():
    one, pair = np.array([0]), np.array([0, 1])
    refused("differ in length", from_edges, pair, one)
    refused("names the vertex 3; accepted: 0 to 2", from_edges, np.array([0, 3]), pair, vertices=3)
    refused("names the vertex -1", from_edges, np.array([0, -1]), pair)
    refused("differ in length", from_edges, one, one, weights=np.array([1.0, 2.0]))


def test_a_graph_is_immutable_and_its_subgraph_keeps_labels():
    graph = from_edges(np.array([0, 1]), np.array([1, 2]), labels=np.array([10, 20, 30]))
    assert graph.subgraph(np.array([2, 1])).labels.tolist() == [30, 20]
    refused("vertex 0 comes twice", graph.subgraph, [0, 0])
    for each in (graph, copy.deepcopy(graph)):
        with pytest.raises(ValueError, match="read-only"):
            each.indices[0] = 3
    with pytest.raises(AttributeError):
        graph.name = "other"


def test_fingerprint_tells_graphs_apart():
    edges = np.array([0, 1]), np.array([1, 2])
    graphs = [
        from_edges(*edges),
        from_edges(*edges, vertices=4),
        from_edges(*edges, directed=False),
        from_edges(*edges, weights=np.ones(2)),
        from_edges(*edges, weights=np.array([1.0, 2.0])),
        from_edges(edges[0], np.array([1, 1])),
    ]
    assert len({graph.fingerprint for graph in graphs}) == len(graphs)


# What comes in at vertices is what the reverse says.

GRAPHS = ["star:n=5", "rmat:scale=10,edge_factor=8,seed=1", "rmat:scale=18,edge_factor=16,seed=1"]


@pytest.mark.parametrize("text", GRAPHS)
def test_degrees_and_shares_are_those_of_the_reverse(text):
    graph = check_graph(text, directed=True)
    reverse = graph.fresh().reverse
    assert np.array_equal(graph.in_degrees, reverse.out_degrees)
    assert np.array_equal(np.repeat(*graph.in_degree_counts), np.sort(graph.in_degrees))
    found = inbound_shares(graph)
    assert np.array_equal(found[:, 1], reverse.out_degrees)
    parts = 1.0 / np.maximum(graph.out_degrees, 1)
    targets = np.repeat(np.arange(graph.vertices), reverse.out_degrees)
    expected = np.bincount(targets, parts[reverse.indices], graph.vertices)
    assert np.array_equal(found[:, 0], expected)  # added up in the same order
    some = np.flatnonzero(np.random.default_rng(1).random(graph.vertices) < 0.1)
    starts, sources = inbound_rows(graph, some)
    assert np.array_equal(np.diff(starts), reverse.out_degrees[some])
    assert np.array_equal(sources, np.concatenate([sources[:0], *map(reverse.neighbors, some)]))
    assert "reverse" not in vars(graph)


def test_rows_in_any_order_are_counted():
    graph = Graph(np.array([0, 3, 4, 4]), np.array([2, 0, 2, 1], np.int32))
    assert not graph.ascending
    assert graph.in_degrees.tolist() == [1, 1, 2]
    assert check_graph(graph).neighbors(0).tolist() == [0, 2]
    assert Graph(np.zeros(1, np.int64), np.zeros(0, np.int32)).in_degrees.tolist() == []
    assert inbound_shares(graph)[:, 0].tolist() == pytest.approx([1 / 3, 1.0, 2 / 3])
