"""Iterations from the first supersteps of a run: how sure they are, alone and beside samples."""

from dataclasses import replace

import numpy as np
import pytest

from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.continued import continued_run, weighted
from predict_graph.table import Table

MESH = check_graph("grid:rows=60,columns=60")
CASES = [("connected-components", 119), ("neighborhood", 118), ("shortest-paths", 118)]


def started(name, done):
    algorithm = check_algorithm(name)
    profile = LocalEngine().run(algorithm, MESH, max_iterations=done)
    return continued_run(algorithm, profile, algorithm.threshold(MESH.vertices))


@pytest.mark.parametrize("done", [3, 10, 40])
@pytest.mark.parametrize(("name", "truth"), CASES)
def test_a_curve_that_hardly_falls_may_fall_at_any_time(name, truth, done):
    found = started(name, done)
    assert found.low == done + 1 <= truth <= found.high


def test_an_interval_that_is_cut_off_at_the_limit_is_not_taken_as_sure():
    """Both ends at the limit once gave one piece of evidence all of the weight."""
    own = started("connected-components", 10)
    late = replace(own, crossing=5e4, iterations=500, low=11, high=500)
    near = replace(own, crossing=119.0, iterations=119, low=100, high=140)
    found = weighted(near, late, 500)
    assert found.crossing < 150.0
    assert found.low < 119 < found.high < 500


def test_counters_of_what_was_counted_are_exact():
    own = started("connected-components", 10)
    exact = own.counters.take(slice(10))
    thrice = Table({name: 3.0 * values for name, values in own.counters.items()})
    sampled = replace(own, counters=thrice, crossing=100.0, iterations=100, high=150)
    found = weighted(sampled, own, 500).counters
    alone = weighted(replace(sampled, samples=[]), own, 500).counters
    for name in ("local_messages", "remote_messages"):
        assert found[name][:10] == pytest.approx(exact[name])
        assert found[name][10] == pytest.approx(3.0 * own.counters[name][10])
        assert np.all(alone[name] <= exact[name].max() * (1 + 1e-12))
