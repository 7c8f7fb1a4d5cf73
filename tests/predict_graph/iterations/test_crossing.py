"""Where a curve crosses its threshold, and intervals of whole iterations."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from predict_graph.iterations.crossing import crossing, stretched_curve
from predict_graph.iterations.estimate import iteration_interval

# A curve of PageRank never rises.
FALLING = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30).map(
    lambda values: np.array(sorted(values, reverse=True))
)
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


@given(curve=CURVES, low=THRESHOLDS, high=THRESHOLDS)
def test_a_lower_threshold_is_not_crossed_earlier(curve, low, high):
    low, high = sorted((low, high))
    assume(high not in curve)  # touching is not crossing: see below
    assert crossing(curve, low) >= crossing(curve, high) - 1e-9


def test_a_curve_that_falls_to_zero_is_rounded_up():
    assert crossing([0.1, 0.0], 0.01) == 2.0


def test_a_curve_that_touches_the_threshold_has_not_crossed():
    assert crossing([0.1, 0.01], 0.01) == math.inf
    assert crossing([0.01, 0.005], 0.01) == 2.0


@given(
    curves=st.lists(FALLING, min_size=1, max_size=4),
    factor=st.floats(0.3, 3.0),
    iterations=st.integers(1, 60),
)
def test_a_stretched_curve_has_the_asked_length(curves, factor, iterations):
    curve = stretched_curve(curves, factor, iterations)
    assert curve.shape == (iterations,)
    assert np.isfinite(curve).all()
    assert (np.diff(curve) <= 1e-12).all()
    assert (curve >= 0).all()


def test_curves_are_averaged_on_a_log_scale():
    curves = [np.array([1e-1, 1e-3]), np.array([1e-3, 1e-5])]
    np.testing.assert_allclose(stretched_curve(curves, 1.0, 2), [1e-2, 1e-4])


def test_stretching_makes_everything_later():
    curve = 0.5 ** np.arange(1.0, 31.0)
    later = stretched_curve([curve], 1.25, 36)
    assert crossing(later, 1e-6) == pytest.approx(1.25 * crossing(curve, 1e-6))


def test_a_short_curve_goes_on_with_its_last_slope():
    curve = stretched_curve([np.array([1.0, 0.1, 0.01])], 1.0, 5)
    np.testing.assert_allclose(curve, [1.0, 0.1, 1e-2, 1e-3, 1e-4])


def test_one_iteration_has_no_slope():
    np.testing.assert_allclose(stretched_curve([np.array([0.5])], 1.0, 3), [0.5, 0.5, 0.5])


@given(
    centre=st.floats(0.5, 1e6) | st.just(math.inf),
    std=st.floats(0.0, 3.0),
    limit=st.integers(1, 10_000),
)
def test_the_interval_holds_the_iterations(centre, std, limit):
    iterations, low, high = iteration_interval(centre, std, 1.645, limit)
    assert 1 <= low <= iterations <= high <= limit


@given(centre=st.floats(1.0, 400.0), narrow=st.floats(0.0, 1.0), more=st.floats(0.0, 1.0))
def test_more_doubt_never_narrows_the_interval(centre, narrow, more):
    _, low, high = iteration_interval(centre, narrow, 1.645, 10_000)
    _, lower, higher = iteration_interval(centre, narrow + more, 1.645, 10_000)
    assert lower <= low
    assert high <= higher


def test_no_doubt_is_one_number():
    assert iteration_interval(9.2, 0.0, 1.645, 500) == (10, 10, 10)
    assert iteration_interval(10.0, 0.0, 1.645, 500) == (10, 10, 10)
