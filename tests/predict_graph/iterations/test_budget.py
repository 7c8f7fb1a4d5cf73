"""Overhead is budgeted in edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.errors import RequestError
from predict_graph.iterations import EdgeBudget, check_max_overhead


@given(edges=st.integers(1, 10**12), overhead=st.floats(1e-9, 5.0))
def test_the_shares_stay_within_the_total(edges, overhead):
    budget = EdgeBudget(edges, overhead)
    shares = (budget.for_completion, budget.for_costs, budget.for_counters)
    assert min(shares) >= 0
    assert sum(shares) <= budget.total
    assert budget.total <= max(overhead * edges, 1_200_000)


def test_a_lower_cap_is_obeyed_on_small_graphs_too():
    assert EdgeBudget(100_000, 0.1).total == 10_000
    assert EdgeBudget(100_000).total > 100_000


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_wrong_overhead(value):
    with pytest.raises(RequestError, match=f"max overhead is {value}; accepted"):
        check_max_overhead(value)


def test_the_default_overhead():
    assert check_max_overhead(None) == EdgeBudget(1).max_overhead
    assert check_max_overhead(2) == 2.0
