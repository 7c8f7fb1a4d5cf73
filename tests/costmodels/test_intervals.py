from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodels import log_interval, residual_interval

CASES = 4000


def coverage(make) -> float:
    """Share of simulated cases whose truth lies in the interval."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(CASES):
        (low, high), truth = make(rng)
        hits += low <= truth <= high
    return hits / CASES


@pytest.mark.parametrize("count", [2, 3, 5, 12])
@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("target", ["draw", "mean"])
def test_repeats_alone_cover_exactly(count, level, target):
    def make(rng):
        values = 40 * rng.lognormal(0, 0.3, count)
        truth = 40.0 if target == "mean" else 40 * rng.lognormal(0, 0.3)
        return log_interval(values, level, target=target), truth

    assert coverage(make) == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / CASES))


@pytest.mark.slow
@pytest.mark.parametrize("extra", [0.05, 0.15, 0.5])
@pytest.mark.parametrize("count", [3, 5])
def test_an_extra_error_is_covered(count, extra):
    deviation = math.sqrt(math.log1p(extra**2))

    def make(rng):
        values = 40 * rng.lognormal(0, 0.1, count)
        truth = 40 * rng.lognormal(0, 0.1) * rng.lognormal(0, deviation)
        return log_interval(values, 0.9, extra), truth

    # On the safe side: with few values the sum of the two is somewhat too wide.
    assert 0.89 <= coverage(make) <= 0.95


def test_one_value_with_a_known_error_covers():
    deviation = math.sqrt(math.log1p(0.2**2))

    def make(rng):
        return log_interval([40.0], 0.9, 0.2), 40 * rng.lognormal(0, deviation)

    assert coverage(make) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("count", [3, 8])
def test_residuals_cover(count):
    def make(rng):
        errors = rng.lognormal(0, 0.2, count) - 1
        return residual_interval(10.0, errors), 10 / rng.lognormal(0, 0.2)

    assert coverage(make) == pytest.approx(0.9, abs=0.02)


values = st.lists(st.floats(1e-6, 1e12), min_size=2, max_size=8)


@given(values, st.floats(0.05, 0.99), st.floats(0, 2), st.floats(1e-3, 1e3))
def test_order_scale_and_nesting(numbers, level, extra, factor):
    low, high = log_interval(numbers, level, extra)
    middle = math.exp(np.mean(np.log(numbers)))
    assert 0 <= low <= middle * (1 + 1e-9)
    assert middle <= high * (1 + 1e-9)
    wider = log_interval(numbers, level + (1 - level) / 2, extra)
    assert wider[0] <= low * (1 + 1e-9)
    assert high <= wider[1] * (1 + 1e-9)
    narrow = log_interval(numbers, level, extra, target="mean")
    assert low <= narrow[0] * (1 + 1e-9)
    assert narrow[1] <= high * (1 + 1e-9)
    if low > 1e-100 and high < 1e100:
        scaled = log_interval(np.multiply(numbers, factor), level, extra)
        assert scaled == pytest.approx((low * factor, high * factor), rel=1e-6)


def test_equal_values_without_an_extra_error_are_a_point():
    assert log_interval([7, 7, 7]) == pytest.approx((7, 7))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one"),
        (([1, 0],), "value 0 is not positive"),
        (([1, math.nan],), "nan"),
        (([5],), "one value has no spread"),
        (([1, 2], 1.0), "level is 1.0"),
        (([1, 2], 0.9, -0.1), "extra_relative_std is -0.1"),
    ],
)
def test_bad_requests(arguments, message):
    with pytest.raises(ValueError, match=message):
        log_interval(*arguments)


def test_bad_residuals():
    with pytest.raises(ValueError, match="unknown target"):
        log_interval([1, 2], target="both")
    with pytest.raises(ValueError, match="at least one"):
        residual_interval(1.0, [])
    with pytest.raises(ValueError, match="relative error"):
        residual_interval(1.0, [-1.0])
    with pytest.raises(ValueError, match="prediction"):
        residual_interval(0.0, [0.1])
