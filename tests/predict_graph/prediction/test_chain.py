"""Chains, undirected algorithms, and seconds carried over from a sample run."""

import pytest

import predict_graph
from predict_graph.errors import RequestError

DIRECTED = "rmat:scale=12,edge_factor=8,seed=3"


def test_a_chain_adds_up_and_is_compared_part_by_part():
    found = predict_graph.validate("topk-ranking", DIRECTED, method="rooted", seed=1)
    prediction, first = found.prediction, found.prediction.prior
    assert prediction.method["name"] == "rooted"
    assert abs(found.errors()["features_total"]["remote_message_bytes"]) < 0.25
    assert len(prediction.per_iteration) == prediction.iterations.predicted
    assert first.algorithm["name"] == "pagerank"
    assert prediction.phases["superstep"] > first.phases["superstep"]
    assert prediction.phases["read"] == first.phases["read"]  # the graph is read once
    runtime = prediction.runtime_seconds
    assert runtime.predicted == pytest.approx(sum(prediction.phases.values()))
    assert runtime.low < runtime.predicted < runtime.high
    assert prediction.to_dict()["prior"]["iterations"]["predicted"] > 0
    assert "includes pagerank" in str(prediction)
    assert abs(prediction.iterations.predicted - found.actual.iterations) <= 1
    written = found.to_dict()
    assert written["actual"]["prior"]["iterations"] == found.actual.prior.iterations
    assert abs(written["errors"]["prior"]["iterations"]) < 0.2


def test_each_run_of_a_chain_is_kept_by_itself(history):
    profile = predict_graph.run("topk-ranking", DIRECTED, history=history)
    kept = history.runs()
    assert set(kept["algorithm"]) == {"pagerank", "topk-ranking"}
    spent = kept["seconds"].sum() - profile.phases["read"]
    assert spent == pytest.approx(profile.runtime_seconds, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["connected-components", "semi-clustering"])
def test_directions_are_dropped_where_an_algorithm_has_no_use_for_them(algorithm):
    profile = predict_graph.run(algorithm, DIRECTED)
    assert profile.graph["directed"] is False
    for function in (predict_graph.run, predict_graph.predict, predict_graph.validate):
        with pytest.raises(RequestError, match=f"{algorithm} ignores the direction of edges"):
            function(algorithm, DIRECTED, directed=True)
    prediction = predict_graph.predict(algorithm, DIRECTED, max_overhead=0.6, seed=0)
    assert prediction.graph["fingerprint"] == profile.graph["fingerprint"]
