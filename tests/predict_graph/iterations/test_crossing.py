"""Where a curve crosses its threshold, and intervals of whole iterations."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from predict_graph.iterations.crossing import crossing, mean_curve
from predict_graph.iterations.estimate import iteration_interval

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
        assert math.ceil(found - 1e-9) in (below[0], max(below[0] - 1, 1))


@given(rate=st.floats(0.05, 0.95), threshold=st.floats(1e-9, 0.9))
def test_a_geometric_curve_crosses_where_its_logarithm_does(rate, threshold):
    curve = rate ** np.arange(1.0, 600.0)
    exact = math.log(threshold) / math.log(rate)
    assume(exact < 590 and abs(exact - round(exact)) > 1e-9)
    assert crossing(curve, threshold) == pytest.approx(max(exact, 1.0), abs=1e-6)


def test_a_curve_that_falls_to_zero_is_rounded_up():
    assert crossing([0.1, 0.0], 0.01) == 2.0


def test_a_curve_that_touches_the_threshold_has_not_crossed():
    assert crossing([0.1, 0.01], 0.01) == math.inf
    assert crossing([0.01, 0.005], 0.01) == 2.0


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


def test_no_doubt_is_one_number():
    assert iteration_interval(9.2, 0.0, 1.645, 500) == (10, 10, 10)
    assert iteration_interval(10.0, 0.0, 1.645, 500) == (10, 10, 10)
