"""The clock of a run of supersteps: what remains, from what was expected and what is seen."""

import math

import numpy as np
import pytest

from predict_graph.clock import supersteps
from predict_graph.clock.loops import remaining_after, remaining_of, with_prediction
from predict_graph.clock.moment import Moment
from predict_graph.intervals import Interval

THRESHOLD = 1e-6


def part(iterations=20.0, std=0.2, seconds=None):
    profile = np.full(round(iterations), 1.0) if seconds is None else seconds
    return supersteps.ExpectedPart("pagerank", iterations, std, profile, 0.3)


def geometric(factor, steps):
    return 0.1 * factor ** np.arange(1.0, steps + 1.0)


def crossing(factor):
    return int(np.ceil(np.log(THRESHOLD / 0.1) / np.log(factor)))


@pytest.mark.parametrize("factor", [0.3, 0.7, 0.9])
def test_a_curve_is_followed_to_its_threshold(factor):
    whole = crossing(factor)
    done = max(whole // 2, 2)
    left, std = supersteps.supersteps_left(done, None, geometric(factor, done), THRESHOLD)
    assert abs(left - (whole - done)) <= 1.0
    assert 0.0 < std < whole


def test_a_wrong_expectation_is_corrected_by_the_curve():
    whole = crossing(0.7)
    expected = part(iterations=whole * 2.0, std=0.5)
    errors = []
    for done in (2, whole // 4, whole // 2, 3 * whole // 4):
        left, _ = supersteps.supersteps_left(done, expected, geometric(0.7, done), THRESHOLD)
        errors.append(abs(left - (whole - done)))
    assert errors[-1] <= 1.0
    assert errors[-1] <= errors[0]


def test_a_run_longer_than_expected_always_has_something_left():
    expected = part(iterations=10.0, std=0.1)
    for done in range(10, 40):
        left, std = supersteps.supersteps_left(done, expected, np.empty(0), 0.0)
        assert left >= 1.0
        assert std > 0.0


def test_a_limit_ends_a_run():
    assert supersteps.supersteps_left(8, part(30.0), np.empty(0), 0.0, limit=10) == (2.0, 0.0)
    left, std = supersteps.supersteps_left(1, part(30.0, 0.0), np.empty(0), 0.0, limit=10)
    assert (left, std) == (9.0, 0.0)


def test_seconds_follow_the_expected_work_at_the_pace_that_is_seen():
    """Supersteps that get shorter, as where changes die out; the machine is half as fast."""
    profile = 2.0 ** -np.arange(10.0)
    real = 2.0 * profile
    left, _ = supersteps.seconds_left(real[:4], part(10.0, 0.0, seconds=profile), 6.0, 0.0)
    assert left == pytest.approx(real[4:].sum(), rel=0.1)


BASELINE = supersteps.Expected(
    (part(20.0, 0.3),), 2.0, Interval.spread(22.0, 0.3), 0.0, "a baseline"
)


def test_the_interval_narrows_and_the_end_is_known():
    clock = supersteps.SuperstepClock(BASELINE)
    before = clock.moment(1.0)
    assert before.state == "before"
    assert before.remaining.predicted == pytest.approx(21.0)
    clock.begins("pagerank", 2.0, threshold=THRESHOLD)
    curve, widths, at = geometric(0.5, crossing(0.5)), [], 2.0
    for number, aggregate in enumerate(curve, start=1):
        at += 1.0
        clock.superstep(number, at, aggregate)
        remaining = clock.moment(at).remaining
        assert remaining.low <= remaining.predicted <= remaining.high
        widths.append(remaining.high - remaining.low)
    assert widths[-2] < 0.3 * widths[0]
    assert clock.moment(at).remaining.predicted == 0.0
    clock.end(at)
    last = clock.moment(at + 5.0)
    assert (last.state, last.elapsed, last.share, last.first) == ("ended", at, 1.0, 22.0)


def test_reading_that_takes_longer_than_the_run_leaves_the_run():
    first = supersteps.SuperstepClock(BASELINE.later(58.0)).moment(60.0).remaining
    assert first.predicted == pytest.approx(20.0, rel=0.2)
    assert first.low > 0.0


def test_a_chain_has_its_later_parts_ahead():
    second = supersteps.ExpectedPart("topk-ranking", 3.0, 0.0, np.full(3, 4.0), 0.1)
    clock = supersteps.SuperstepClock(supersteps.Expected((part(4.0, 0.0), second)))
    clock.begins("pagerank", 0.0)
    clock.superstep(1, 1.0)
    assert clock.moment(1.0).remaining.predicted == pytest.approx(15.0, rel=0.1)
    for number in (2, 3, 4):
        clock.superstep(number, float(number))
    clock.begins("topk-ranking", 4.0)
    assert clock.moment(4.0).algorithm == "topk-ranking"
    assert clock.moment(4.0).remaining.predicted == pytest.approx(12.0, rel=0.1)


# What remains of a loop: by rounds, by the work that rounds are estimated to be, and by both.


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
        corrected.append(with_prediction(remaining_of(trail, trail[-1][0]), first).total)
    assert corrected[0] > corrected[1] > corrected[2] > 19.9
    assert corrected[2] < 24.0


def test_what_has_outlasted_its_prediction_lasts_on():
    first = Interval.spread(10.0, 0.3)
    left = [remaining_after(first, elapsed).predicted for elapsed in (1.0, 8.0, 15.0, 60.0)]
    assert left[0] == pytest.approx(9.0, rel=0.02)
    assert min(left) > 0.0
    for low, high in (remaining_after(first, elapsed) for elapsed in (1.0, 30.0, 1e4)):
        assert low < high
    moment = Moment(5.0, 3, Interval(10, 10, 10))
    assert with_prediction(moment, first) is moment
    assert math.isfinite(left[3])
