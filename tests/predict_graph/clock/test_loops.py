"""What remains of a loop: by rounds, by the work that rounds are estimated to be, and by both."""

import math

import numpy as np
import pytest

from predict_graph.clock import Moment, remaining_of
from predict_graph.clock.loops import remaining_after, with_prediction
from predict_graph.intervals import Interval


def trail_of(work, part):
    """Return a trail through rounds that take as long as their work, until a part of the time."""
    ends = np.cumsum(work)
    seen = np.linspace(0.01, part, 40) * ends[-1]
    return [(at, float(np.searchsorted(ends, at)), float(len(work))) for at in seen.tolist()]


def test_an_even_pace_goes_on():
    trail = trail_of(np.full(1000, 0.01), 0.5)
    assert remaining_of(trail, trail[-1][0]).total == pytest.approx(10.0, rel=0.05)


def test_an_iteration_that_takes_longer_than_others_is_not_about_to_end():
    trail = [(1.0, 1.0, 4.0), (2.0, 2.0, 4.0)]
    on_time, late = (remaining_of(trail, elapsed).remaining for elapsed in (2.5, 20.0))
    assert on_time.predicted == pytest.approx(1.5, rel=0.01)
    assert late.predicted > 5.0
    assert late.high / late.predicted > on_time.high / on_time.predicted


def test_a_first_prediction_counts_less_and_less():
    first = Interval.spread(100.0, 0.4)
    corrected = []
    for part in (0.02, 0.3, 0.8):
        trail = trail_of(np.full(1000, 0.02), part)
        moment = remaining_of(trail, trail[-1][0])
        total = with_prediction(moment, first).total
        assert total is not None
        corrected.append(total)
    assert corrected[0] > corrected[1] > corrected[2] > 19.9
    assert corrected[2] < 24.0


def test_what_has_outlasted_its_prediction_lasts_on():
    first = Interval.spread(10.0, 0.3)
    left = [remaining_after(first, elapsed).predicted for elapsed in (1.0, 8.0, 15.0, 60.0)]
    assert left[0] == pytest.approx(9.0, rel=0.02)
    assert min(left) > 0.0
    assert all(
        remaining_after(first, e).low < remaining_after(first, e).high for e in (1.0, 30.0, 1e4)
    )
    moment = Moment(5.0, 3, Interval(10, 10, 10))
    assert with_prediction(moment, first) is moment
    assert math.isfinite(left[3])
