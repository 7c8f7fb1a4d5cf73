"""Where a curve crosses its threshold, alone and beside samples, and intervals of iterations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import check_algorithm
from predict_graph.engines import COUNTERS, SampleSummary, per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations import estimate
from predict_graph.iterations.whole_run import continued
from predict_graph.table import Table

CURVES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30)


@given(curve=CURVES, threshold=st.floats(1e-12, 1.0))
def test_the_crossing_is_between_the_two_neighbours(curve, threshold):
    below = [number for number, value in enumerate(curve, 1) if value < threshold]
    found = estimate.crossing(curve, threshold)
    if not below:
        assert found == math.inf
    else:
        assert max(below[0] - 1, 1) <= found <= below[0]


CROSSINGS = [([1.0, 0.0], 2.0), ([1.0, 0.01], math.inf), ([0.01, 0.005], 2.0), ([1.0, 1e-8], 1.25)]


@pytest.mark.parametrize(("curve", "expected"), CROSSINGS)
def test_crossings_on_a_log_scale_of_zero_and_at_the_threshold(curve, expected):
    assert estimate.crossing(curve, 0.01) == pytest.approx(expected)


MEANS = [
    ([[1e-1, 1e-3], [1e-3, 1e-5]], [1e-2, 1e-4]),
    ([[1.0, 0.1, 0.01]], [1.0, 0.1, 1e-2, 1e-3, 1e-4]),
    ([[0.5]], [0.5, 0.5, 0.5]),
    ([[1.0, 0.1, 0.01, 0.001], [1.0, 0.1]], [1.0, 0.1, 1e-2]),
]


@pytest.mark.parametrize(("curves", "expected"), MEANS)
def test_curves_are_averaged_on_a_log_scale_and_extended_by_their_last_slope(curves, expected):
    found = estimate.mean_curve([np.array(curve) for curve in curves], len(expected))
    np.testing.assert_allclose(found, expected)


@given(
    centre=st.floats(0.5, 1e6) | st.just(math.inf),
    std=st.floats(0.0, 3.0),
    limit=st.integers(1, 10_000),
)
def test_the_interval_holds_the_iterations(centre, std, limit):
    iterations, low, high = estimate.iteration_interval(centre, std, limit)
    assert 1 <= low <= iterations <= high <= limit
    assert std > 0 or low == iterations == high


MESH = check_graph("grid:rows=60,columns=60")
CASES = [("connected-components", 119), ("neighborhood", 118), ("shortest-paths", 118)]


def estimated(crossing, std, job, samples=(), iterations=200):
    """An estimate by other evidence, with counters that no run of the mesh has."""
    counters = Table(dict.fromkeys((*COUNTERS, "total_vertices"), np.full(iterations, 7.0)))
    whole, low, high = estimate.iteration_interval(crossing, std, job.max_iterations)
    curve = np.ones(whole)
    return estimate.IterationEstimate(
        "other", crossing, whole, low, high, curve, True, [*samples], counters=counters
    )


def started(name, done, crossing=119.0, std=3.0, samples=()):
    """The estimate of a run on a mesh that was stopped, and other evidence."""
    job = check_algorithm(name)
    profile = LocalEngine().run(job, MESH, max_iterations=done)
    other = estimated(crossing, std, job, samples)
    return profile, continued(other, job, profile, job.threshold(MESH.vertices))


@pytest.mark.parametrize("done", [3, 10, 40])
@pytest.mark.parametrize(("name", "truth"), CASES)
def test_a_curve_that_hardly_falls_may_fall_at_any_time(name, truth, done):
    _, found = started(name, done)
    assert done < found.low <= truth <= found.high


def test_a_curve_that_hardly_falls_is_not_taken_as_sure():
    """The limit of iterations cuts off its interval; other evidence has the weight."""
    _, found = started("connected-components", 10, std=0.1)
    assert found.crossing < 150.0
    assert found.low < 119 < found.high < 500


def test_counters_of_what_was_counted_are_exact():
    sample = SampleSummary("other", 0.1, 9, 9, 9, 0.1, "iterations")
    profile, found = started("connected-components", 10, samples=[sample])
    _, alone = started("connected-components", 10)
    exact = per_iteration(profile.rows)
    for name in ("local_messages", "remote_messages"):
        for each in (found, alone):
            assert each.counters[name][:10] == pytest.approx(exact[name])
        assert (found.counters[name][10:] == 7.0).all()
        assert np.all(alone.counters[name] <= exact[name].max() * (1 + 1e-12))
