"""NIMO's metrics, and the figures that the paper prints (sections V-A and V-C)."""

import numpy as np
import pytest

from costmodels import metrics
from tests.refusals import invalid

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
