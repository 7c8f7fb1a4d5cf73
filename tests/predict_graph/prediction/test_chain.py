"""Chains, undirected algorithms, and seconds carried over from a sample run."""

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.engines import COUNTERS, IterationProbe
from predict_graph.history import History
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction.transfer import transfer_of

DIRECTED = "rmat:scale=12,edge_factor=8,seed=3"
OTHERS = ("semi-clustering", "topk-ranking", "connected-components", "neighborhood")


@pytest.mark.parametrize("algorithm", OTHERS)
def test_every_algorithm_is_predicted_run_and_compared(algorithm):
    found = predict_graph.validate(algorithm, DIRECTED, history="none", seed=1)
    assert abs(found.prediction.iterations.predicted - found.actual.iterations) <= 2
    errors = found.errors()["features_total"]
    assert abs(errors["remote_message_bytes"]) < 0.5
    table = found.prediction.per_iteration
    assert len(table) == found.prediction.iterations.predicted
    assert (table["seconds"] >= 0).all()
    assert found.prediction.method["name"] == "rooted"


def test_a_chain_adds_up():
    prediction = predict_graph.predict("topk-ranking", DIRECTED, history="none", seed=2)
    first = prediction.prior
    assert first.algorithm["name"] == "pagerank"
    assert prediction.phases["superstep"] > first.phases["superstep"]
    assert prediction.phases["read"] == first.phases["read"]  # the graph is read once
    runtime = prediction.runtime_seconds
    assert runtime.predicted == pytest.approx(sum(prediction.phases.values()))
    assert runtime.low < runtime.predicted < runtime.high
    assert prediction.edge_visits > first.edge_visits
    assert prediction.to_dict()["prior"]["iterations"]["predicted"] > 0
    assert "of which pagerank" in str(prediction)


def test_a_chain_that_was_run_is_compared_part_by_part():
    found = predict_graph.validate("topk-ranking", DIRECTED, history="none", seed=2)
    written = found.to_dict()
    assert written["actual"]["prior"]["iterations"] == found.actual.prior.iterations
    assert abs(written["errors"]["prior"]["iterations"]) < 0.5


def test_each_run_of_a_chain_is_kept_by_itself(tmp_path):
    history = History(tmp_path / "runs.sqlite")
    profile = predict_graph.run("topk-ranking", DIRECTED, history=history)
    kept = history.runs()
    assert set(kept["algorithm"]) == {"pagerank", "topk-ranking"}
    spent = kept["seconds"].sum() - profile.phases["read"]
    assert spent == pytest.approx(profile.runtime_seconds, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["connected-components", "semi-clustering"])
def test_directions_are_dropped_where_an_algorithm_has_no_use_for_them(algorithm):
    profile = predict_graph.run(algorithm, DIRECTED, directed=True, history="none")
    assert profile.graph["directed"] is False
    prediction = predict_graph.predict(algorithm, DIRECTED, history="none", seed=0)
    assert prediction.graph["fingerprint"] == profile.graph["fingerprint"]


# Carrying seconds over


def rows(messages, seconds):
    table = pd.DataFrame({name: np.zeros(len(messages)) for name in COUNTERS})
    return table.assign(
        iteration=np.arange(1, len(messages) + 1),
        worker=0,
        total_vertices=10,
        local_messages=messages,
        seconds=seconds,
        convergence=0.5,
        working_set_bytes=100,
    )


def estimate(**options):
    return IterationEstimate(
        method="rooted",
        crossing=3.0,
        iterations=3,
        low=3,
        high=3,
        curve=np.ones(3),
        converged=True,
        samples=[],
        edge_steps=0.0,
        **options,
    )


def test_seconds_follow_work_and_the_probe():
    found = estimate(
        sample_tables=[rows([10, 20, 5], [1.1, 4.1, 0.1])],
        idle_seconds=0.1,
        work_ratio=np.array([10.0, 10.0, 10.0]),
    )
    probe = IterationProbe(4.0, 0.0, pd.DataFrame(), idle_seconds=0.5)
    transfer = transfer_of(found, 3, [probe] * 3)
    # The first iteration: 1.0 s, so 10 s for ten times the work; the probe says 4.
    assert transfer.factor == pytest.approx(0.4)
    np.testing.assert_allclose(transfer.seconds, [0.5 + 4.0, 0.5 + 16.0, 0.5])


def test_the_slowest_probe_is_left_out():
    found = estimate(sample_tables=[rows([10], [1.0])], work_ratio=np.ones(1))
    probes = [IterationProbe(seconds, 0.0, pd.DataFrame()) for seconds in (2.0, 9.0, 2.0)]
    assert transfer_of(found, 1, probes).factor == pytest.approx(2.0)


def test_without_probes_work_costs_what_it_does_in_the_sample():
    found = estimate(sample_tables=[rows([10, 20], [1.0, 3.0])], work_ratio=np.array([2.0, 1.0]))
    transfer = transfer_of(found, 3, [])
    np.testing.assert_allclose(transfer.seconds, [2.0, 3.0, 3.0])
    assert transfer.relative_std > 0.2


def test_without_a_sample_run_nothing_is_carried_over():
    assert transfer_of(estimate(), 1, []) is None
