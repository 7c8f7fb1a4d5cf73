"""Training a cost model on counters, and applying it."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.prediction.seconds.features import CANDIDATES, cache_bytes, cost_features
from predict_graph.prediction.seconds.regression import (
    TrainingSet,
    fit_costs,
    left_out_std,
    regression_evidence,
)

PER_MESSAGE, PER_ITERATION = 4e-9, 1e-4
SIZES = (10_000, 50_000, 100_000, 400_000, 900_000)


def rows(messages, working_set=1000, factor=1.0):
    messages = np.atleast_1d(messages)
    table = pd.DataFrame({name: np.zeros(len(messages)) for name in COUNTERS})
    return table.assign(
        iteration=np.arange(1, len(messages) + 1),
        active_vertices=1000,
        total_vertices=1000,
        local_messages=messages // 4,
        remote_messages=messages - messages // 4,
        local_message_bytes=4 * messages,
        remote_message_bytes=12 * messages,
        working_set_bytes=working_set,
        seconds=factor * (PER_ITERATION + PER_MESSAGE * messages),
    )


def trained(*sizes, source="sample"):
    training = TrainingSet()
    for size in sizes:
        training.add(rows(size), source)
    return training


@pytest.mark.parametrize("name", ["forward-nnls", "nnls"])
def test_costs_that_are_there_are_found(name):
    wanted = rows([5_000_000, 1_000])
    found = regression_evidence(trained(*SIZES), name, wanted, 2)
    assert (found.name, found.model["name"]) == ("regression", name)
    assert (found.model["rows"], found.model["runs"], found.model["history_runs"]) == (5, 5, 2)
    assert found.model["r2"] > 0.999
    assert all(value > 0 for value in found.model["terms"].values())
    assert found.seconds == pytest.approx(wanted["seconds"].to_numpy(), rel=0.02)


@pytest.mark.parametrize(
    "sizes", [[], [1000], [1000, 2000], [1000] * 4, [[1000, 2000, 3000, 4000]]]
)
def test_rows_too_few_or_alike_give_costs_in_proportion_to_work(sizes):
    training = trained(*sizes)
    found = regression_evidence(training, "forward-nnls", rows([9_000, 19_000]), 0)
    assert found.model["name"] == "proportional"
    assert set(found.model["terms"]) <= set(CANDIDATES)
    assert found.seconds[1] == pytest.approx(2.0 * found.seconds[0])
    assert (found.seconds[0] > 0.0) == bool(sizes)
    assert found.relative_std >= 0.2


def test_rows_without_seconds_teach_nothing():
    training = trained(1000, [])
    training.add(rows(2000, factor=0.0), "sample")
    assert len(training.table) == 1


def test_a_run_counts_once_however_many_rows_it_has():
    training = TrainingSet()
    for count, source in ((10, "history"), (2, "history"), (5, "sample")):
        training.add(rows([1000] * count), source)
    weights = training.table.groupby("group")["weight"].sum()
    assert weights[0] == pytest.approx(weights[1])
    assert weights[2] > weights[0]


def test_a_model_that_fits_is_believed_and_one_that_does_not_is_not():
    true = left_out_std(trained(*SIZES), "forward-nnls")
    noisy = TrainingSet()
    for number, size in enumerate(SIZES):
        noisy.add(rows(size, factor=10.0 ** (number % 2)), "sample")
    assert true < 0.3
    assert left_out_std(noisy, "forward-nnls") > 2 * true
    assert left_out_std(TrainingSet(), "forward-nnls") == 1.0


def test_what_is_left_out_in_turn():
    """Probes together, the largest sample, and each run of another graph."""
    training = trained(1000, 5000, 3000)
    training.add(rows([90_000, 80_000]), "probe")
    for size in (10, 20):
        training.add(rows(size), "history")
    assert training.folds() == [{3, 4}, {1}, {5}, {6}]


def test_costs_that_grow_as_the_run_goes_on_are_found():
    def growing(size):
        run = rows([size] * 8)
        return run.assign(seconds=run["seconds"] * (1.0 + 0.2 * run["iteration"]))

    training = TrainingSet()
    for size in (100_000, 400_000, 900_000):
        training.add(growing(size), "sample")
    found = fit_costs(training.table, "forward-nnls")
    wanted = growing(2_000_000)
    predicted = found.predict(cost_features(wanted))
    assert predicted == pytest.approx(wanted["seconds"].to_numpy(), rel=0.05)
    assert "iteration_messages" in found.terms


def test_messages_out_of_cache_are_a_feature():
    cache = cache_bytes()
    assert cache >= 1 << 15
    seen = [
        cost_features(rows(1000, working_set=size))["memory_messages"].iloc[0]
        for size in (cache // 2, cache, 2 * cache, 100 * cache)
    ]
    assert seen == [0.0, 0.0, pytest.approx(500.0), pytest.approx(990.0)]
