"""Sample runs in one session, as far as the budget goes."""

import pytest

import predict_graph
from predict_graph.prediction.seconds.cluster.quote import Quote

pytestmark = pytest.mark.spark

GRAPH = "rmat:scale=12,edge_factor=8,seed=3"


def test_one_session_where_the_budget_affords_no_more(local_spark, tmp_path, monkeypatch):
    # The whole plan is never affordable, one session is.
    monkeypatch.setattr(Quote, "plan_seconds", lambda self, points: 1e6)
    options = {"engine": local_spark, "history": str(tmp_path / "history.sqlite"), "seed": 1}
    found = predict_graph.predict("pagerank", GRAPH, **options, budget=600)
    ran = [sample.note for sample in found.samples if sample.purpose == "cost"]
    assert {note.split()[0] for note in ran} == {"2"}
    assert len([note for note in ran if "cold" in note]) == 1 < len(ran)
    # What was run is kept, and serves the next prediction, which runs nothing.
    monkeypatch.undo()
    monkeypatch.setattr("predict_graph.prediction.seconds.cluster.learning._run_samples", None)
    again = predict_graph.predict("pagerank", GRAPH, **options)
    assert again.evidence[0]["source"].startswith("training runs of the cluster")


def test_no_run_is_begun_that_the_budget_does_not_afford(local_spark, tmp_path, monkeypatch):
    monkeypatch.setattr(Quote, "plan_seconds", lambda self, points: 1e6)
    monkeypatch.setattr(Quote, "first_seconds", lambda self, points: 0.0)
    monkeypatch.setattr(Quote, "sample_seconds", lambda self, machines, ratio, cold: 1e6)
    options = {"engine": local_spark, "history": str(tmp_path / "history.sqlite"), "seed": 1}
    found = predict_graph.predict("pagerank", GRAPH, **options, budget=60)
    # A cold run and one to hold it against: two tell a level, and are too few for a model.
    ran = [sample for sample in found.samples if sample.purpose == "cost"]
    assert len(ran) == 2
    assert found.evidence[0]["source"] == "sample runs on the cluster, too few for a model"
    assert found.more
    again = predict_graph.predict("pagerank", GRAPH, **options)
    assert again.evidence[0]["source"] == "training runs of the cluster, too few for a model"
