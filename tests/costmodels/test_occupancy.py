"""What NIMO learns of resources, its metrics, and the figures that the paper prints."""

import itertools

import numpy as np
import pandas as pd
import pytest

from costmodels import metrics, occupancy
from tests.refusals import invalid

# The testbed of section V: five processors, ten delays.
CPUS, DELAYS = (451.0, 797.0, 930.0, 996.0, 1396.0), np.arange(0.0, 20.0, 2.0)
GRID = pd.DataFrame(itertools.product(CPUS, DELAYS), columns=["cpu_speed", "network_latency"])
REFERENCE = GRID.index[(GRID["cpu_speed"] == 1396) & (GRID["network_latency"] == 6)][0]
BYTES = 0.1064e9


def fmri(assignments):
    """The printed predictors of fMRI, in microseconds a byte."""
    cpu, delay = assignments["cpu_speed"] / 1396.0, assignments["network_latency"] / 6.0
    return pd.DataFrame(
        {"compute": 4.40 / cpu - 0.2, "network": 4.46 * delay + 0.7, "disk": 0.32 + 0 * cpu}
    )


def cross(reference):
    """Assignments with at most one resource that is not the reference's: 14 of 50."""
    rows = np.flatnonzero(GRID.eq(GRID.loc[reference]).any(axis=1))
    return [reference, *(row for row in rows if row != reference)]


def test_the_printed_formulas_are_learned_again():
    rows = cross(REFERENCE)
    assert len(rows) == 14
    X = GRID.iloc[rows]
    found = fmri(X)
    learned = {name: occupancy.OccupancyPredictor().fit(X, found[name]).formula_ for name in found}
    assert learned == {
        "compute": "4.4/cpu_speed - 0.2",
        "network": "4.46 network_latency + 0.7",
        "disk": "0.32",
    }


def test_table_five_is_chosen_rightly():
    rows = cross(REFERENCE)
    X, parts = GRID.iloc[rows], fmri(GRID.iloc[rows])
    total, remote = parts.sum(axis=1), parts["network"] / (parts["network"] + parts["disk"])
    measured = {"utilization": parts["compute"] / total, "data": BYTES, "network_share": remote}
    model = occupancy.OccupancyModel(shape="linear").fit(X, BYTES * 1e-6 * total, **measured)
    table_four = [(996.0, 4.0), (797.0, 4.0), (1396.0, 10.0), (451.0, 2.0)]
    minutes = model.predict(pd.DataFrame(table_four, columns=GRID.columns)) / 60
    assert minutes.argmin() == 0  # A1, neither the fastest processor nor the fastest network
    assert minutes[0] == pytest.approx(17.46, rel=0.05)
    assert minutes[2] / minutes[0] == pytest.approx(1.23, abs=0.08)
    assert minutes[3] / minutes[0] > 1.3
    assert model.formulas_["compute"] == "4.4e-06/cpu_speed - 2e-07"
    assert float(model.formulas_["data"]) == BYTES


def hidden(table):
    """Compute and network fully hide each other."""
    return np.maximum(900.0 / table["cpu_speed"], 0.2 * table["network_latency"] + 0.3)


@pytest.mark.slow
def test_latency_hiding_needs_more_than_lines():
    y = hidden(GRID)
    rows = cross(23)
    rest = GRID.drop(index=rows)
    errors = {}
    for shape in ("linear", "piecewise", "overlap"):
        model = occupancy.OccupancyModel(shape=shape).fit(GRID.iloc[rows], y.iloc[rows])
        errors[shape] = np.abs(model.predict(rest) / hidden(rest) - 1).mean()
    assert errors["overlap"] < 0.05
    assert errors["overlap"] < errors["piecewise"]
    assert errors["overlap"] < errors["linear"]
    assert occupancy.OccupancyModel().fit(GRID.iloc[rows], y.iloc[rows]).shape_ == "overlap"


def test_data_flow_is_a_part_of_its_own():
    X = pd.DataFrame({"cpu_speed": [1, 2, 4] * 3, "input_bytes": np.repeat([10.0, 20.0, 40.0], 3)})
    y = X["input_bytes"] * 3.0 / X["cpu_speed"]
    model = occupancy.OccupancyModel(shape="linear").fit(X, y, data=2.0 * X["input_bytes"])
    new = pd.DataFrame({"cpu_speed": [3.0], "input_bytes": [80.0]})
    assert model.formulas_["data"] == "40 input_bytes"
    assert model.reference_["input_bytes"] == 20.0
    assert model.predict(new)[0] == pytest.approx(80.0)


def test_bad_measurements_and_shapes():
    found, above_1 = occupancy.occupancies_of, "is 1.5, but must be from 0 to 1"
    invalid("seconds of row 0 is 0", found, [0.0])
    invalid(f"utilization of row 1 {above_1}", found, [1.0, 2.0], [0.5, 1.5])
    invalid("data of row 0 is -1", found, [1.0], 1.0, -1.0)
    invalid("network_share of row 0 is 2", found, [1.0], 1.0, 1.0, 2.0)
    model = occupancy.OccupancyModel(shape="round")
    invalid("unknown shape 'round'; accepted: auto, linear", model.fit, GRID, hidden(GRID))


def test_runs_that_are_chosen_span_the_assignments():
    y = hidden(GRID) * np.random.default_rng(1).lognormal(0.0, 0.02, len(GRID))
    model, measured = occupancy.OverlapModel(), occupancy.first_assignments(GRID, 5)
    while len(measured) < 9:
        seconds = y.iloc[measured].to_numpy()
        measured.append(occupancy.next_assignment(model, GRID, measured, seconds))
    assert len(set(measured)) == 9
    model.fit(GRID.iloc[measured], y.iloc[measured])
    assert np.median(np.abs(model.predict(GRID) / y - 1)) < 0.05
    invalid("every assignment was", occupancy.next_assignment, model, GRID, [*range(50)], y)


# Metrics (sections V-A and V-C)

# Table VI: actual and predicted minutes; staging, then none, for each of four assignments.
ACTUAL = [54.47, 35.16, 23.43, 28.25, 24.63, 14.58, 28.21, 37.43]
PREDICTED = [53.48, 37.65, 22.78, 26.71, 24.44, 15.40, 25.51, 39.81]


def test_table_six():
    errors = metrics.percentage_errors(PREDICTED, ACTUAL)
    assert errors.mean() < 11.0  # what section V-A claims of all applications
    assert errors.max() == pytest.approx(9.57, abs=0.01)
    pairs = np.reshape(ACTUAL, (4, 2)), np.reshape(PREDICTED, (4, 2))
    assert (pairs[0].argmin(axis=1) == pairs[1].argmin(axis=1)).all()
    assert metrics.ranking_distance(PREDICTED, ACTUAL, 1) == 0.0
    assert metrics.order_preserving_degree(PREDICTED, ACTUAL) > 0.9


def test_by_hand():
    assert metrics.percentage_errors(17.46, 16.67)[0] == pytest.approx(4.74, abs=0.01)  # Table V
    distance = metrics.ranking_distance([2.0, 1.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], 2)
    assert distance == pytest.approx(2 / 5)
    degree = metrics.order_preserving_degree
    assert degree([1.0, 1.0], [1.0, 2.0]) == 0.5  # the pairs with themselves
    assert degree([1.0, 2.0], [1.0, 1.0]) == 0.5


def test_bad_values():
    invalid("1 predicted and 2 actual", metrics.absolute_errors, [1.0], [1.0, 2.0])
    invalid("0 predicted and 0 actual", metrics.absolute_errors, [], [])
    invalid("nan is not finite", metrics.absolute_errors, [np.nan], [1.0])
    invalid("0 is not positive", metrics.percentage_errors, [1.0], [0.0])
    pair = ([1.0, 2.0], [1.0, 2.0])
    invalid("k is 3, but must be from 1 to 2", metrics.ranking_distance, *pair, 3)
    invalid("k is 0", metrics.ranking_distance, [1.0], [1.0], 0)
