"""What comes in at vertices, found without the reverse of the graph, is what the reverse says."""

import numpy as np
import pytest

from predict_graph.graph import Graph, check_graph
from predict_graph.graph.degrees import counted_degrees, degree_facts
from predict_graph.graph.inbound import inbound_rows, inbound_shares

GRAPHS = ["star:n=5", "rmat:scale=10,edge_factor=8,seed=1", "rmat:scale=18,edge_factor=16,seed=1"]


def both_ways(text, **options):
    graph = check_graph(text, directed=True, **options)
    return graph, graph.fresh().reverse


def unordered():
    return Graph(np.array([0, 3, 4, 4]), np.array([2, 0, 2, 1], np.int32))


@pytest.mark.parametrize("text", GRAPHS)
def test_degrees_and_shares_are_those_of_the_reverse(text):
    graph, reverse = both_ways(text)
    assert np.array_equal(graph.in_degrees, reverse.out_degrees)
    found = inbound_shares(graph)
    assert np.array_equal(found[:, 1], reverse.out_degrees)
    parts = 1.0 / np.maximum(graph.out_degrees, 1)
    expected = np.bincount(
        np.repeat(np.arange(graph.vertices), reverse.out_degrees),
        parts[reverse.indices],
        graph.vertices,
    )
    assert np.array_equal(found[:, 0], expected)  # added up in the same order
    assert "reverse" not in vars(graph)


def test_in_degrees_come_with_the_shares(monkeypatch):
    graph, reverse = both_ways(GRAPHS[1])
    inbound_shares(graph)
    monkeypatch.setattr("predict_graph.graph.row_kernels.counted_targets", None)  # no other pass
    assert np.array_equal(graph.in_degrees, reverse.out_degrees)


def test_rows_in_any_order_are_counted():
    assert not unordered().ascending
    assert unordered().in_degrees.tolist() == [1, 1, 2]
    assert inbound_shares(unordered())[:, 0].tolist() == pytest.approx([1 / 3, 1.0, 2 / 3])


@pytest.mark.parametrize("text", GRAPHS)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_rows_of_some_vertices_are_those_of_the_reverse(text, share):
    graph, reverse = both_ways(text)
    some = np.flatnonzero(np.random.default_rng(1).random(graph.vertices) < share)
    found = inbound_rows(graph, some)
    assert "reverse" not in vars(graph)
    _ = graph.reverse
    for one, other in zip(found, inbound_rows(graph, some), strict=True):
        assert np.array_equal(one, other)
    expected = [reverse.neighbors(v) for v in some]
    assert np.array_equal(found[1], np.concatenate([found[1][:0], *expected]))


@pytest.mark.parametrize("directed", [False, True])
def test_degrees_are_told_in_one_pass(directed):
    graph = check_graph("rmat:scale=9,edge_factor=1,seed=3", directed=directed)
    degrees = graph.out_degrees + (graph.reverse.out_degrees if directed else 0)
    facts = degree_facts(graph.fresh())
    assert facts.mean == pytest.approx(degrees.mean())
    assert facts.largest == degrees.max()
    neighbours = [set(graph.neighbors(v)) | set(graph.reverse.neighbors(v)) for v in range(512)]
    dust = sum(
        degrees[v] == 0 or (degrees[v] == 1 and all(degrees[w] == 1 and w != v for w in own))
        for v, own in enumerate(neighbours)
    )
    assert facts.dust == pytest.approx(dust / 512)
    found, counts = counted_degrees(graph.in_degrees)
    assert np.array_equal(np.repeat(found, counts), np.sort(graph.in_degrees))
