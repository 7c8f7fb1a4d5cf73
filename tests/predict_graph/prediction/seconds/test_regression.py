"""Training a cost model on counters, and applying it."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.prediction.seconds import regression

PER_MESSAGE, PER_ITERATION = 4e-9, 1e-4
SIZES = (10_000, 50_000, 100_000, 400_000, 900_000)


def rows(messages, factor=1.0):
    messages = np.atleast_1d(messages)
    return pd.DataFrame({name: np.zeros(len(messages)) for name in COUNTERS}).assign(
        iteration=np.arange(1, len(messages) + 1),
        active_vertices=1000,
        total_vertices=1000,
        local_messages=messages // 4,
        remote_messages=messages - messages // 4,
        local_message_bytes=4 * messages,
        remote_message_bytes=12 * messages,
        seconds=factor * (PER_ITERATION + PER_MESSAGE * messages),
    )


def trained(*sizes, source="sample"):
    return regression.training_table([(rows(size), source) for size in sizes])


@pytest.mark.parametrize("name", ["forward-nnls", "nnls"])
def test_costs_that_are_there_are_found(name):
    wanted = rows([5_000_000, 1_000])
    found = regression.regression_evidence(trained(*SIZES), name, wanted, 2)
    assert (found.name, found.model["name"]) == ("regression", name)
    assert (found.model["rows"], found.model["runs"], found.model["history_runs"]) == (5, 5, 2)
    assert found.model["r2"] > 0.999
    assert all(value > 0 for value in found.model["terms"].values())
    assert found.seconds == pytest.approx(wanted["seconds"].to_numpy(), rel=0.02)


FEW = [[], [1000], [1000, 2000], [1000] * 4, [[1000, 2000, 3000, 4000]]]


@pytest.mark.parametrize("sizes", FEW)
def test_rows_too_few_or_alike_give_costs_in_proportion_to_work(sizes):
    training = trained(*sizes)
    found = regression.regression_evidence(training, "forward-nnls", rows([9_000, 19_000]), 0)
    assert found.model["name"] == "proportional"
    assert set(found.model["terms"]) <= set(regression.CANDIDATES)
    assert found.seconds[1] == pytest.approx(2.0 * found.seconds[0])
    assert (found.seconds[0] > 0.0) == bool(sizes)
    assert found.relative_std >= 0.1


def test_rows_without_seconds_teach_nothing():
    runs = [(rows(1000), "sample"), (rows([]), "probe"), (rows(2000, factor=0.0), "sample")]
    assert len(regression.training_table(runs)) == 1


def test_a_run_counts_once_however_many_rows_it_has():
    runs = ((10, "history"), (2, "history"), (5, "sample"))
    training = regression.training_table([(rows([1000] * count), source) for count, source in runs])
    assert training.groupby("group")["weight"].sum().tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_a_model_that_fits_is_believed_and_one_that_does_not_is_not():
    true = regression.left_out_std(trained(*SIZES), "forward-nnls")
    noisy = [(rows(size, 10.0 ** (number % 2)), "sample") for number, size in enumerate(SIZES)]
    assert true < 0.3
    assert regression.left_out_std(regression.training_table(noisy), "forward-nnls") > 2 * true
    assert regression.left_out_std(trained(), "forward-nnls") > 0.5


def test_costs_that_grow_as_the_run_goes_on_are_found():
    def growing(size):
        run = rows([size] * 8)
        return run.assign(seconds=run["seconds"] * (1.0 + 0.2 * run["iteration"]))

    runs = [(growing(size), "sample") for size in (100_000, 400_000, 900_000)]
    found = regression.fit_costs(regression.training_table(runs), "forward-nnls")
    wanted = growing(2_000_000)
    predicted = found.predict(regression.cost_features(wanted))
    assert predicted == pytest.approx(wanted["seconds"].to_numpy(), rel=0.05)
    assert "iteration_messages" in found.terms
