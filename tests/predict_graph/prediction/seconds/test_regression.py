"""Training a cost model on counters, and applying it."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.errors import RequestError
from predict_graph.prediction.seconds.features import CANDIDATES, cache_bytes, cost_features
from predict_graph.prediction.seconds.regression import (
    TrainingSet,
    fit_costs,
    left_out_std,
    proportional_costs,
    regression_evidence,
)

PER_MESSAGE, PER_ITERATION = 4e-9, 1e-4


def rows(messages, vertices=1000, working_set=1000):
    messages = np.atleast_1d(messages)
    table = pd.DataFrame({name: np.zeros(len(messages)) for name in COUNTERS})
    return table.assign(
        active_vertices=vertices,
        total_vertices=vertices,
        local_messages=messages // 4,
        remote_messages=messages - messages // 4,
        local_message_bytes=4 * messages,
        remote_message_bytes=12 * messages,
        working_set_bytes=working_set,
        seconds=PER_ITERATION + PER_MESSAGE * messages,
    )


def trained(*sizes):
    training = TrainingSet()
    for size in sizes:
        training.add(rows([size]), own=True)
    return training


@pytest.mark.parametrize("name", ["forward-nnls", "nnls"])
def test_costs_that_are_there_are_found(name):
    costs = fit_costs(trained(10_000, 50_000, 100_000, 400_000, 900_000), name)
    assert costs.name == name
    assert costs.rows == costs.runs == 5
    assert costs.r2 > 0.999
    expected = PER_ITERATION + PER_MESSAGE * 5_000_000
    assert costs.predict(rows([5_000_000]))[0] == pytest.approx(expected, rel=0.02)
    assert all(value > 0 for value in costs.terms.values())


def test_too_few_or_too_alike_rows_fit_nothing():
    assert fit_costs(TrainingSet(), "forward-nnls") is None
    assert fit_costs(trained(1000, 2000), "forward-nnls") is None
    assert fit_costs(trained(1000, 1000, 1000, 1000), "forward-nnls") is None
    one_run = TrainingSet()
    one_run.add(rows([1000, 2000, 3000, 4000]), own=True)
    assert fit_costs(one_run, "forward-nnls") is None


def test_the_name_is_checked_even_when_nothing_can_be_fitted():
    with pytest.raises(RequestError, match="unknown cost model 'magic'; accepted: forward-nnls"):
        fit_costs(TrainingSet(), "magic")


def test_rows_without_seconds_teach_nothing():
    training = trained(1000)
    training.add(rows([2000]).assign(seconds=0.0), own=True)
    training.add(rows([]), own=True)
    assert len(training.table) == 1


def test_a_run_counts_once_however_many_rows_it_has():
    training = TrainingSet()
    training.add(rows([1000] * 10), own=False)
    training.add(rows([1000] * 2), own=False)
    training.add(rows([1000] * 5), own=True)
    weights = training.table.groupby("group")["weight"].sum()
    assert weights[0] == pytest.approx(weights[1])
    assert weights[2] > weights[0]


def test_a_model_that_fits_is_believed_and_one_that_does_not_is_not():
    sizes = (10_000, 50_000, 100_000, 400_000, 900_000)
    true = left_out_std(trained(*sizes), "forward-nnls")
    noisy = TrainingSet()
    for number, size in enumerate(sizes):
        noisy.add(
            rows([size]).assign(seconds=lambda t, f=10.0 ** (number % 2): f * t["seconds"]),
            own=True,
        )
    assert true < 0.3
    assert left_out_std(noisy, "forward-nnls") > 2 * true
    assert left_out_std(TrainingSet(), "forward-nnls") == 1.0


def test_what_is_left_out_in_turn():
    """Probes together, the largest sample, and each run of another graph."""
    training = TrainingSet()
    for size in (1000, 5000, 3000):
        training.add(rows([size]), own=True)
    for size in (90_000, 80_000):
        training.add(rows([size]), own=True, source="probe")
    for size in (10, 20):
        training.add(rows([size]), own=False, source="history")
    assert training.folds() == [{3, 4}, {1}, {5}, {6}]
    rest = training.without({3, 4}).table
    assert set(rest["source"]) == {"sample", "history"}
    assert len(rest) == 5


def test_what_a_regression_says_and_of_what():
    wanted = rows([5_000_000, 1_000])
    found = regression_evidence(trained(10_000, 50_000, 100_000, 900_000), None, wanted, 2)
    assert found.name == "regression"
    assert found.model["name"] == "forward-nnls"
    assert (found.model["rows"], found.model["runs"], found.model["history_runs"]) == (4, 4, 2)
    assert found.seconds == pytest.approx(wanted["seconds"].to_numpy(), rel=0.02)
    few = regression_evidence(trained(100_000), "nnls", wanted, 0)
    assert few.model["name"] == "proportional"
    assert few.relative_std >= 0.3


def test_costs_that_grow_as_the_run_goes_on_are_found_where_they_are_looked_for():
    def growing(size):
        run = rows([size] * 8).assign(iteration=np.arange(1, 9))
        return run.assign(seconds=run["seconds"] * (1.0 + 0.2 * run["iteration"]))

    training = TrainingSet(by_iteration=True)
    for size in (100_000, 400_000, 900_000):
        training.add(growing(size), own=True)
    found = fit_costs(training, "forward-nnls")
    wanted = growing(2_000_000)
    assert found.predict(wanted) == pytest.approx(wanted["seconds"].to_numpy(), rel=0.05)
    assert "iteration_messages" in found.terms
    assert "iteration" not in cost_features(wanted)


def test_costs_in_proportion_to_work():
    training = trained(99_000, 199_000)
    costs = proportional_costs(training)
    rates = [training.table["seconds"][i] / work for i, work in enumerate((1e5, 2e5))]
    seconds = costs.predict(rows([999_000]))[0]
    assert min(rates) * 1e6 <= seconds <= max(rates) * 1e6
    assert costs.name == "proportional"
    assert set(costs.terms) <= set(CANDIDATES)


def test_nothing_known_costs_nothing():
    costs = proportional_costs(TrainingSet())
    assert costs.predict(rows([1000]))[0] == 0.0


def test_messages_out_of_cache_are_a_feature():
    cache = cache_bytes()
    assert cache >= 1 << 15
    seen = [
        cost_features(rows([1000], working_set=size))["memory_messages"].iloc[0]
        for size in (cache // 2, cache, 2 * cache, 100 * cache)
    ]
    assert seen == [0.0, 0.0, pytest.approx(500.0), pytest.approx(990.0)]
    assert list(cost_features(rows([1])).columns) == list(CANDIDATES)
