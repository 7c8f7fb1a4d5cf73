"""Sample runs on a cluster that the budget affords, and an answer at once without any."""

import json
from functools import cache
from types import SimpleNamespace

import pytest

import predict_graph
from predict_graph.algorithms import PageRank
from predict_graph.budget import Budget, Spending
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError
from predict_graph.graph import check_graph
from predict_graph.prediction.following import expected_before
from predict_graph.prediction.request import check_function, check_request
from predict_graph.prediction.seconds.cluster.runtime_model import ClusterRuntimeModel
from predict_graph.sizing import plan
from predict_graph.sizing.planning.predicted import read_job_model
from tests.vertex_programs import Labels

GRAPH = "rmat:scale=12,edge_factor=8,seed=3"
NOBODY = SparkEngine("spark://127.0.0.1:9", 4, memory="1g")


RATIOS = [
    (2_000_000, {}, [0.2, 0.2, 0.05]),
    (100_000_000, {}, [0.01, 0.01, 0.0025]),
    (400_000, {}, [0.5, 0.5, 0.125]),
    (100_000, {"train_ratios": [0.1, 0.3, 0.2]}, [0.3, 0.3, 0.1]),
]


@pytest.mark.parametrize(("edges", "options", "ratios"), RATIOS)
def test_the_largest_sample_has_enough_edges_to_measure_and_not_many_more(edges, options, ratios):
    request = check_request(PageRank(), engine=NOBODY, budget="none", **options)
    graph = SimpleNamespace(edges=edges, vertices=edges // 10, fingerprint="x")
    model = ClusterRuntimeModel(graph, request, None, Spending(Budget(), 0.0))
    assert model.ratios == ratios


def test_a_budget_that_affords_sample_runs_needs_the_cluster():
    with pytest.raises(JobError, match=r"no Spark master|already open"):
        predict_graph.predict("pagerank", GRAPH, engine=NOBODY, seed=1, budget="1h")


def test_one_session_where_the_budget_affords_it(local_spark, tmp_path, monkeypatch):
    monkeypatch.setattr(ClusterRuntimeModel, "_expected", lambda *given: (0.0, 0.0))
    options = {"engine": local_spark, "history": str(tmp_path / "history.sqlite"), "seed": 1}
    found = predict_graph.predict("pagerank", GRAPH, **options, budget=600)
    ran = [sample.note for sample in found.samples if sample.purpose == "cost"]
    assert {note.split()[0] for note in ran} == {"2"}
    assert len([note for note in ran if "cold" in note]) == 1
    assert len(ran) == 3
    assert found.evidence[0].source == "sample runs on the cluster"
    # What was run is kept, and serves the next prediction, which runs nothing.
    monkeypatch.setattr(ClusterRuntimeModel, "_run_samples", None)
    again = predict_graph.predict("pagerank", GRAPH, **options)
    assert again.evidence[0].source == "training runs of the cluster"


def test_a_prediction_can_be_planned_with(tmp_path):
    file = tmp_path / "prediction.json"
    rows = [
        {"machines": m, "predicted": 100 / m + 10 * m, "low": 80 / m, "high": 130 / m + 13 * m}
        for m in (1, 2, 4, 8)
    ]
    found = {"by_machines": rows, "cost_model": {"machines": [1, 2]}, "warnings": ["a doubt"]}
    file.write_text(json.dumps(found))
    job = read_job_model(file, None, None)
    assert job.seconds(1.0, [2.0, 4.0]) == pytest.approx([70.0, 65.0])
    low, high = job.bounds(1.0, [2.0], 0.95)
    assert high[0] == pytest.approx(91.0)
    assert low[0] < 70.0
    made = plan([job], [1, 2, 3, 4], deadline=100.0)
    assert made.choice.configuration.machines == 2
    assert any("a doubt" in text for text in made.warnings)


@cache
def predict_unseen(name):
    return predict_graph.predict(name, GRAPH, engine=NOBODY, seed=1)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_unknown_vertex_program_uses_the_reference_runs_of_vertex_programs():
    found = predict_graph.predict(Labels(), GRAPH, engine=NOBODY, seed=1)
    assert any("uses supersteps of a vertex program" in said for said in found.warnings)
    stds = [each.evidence[0].log_std for each in (found, predict_unseen("pagerank"))]
    assert stds[0] > stds[1] + 0.05


@pytest.mark.slow
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
