"""Chains, undirected algorithms, and seconds carried over from a sample run."""

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.engines import COUNTERS, IterationProbe
from predict_graph.history import History
from predict_graph.iterations import IterationEstimate, TimedSample
from predict_graph.prediction.repeats import with_repeats
from predict_graph.prediction.seconds.transfer import transfer_of

DIRECTED = "rmat:scale=12,edge_factor=8,seed=3"
OTHERS = ("semi-clustering", "topk-ranking", "connected-components", "neighborhood")


@pytest.mark.parametrize("algorithm", OTHERS)
def test_every_algorithm_is_predicted_run_and_compared(algorithm):
    found = predict_graph.validate(algorithm, DIRECTED, history="none", seed=1)
    assert abs(found.prediction.iterations.predicted - found.actual.iterations) <= 1
    errors = found.errors()["features_total"]
    assert abs(errors["remote_message_bytes"]) < 0.25
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
    assert abs(written["errors"]["prior"]["iterations"]) < 0.2


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


def carried(seconds, probed, *, sample_work, work):
    """Seconds of three iterations, of which one takes 0.1 s in the sample without messages."""
    found = estimate(
        timed=TimedSample(
            table=rows([10] * len(seconds), seconds),
            idle_seconds=0.1,
            work=np.array(sample_work),
            whole_work=np.array(work),
            again=lambda: np.array(seconds),
            edge_steps=100.0,
        )
    )
    probes = [IterationProbe(s, 0.0, pd.DataFrame(), idle_seconds=0.5) for s in probed]
    return transfer_of(found, 3, probes)


def test_data_from_far_away_makes_each_unit_of_work_dearer_by_the_same_time():
    transfer = carried(
        [1.1, 2.1, 0.1], [14.0] * 3, sample_work=[10.0, 10.0, 1.0], work=[100.0, 50.0, 0.0]
    )
    # The first iteration: 1.0 s, so 10 s for ten times the work; the probe says 14: 4 s for 100.
    assert transfer.factor == pytest.approx(1.4)
    np.testing.assert_allclose(transfer.seconds, [0.5 + 14.0, 0.5 + 10.0 + 2.0, 0.5])


def test_between_a_sample_run_and_a_probe_that_says_less_is_the_middle():
    job = {"sample_work": [10.0, 10.0, 10.0], "work": [100.0, 100.0, 100.0]}
    transfer = carried([1.1, 4.1, 0.1], [2.5] * 3, **job)
    # The first iteration: 10 s for ten times the work of the sample, 2.5 by the probe.
    assert transfer.factor == pytest.approx(0.5)
    np.testing.assert_allclose(transfer.seconds, [0.5 + 5.0, 0.5 + 20.0, 0.5])
    assert transfer.relative_std > carried([1.1], [10.0] * 3, **job).relative_std


def test_the_slowest_probe_is_left_out():
    transfer = carried([1.1], [2.0, 9.0, 2.0], sample_work=[1.0], work=[1.0])
    assert transfer.factor == pytest.approx(2.0)


def test_a_first_iteration_without_work_gives_finite_seconds():
    transfer = carried([0.1, 3.1], [0.2] * 3, sample_work=[1.0, 2.0], work=[0.0, 2.0])
    assert np.isfinite(transfer.seconds).all()


def test_without_probes_work_costs_what_it_does_in_the_sample():
    transfer = carried([1.1, 3.1], [], sample_work=[1.0, 2.0], work=[2.0, 2.0])
    np.testing.assert_allclose(transfer.seconds, [2.1, 3.1, 3.1])
    assert transfer.relative_std > 0.2


def test_a_sample_run_is_repeated_for_its_least_seconds_and_that_is_work_too():
    seconds = iter([[0.3, 0.2], [0.2, 0.1], [0.4, 0.4], [0.0, 0.0]])
    sample = TimedSample(
        rows([10, 10], [0.1, 0.6]),
        0.1,
        np.ones(2),
        np.ones(2),
        lambda: np.array(next(seconds)),
        100.0,
    )
    found = with_repeats(estimate(timed=sample))
    # Of repeats, half a second is no more than enough, and 0.8 is.
    np.testing.assert_allclose(found.timed.table["seconds"], [0.1, 0.1])
    assert found.edge_steps == 200.0


def test_what_cannot_be_run_again_stays_as_it_is():
    found = estimate()
    assert with_repeats(found) is found


def test_without_a_sample_run_nothing_is_carried_over():
    assert transfer_of(estimate(), 1, []) is None
