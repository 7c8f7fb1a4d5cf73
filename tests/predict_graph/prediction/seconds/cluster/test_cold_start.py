"""A cluster of which nothing is known: an answer at once."""

from functools import cache

import pytest

import predict_graph
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.prediction.following import expected_before
from predict_graph.prediction.request import check_function
from tests.vertex_programs import Labels

pytestmark = pytest.mark.slow

GRAPH = "rmat:scale=12,edge_factor=8,seed=3"
NOBODY = SparkEngine("spark://127.0.0.1:9", 4, memory="1g")


@cache
def predict_unseen(name):
    return predict_graph.predict(name, GRAPH, engine=NOBODY, seed=1)


@pytest.mark.parametrize("name", ["pagerank", "topk-ranking"])
def test_an_answer_without_a_run_on_the_cluster(name):
    found = predict_unseen(name)
    assert found.evidence[0].source == "runs on another cluster"
    assert any("those of runs on another cluster" in said for said in found.warnings)
    assert "of sample runs on the cluster would narrow the interval" in found.more
    assert not [each for each in found.samples if each.purpose == "cost"]
    interval = found.runtime_seconds
    assert interval.high > 3.5 * interval.predicted  # all of it may be off together
    assert found.overhead_seconds < interval.predicted
    assert found.iterations.predicted == predict_graph.run(name, GRAPH).iterations


CLOCKS = [("pagerank", 0.5), ("graphx:connectedComponents", 0.01)]


@pytest.mark.parametrize(("name", "apart"), CLOCKS)
def test_the_clock_of_a_run_starts_from_what_runs_on_another_cluster_took(name, apart):
    """Supersteps of a library are counted by its replay; others are estimated."""
    graph = check_graph(GRAPH)
    expected = expected_before(check_function(name).on(graph), NOBODY, graph, None)
    found = predict_unseen(name)
    assert expected.source == "runs on another cluster"
    each = expected.parts[0].seconds.mean()
    assert each == pytest.approx(found.phases["superstep"] / found.iterations.predicted, rel=apart)
    assert (expected.parts[0].iterations_std == 0.0) is (name != "pagerank")
    assert expected.before == pytest.approx(found.phases["setup"] + found.phases["read"], rel=0.05)
    assert expected.total.high > 3.0 * expected.total.predicted


def test_an_unknown_vertex_program_uses_the_reference_runs_of_vertex_programs():
    found = predict_graph.predict(Labels(), GRAPH, engine=NOBODY, seed=1)
    assert any("uses supersteps of a vertex program" in said for said in found.warnings)
    stds = [each.evidence[0].log_std for each in (found, predict_unseen("pagerank"))]
    assert stds[0] > stds[1] + 0.05


def test_keeping_states_costs_something_where_nothing_ran_yet(tmp_path):
    """The more often, the more; and nothing where no state is kept."""
    written = []
    for interval in (None, 4, 1):
        kept = {"checkpoint": tmp_path, "checkpoint_interval": interval} if interval else {}
        engine = SparkEngine("spark://nowhere:7077", 2, **kept)
        found = predict_graph.predict("pagerank", GRAPH, engine=engine, seed=1)
        written.append(found.phases["write"])
    none, some, every = written
    times = found.iterations.predicted
    assert none == 0.0 < some < every
    assert every / some == pytest.approx(times / -(-times // 4))
