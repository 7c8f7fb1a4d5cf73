"""Intervals as numbers: what a user writes with them in Python."""

import operator
from fractions import Fraction

import numpy as np
import pytest

from predict_graph.intervals import Interval

RUNTIME = Interval(40.0, 34.0, 47.0)


@pytest.mark.parametrize("number", [45, 45.0, np.float64(45), np.int32(45), Fraction(45)])
def test_an_interval_compares_with_numbers_on_either_side(number):
    for less, more in ((operator.lt, operator.gt), (operator.le, operator.ge)):
        assert [less(RUNTIME, number), more(number, RUNTIME)] == [True, True]
        assert [less(number, RUNTIME), more(RUNTIME, number)] == [False, False]


def test_an_interval_compares_with_its_own_estimate_and_sorts():
    assert RUNTIME <= 40.0 <= RUNTIME
    shorter = Interval(20.0, 1.0, 90.0)
    assert sorted([RUNTIME, shorter]) == [shorter, RUNTIME]
    assert max(RUNTIME, shorter) is RUNTIME
    with pytest.raises(TypeError, match="not supported"):
        assert RUNTIME < "45"
    assert RUNTIME != "45"
