"""Training a cost model on counters, and applying it."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.errors import RequestError
from predict_graph.prediction.seconds.features import CANDIDATES, cache_bytes, cost_features
from predict_graph.prediction.seconds.regression import TrainingSet, fit_costs, proportional_costs

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


def test_the_probe_has_the_last_word():
    costs = fit_costs(trained(10_000, 50_000, 100_000, 400_000), "forward-nnls")
    table = rows([200_000])
    doubled = costs.scaled_to(table, 2.0 * float(costs.predict(table)[0]))
    assert doubled.factor == pytest.approx(2.0)
    np.testing.assert_allclose(doubled.predict(rows([70_000])), 2 * costs.predict(rows([70_000])))
    assert doubled.terms == {key: pytest.approx(2 * value) for key, value in costs.terms.items()}


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
    assert costs.scaled_to(rows([1000]), 0.5).factor == 1.0


def test_messages_out_of_cache_are_a_feature():
    cache = cache_bytes()
    assert cache >= 1 << 15
    seen = [
        cost_features(rows([1000], working_set=size))["memory_messages"].iloc[0]
        for size in (cache // 2, cache, 2 * cache, 100 * cache)
    ]
    assert seen == [0.0, 0.0, pytest.approx(500.0), pytest.approx(990.0)]
    assert list(cost_features(rows([1])).columns) == list(CANDIDATES)
