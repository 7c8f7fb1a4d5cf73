"""Transform functions: the default rules, and those of a user."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.errors import RequestError
from predict_graph.transforms import (
    TRANSFORMS,
    Transform,
    check_transform,
    default_transform,
    register_transform,
    same_threshold,
    scaled_threshold,
)

THRESHOLDS = st.floats(1e-12, 1.0)
RATIOS = st.floats(1e-6, 1.0)


@given(tau=THRESHOLDS, ratio=RATIOS)
def test_a_threshold_on_an_aggregate_is_scaled(tau, ratio):
    assert scaled_threshold.sample_threshold(tau, ratio) * ratio == pytest.approx(tau)


@given(tau=THRESHOLDS, ratio=RATIOS)
def test_a_threshold_on_a_ratio_is_kept(tau, ratio):
    assert same_threshold.sample_threshold(tau, ratio) == tau


@pytest.mark.parametrize(
    ("convergence", "rule"),
    [("absolute", scaled_threshold), ("ratio", same_threshold), ("fixed-point", same_threshold)],
)
def test_default_rules(convergence, rule):
    assert default_transform(convergence) is rule
    assert check_transform(None, convergence) is rule


@pytest.mark.parametrize("value", [3, 0.1, ["same-threshold"], lambda tau, ratio: tau])
def test_anything_else_is_refused(value):
    with pytest.raises(RequestError, match="accepted: a Transform, or one of scaled-threshold"):
        check_transform(value, "absolute")


def test_an_unknown_name_is_refused():
    with pytest.raises(RequestError, match="unknown transform 'halved'; accepted: same-thr"):
        check_transform("halved", "absolute")


@pytest.mark.parametrize("value", [0.0, -1e-9, math.nan])
def test_what_is_no_threshold_is_refused(value):
    broken = Transform("broken", lambda tau, ratio: value, "never works")
    with pytest.raises(RequestError, match=f"the transform 'broken' .* into {value}"):
        broken.sample_threshold(1e-3, 0.1)


@pytest.fixture
def half():
    @register_transform("half")
    def half(threshold, ratio):
        """Half of it.

        Not shown in lists.
        """
        return threshold / 2

    yield half
    TRANSFORMS.unregister("half")


def test_a_registered_function_stays_a_function(half):
    assert half(1.0, 0.5) == 0.5
    assert check_transform("half", "absolute").sample_threshold(1.0, 0.5) == 0.5
    assert TRANSFORMS.origin("half") == "registered"
    assert TRANSFORMS.get("half").summary == "Half of it."
