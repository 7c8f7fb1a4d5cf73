import math
import re

import pytest

from predict_graph.algorithms import Parameter
from tests.refusals import refused

DAMPING = Parameter("damping", float, 0.85, "share that follows edges", 0.0, 1.0)
LIMIT = Parameter("max_iterations", int, 500, "stop after so many", 1)
OPTIONAL = Parameter("tolerance", float, None, "the threshold itself", 0.0)
CHOICE = Parameter("dangling", str, "uniform", "what becomes of rank", choices=("uniform", "drop"))


LEGAL = [
    (DAMPING, "0.9", 0.9),
    (DAMPING, 0.5, 0.5),
    (LIMIT, "12", 12),
    (LIMIT, 12.0, 12),
    (LIMIT, 1, 1),
    (OPTIONAL, None, None),
    (OPTIONAL, "1e-6", 1e-6),
    (CHOICE, "drop", "drop"),
]


@pytest.mark.parametrize(("parameter", "given", "kept"), LEGAL)
def test_a_legal_value_comes_back_with_the_declared_type(parameter, given, kept):
    value = parameter.check(given)
    assert value == kept
    assert type(value) is type(kept)


WRONG = [
    (DAMPING, 1.0, "greater than 0 and less than 1"),
    (DAMPING, 0, "greater than 0 and less than 1"),
    (DAMPING, math.nan, "greater than 0 and less than 1"),
    (DAMPING, "fast", "a number"),
    (DAMPING, True, "a number"),
    (DAMPING, None, "a number"),
    (LIMIT, 2.5, "a whole number at least 1"),
    (LIMIT, "2.5", "a whole number at least 1"),
    (LIMIT, 0, "a whole number at least 1"),
    (LIMIT, math.inf, "a whole number at least 1"),
    (OPTIONAL, -1, "greater than 0"),
    (CHOICE, "spread", "uniform, drop"),
]


@pytest.mark.parametrize(("parameter", "wrong", "accepted"), WRONG)
def test_a_wrong_value_is_named_with_what_is_accepted(parameter, wrong, accepted):
    value = re.escape(f"{parameter.name} is {wrong!r}; ")
    refused(f"{value}accepted: .*{accepted}", parameter.check, wrong)
