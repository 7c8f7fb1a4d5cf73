import numpy as np
import pytest

from predict_graph.algorithms import PageRank
from predict_graph.builtin.pagerank import probe
from predict_graph.builtin.pagerank.local import PageRankKernel
from predict_graph.engines.local.team import Team
from predict_graph.graph.build import from_edges


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    n = 40_000
    return from_edges(rng.integers(0, n, 10 * n), rng.integers(0, n, 10 * n), vertices=n)


def probed(graph, seed=1):
    return probe.probe_pagerank(PageRank(), graph, 1, 1, np.random.default_rng(seed))


def test_each_repeat_takes_other_rows_and_all_its_edges(graph, monkeypatch):
    monkeypatch.setattr(probe, "_LEAST_WORK", 1_000)
    monkeypatch.setattr(probe, "_FRACTION", 0.1)
    rows = probed(graph).rows
    assert len(rows) == 3
    for counter, whole in (("active_vertices", graph.vertices), ("local_messages", graph.edges)):
        assert rows[counter] / whole == pytest.approx(0.1, abs=0.02)
    assert (rows["local_message_bytes"] == 16 * rows["local_messages"]).all()
    assert (rows["working_set_bytes"] == 8 * graph.vertices).all()
    assert (rows["seconds"] > 0).all()
    assert probed(graph).rows["local_messages"].tolist() == rows["local_messages"].tolist()
    assert probed(graph, 2).rows["local_messages"].tolist() != rows["local_messages"].tolist()


def test_the_rows_of_a_probe_are_computed_as_in_a_real_superstep(graph):
    algorithm = PageRank()
    whole = PageRankKernel(algorithm, graph)
    part = probe.PartialRun(algorithm, graph, Team(), np.random.default_rng(0))
    whole.step()
    part.measure()
    base = (1 - algorithm.damping + algorithm.damping * (graph.out_degrees == 0).mean()) / len(
        whole.values
    )
    np.testing.assert_allclose(part.rank + base, whole.values, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129])
def test_the_smallest_graphs_can_be_probed_whole(n):
    graph = from_edges(np.zeros(1, int), np.array([n - 1]), vertices=n)
    found = probed(graph)
    assert (found.rows["local_messages"] == 1).all()
    assert (found.rows["active_vertices"] == n).all()
    assert found.seconds > 0
