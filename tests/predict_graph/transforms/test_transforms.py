"""Transform functions: the default rules, and those of a user."""

import math

import pytest

from predict_graph import transforms
from tests.refusals import refused

RULES = [
    ("absolute", transforms.scaled_threshold, 1e-2),
    ("ratio", transforms.same_threshold, 1e-3),
    ("fixed-point", transforms.same_threshold, 1e-3),
]


@pytest.mark.parametrize(("convergence", "rule", "threshold"), RULES)
def test_default_rules(convergence, rule, threshold):
    assert transforms.default_transform(convergence) is rule
    assert transforms.check_transform(None, convergence) is rule
    assert rule.sample_threshold(1e-3, 0.1) == pytest.approx(threshold)
    # A sample that is the whole graph runs to the threshold of the whole graph.
    assert rule.sample_threshold(1e-3, 1.0) == pytest.approx(1e-3)


@pytest.mark.parametrize("value", [3, 0.1, ["same-threshold"], lambda tau, ratio: tau])
def test_anything_else_is_refused(value):
    refused("a Transform, or one of scaled-", transforms.check_transform, value, "absolute")


@pytest.mark.parametrize("value", [0.0, -1e-9, math.nan])
def test_what_is_no_threshold_is_refused(value):
    broken = transforms.Transform("broken", lambda tau, ratio: value, "never works")
    refused(f"the transform 'broken' .* into {value}", broken.sample_threshold, 1e-3, 0.1)


@pytest.mark.usefixtures("only_built_in")
def test_a_registered_function_stays_a_function():
    @transforms.register_transform("half")
    def half(threshold, ratio):
        """Half of it.

        Not shown in lists.
        """
        return threshold / 2

    assert half(1.0, 0.5) == 0.5
    assert transforms.check_transform("half", "absolute").sample_threshold(1.0, 0.5) == 0.5
    assert transforms.TRANSFORMS.origin("half") == "registered"
    assert transforms.TRANSFORMS.get("half").summary == "Half of it."
