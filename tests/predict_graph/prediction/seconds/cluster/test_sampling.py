"""Sample runs on a cluster: which, how many, and none that the budget does not afford."""

import json
from types import SimpleNamespace

import pytest

import predict_graph
from predict_graph.algorithms import PageRank
from predict_graph.budget import Budget, Spending
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError
from predict_graph.prediction.request import check_request
from predict_graph.prediction.seconds.cluster.runtime_model import ClusterRuntimeModel
from predict_graph.sizing import plan
from predict_graph.sizing.planning.predicted import read_job_model

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
