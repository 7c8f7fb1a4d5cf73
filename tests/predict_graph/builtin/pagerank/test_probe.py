import numpy as np
import pytest

from predict_graph.builtin.pagerank import local as pagerank
from predict_graph.builtin.pagerank import probe
from predict_graph.builtin.pagerank.probe import probe_cost
from predict_graph.engines.local.team import Team
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.build import from_edges


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    n = 40_000
    return from_edges(rng.integers(0, n, 10 * n), rng.integers(0, n, 10 * n), vertices=n)


def whole_repeats(table):
    """Sum the two pieces of each repeat."""
    frame = table.frame()
    return frame.groupby(frame.index // 2).sum()


def test_each_repeat_takes_other_rows_and_all_its_edges(graph, monkeypatch):
    monkeypatch.setattr(probe, "_LEAST_WORK", 1_000)
    taken = probe_cost(graph, fraction=0.1, repeats=3, random_state=1)
    table = taken.table
    assert len(table) == 6  # a short and a long piece of each repeat
    repeats = whole_repeats(table)
    assert repeats["active_vertices"].between(0.08 * graph.vertices, 0.12 * graph.vertices).all()
    assert repeats["messages"].between(0.08 * graph.edges, 0.12 * graph.edges).all()
    assert (table["message_bytes"] == 16 * table["messages"]).all()
    assert (table["working_set_bytes"] == 8 * graph.vertices).all()
    assert (table["seconds"] > 0).all()
    assert taken.overhead_seconds > table["seconds"].sum()
    again = probe_cost(graph, fraction=0.1, repeats=3, random_state=1)
    assert again.table["messages"].tolist() == table["messages"].tolist()
    other = probe_cost(graph, fraction=0.1, repeats=3, random_state=2)
    assert other.table["messages"].tolist() != table["messages"].tolist()


def test_a_small_graph_is_probed_whole(graph):
    taken = probe_cost(graph, fraction=0.02, repeats=2, random_state=1)
    repeats = whole_repeats(taken.table)
    assert (repeats["messages"] == graph.edges).all()
    assert (repeats["active_vertices"] == graph.vertices).all()


def test_what_a_superstep_takes_on_top_is_no_cost_of_edges():
    edges = np.array([100.0, 300.0] * 3)
    per_edge, launch = probe._slope(edges, 50.0 + 2.0 * edges, 1.0)
    assert per_edge == pytest.approx(2.0)
    assert launch == pytest.approx(50.0)


def test_the_rows_of_a_probe_are_computed_as_in_a_real_superstep(graph):
    algorithm = probe.PageRank()
    whole = pagerank.PageRankKernel(algorithm, graph)
    part = probe._Probe(graph, algorithm, 1.0, 1, np.random.default_rng(0), Team())
    whole.step()
    part.measure()
    base = (1 - algorithm.damping + algorithm.damping * (graph.out_degrees == 0).mean()) / len(
        whole.values
    )
    np.testing.assert_allclose(part._rank + base, whole.values, rtol=1e-12)


def test_costs_are_finite_and_predict_an_iteration(graph):
    taken = probe_cost(graph, random_state=0, threads=1)
    assert taken.seconds_per_edge >= 0
    assert taken.seconds_per_vertex >= 0
    assert taken.seconds_per_superstep > 0
    twice = taken.iteration_seconds(2 * graph.vertices, 2 * graph.edges)
    once = taken.iteration_seconds(graph.vertices, graph.edges)
    assert twice == pytest.approx(2 * once - taken.seconds_per_superstep)


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129])
def test_the_smallest_graphs_can_be_probed(n):
    graph = from_edges(np.zeros(1, int), np.array([n - 1]), vertices=n)
    taken = probe_cost(graph, random_state=0)
    assert (whole_repeats(taken.table)["messages"] == 1).all()
    assert np.isfinite(taken.iteration_seconds(n, 1))


def test_wrong_requests_are_named(graph):
    for arguments, text in [
        ({"fraction": 0.0}, "fraction is 0.0"),
        ({"fraction": 1.5}, "fraction is 1.5"),
        ({"repeats": 0}, "repeats is 0"),
    ]:
        with pytest.raises(RequestError, match=text):
            probe_cost(graph, **arguments)
    empty = Graph(np.array([0]), np.array([], dtype=np.int32))
    with pytest.raises(RequestError, match="no vertices"):
        probe_cost(empty)
