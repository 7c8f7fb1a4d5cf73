"""Where a curve crosses its threshold, alone and beside samples, and intervals of iterations."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.continued import continued_run, weighted
from predict_graph.iterations.crossing import crossing, mean_curve
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.table import Table

CURVES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30)
THRESHOLDS = st.floats(1e-12, 1.0)


@given(curve=CURVES, threshold=THRESHOLDS)
def test_the_crossing_is_between_the_two_neighbours(curve, threshold):
    below = [number for number, value in enumerate(curve, 1) if value < threshold]
    found = crossing(curve, threshold)
    if not below:
        assert found == math.inf
    else:
        assert max(below[0] - 1, 1) <= found <= below[0]


@pytest.mark.parametrize(
    ("curve", "expected"),
    [([1.0, 0.0], 2.0), ([1.0, 0.01], math.inf), ([0.01, 0.005], 2.0), ([1.0, 1e-8], 1.25)],
)
def test_crossings_on_a_log_scale_of_zero_and_at_the_threshold(curve, expected):
    assert crossing(curve, 0.01) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        ([[1e-1, 1e-3], [1e-3, 1e-5]], [1e-2, 1e-4]),
        ([[1.0, 0.1, 0.01]], [1.0, 0.1, 1e-2, 1e-3, 1e-4]),
        ([[0.5]], [0.5, 0.5, 0.5]),
        ([[1.0, 0.1, 0.01, 0.001], [1.0, 0.1]], [1.0, 0.1, 1e-2]),
    ],
)
def test_curves_are_averaged_on_a_log_scale_and_extended_by_their_last_slope(curves, expected):
    found = mean_curve([np.array(curve) for curve in curves], len(expected))
    np.testing.assert_allclose(found, expected)


@given(
    centre=st.floats(0.5, 1e6) | st.just(math.inf),
    std=st.floats(0.0, 3.0),
    limit=st.integers(1, 10_000),
)
def test_the_interval_holds_the_iterations(centre, std, limit):
    iterations, low, high = iteration_interval(centre, std, 1.645, limit)
    assert 1 <= low <= iterations <= high <= limit
    assert std > 0 or low == iterations == high


MESH = check_graph("grid:rows=60,columns=60")
CASES = [("connected-components", 119), ("neighborhood", 118), ("shortest-paths", 118)]


def started(name, done):
    algorithm = check_algorithm(name)
    profile = LocalEngine().run(algorithm, MESH, max_iterations=done)
    return continued_run(algorithm, profile, algorithm.threshold(MESH.vertices))


@pytest.mark.parametrize("done", [3, 10, 40])
@pytest.mark.parametrize(("name", "truth"), CASES)
def test_a_curve_that_hardly_falls_may_fall_at_any_time(name, truth, done):
    found = started(name, done)
    assert found.low == done + 1 <= truth <= found.high


def test_an_interval_that_is_cut_off_at_the_limit_is_not_taken_as_sure():
    """Both ends at the limit once gave one piece of evidence all of the weight."""
    own = started("connected-components", 10)
    late = replace(own, crossing=5e4, iterations=500, low=11, high=500)
    near = replace(own, crossing=119.0, iterations=119, low=100, high=140)
    found = weighted(near, late, 500)
    assert found.crossing < 150.0
    assert found.low < 119 < found.high < 500


def test_counters_of_what_was_counted_are_exact():
    own = started("connected-components", 10)
    exact = own.counters.take(slice(10))
    thrice = Table({name: 3.0 * values for name, values in own.counters.items()})
    sampled = replace(own, counters=thrice, crossing=100.0, iterations=100, high=150)
    found = weighted(sampled, own, 500).counters
    alone = weighted(replace(sampled, samples=[]), own, 500).counters
    for name in ("local_messages", "remote_messages"):
        assert found[name][:10] == pytest.approx(exact[name])
        assert found[name][10] == pytest.approx(3.0 * own.counters[name][10])
        assert np.all(alone[name] <= exact[name].max() * (1 + 1e-12))
