"""A prediction with sample runs on Spark, and a second one that reuses them."""

import pytest

import predict_graph
from predict_graph.engines.spark import SparkEngine
from predict_graph.history import History

pytestmark = [pytest.mark.spark, pytest.mark.long]

GRAPH = "rmat:scale=10,edge_factor=6,seed=2"

OTHER = "rmat:scale=11,edge_factor=6,seed=8"


def test_predicted_then_run_then_predicted_again_from_the_same_samples(
    spark_here, quick_conf, tmp_path
):
    history = str(tmp_path / "history.sqlite")
    engine = SparkEngine(master="local[2]", workers=2, memory="700m", conf=quick_conf)
    asked = {"engine": engine, "history": history, "seed": 1, "train_ratios": (0.2, 0.5)}
    comparison = predict_graph.validate("connected-components", GRAPH, **asked, train_machines=[2])
    first, actual = comparison.prediction, comparison.actual
    assert first.iterations.predicted == actual.iterations
    errors = comparison.errors()
    assert abs(errors["features_total"]["remote_messages"]) < 0.1
    assert abs(errors["features_total"]["remote_message_bytes"]) < 0.5
    # Seconds are held against the runs that taught them: a wall clock says too little here.
    kept = History(history).runs(kind="sample")
    is_cold = [told["cold"] for told in kept["sample"]]
    taught = kept[is_cold].iloc[0]  # on a session as new as the job's, and half of the graph
    begun = taught["sample"]["opening_seconds"] + taught["seconds"]
    assert 0.7 < first.runtime_seconds.predicted / begun < 2.0
    pace = [phases["superstep"] for phases in kept["phases"]] / kept["iterations"]
    mean = first.phases["superstep"] / first.iterations.predicted
    assert pace.min() < mean < 2.0 * pace[is_cold].iloc[0]
    cold = [sample for sample in first.samples if sample.note.endswith("cold")]
    assert [sample.iterations > 0 for sample in cold] == [True]
    # The real run is in the history: nothing says better what the same will take.
    again = predict_graph.predict(
        "connected-components", GRAPH, engine=engine, history=history, seed=1
    )
    assert again.iterations.predicted == actual.iterations
    assert [told["source"] for told in again.evidence] == ["earlier runs of this graph"]
    assert again.runtime_seconds.predicted == pytest.approx(actual.runtime_seconds)
    other = predict_graph.predict(
        "connected-components", OTHER, engine=engine, history=history, seed=1
    )
    assert [told["source"] for told in other.evidence] == ["training runs of the cluster"]
    assert again.overhead_seconds < first.overhead_seconds / 2
