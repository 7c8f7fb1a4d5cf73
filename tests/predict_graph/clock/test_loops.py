"""What remains of a loop: by rounds, by the work that rounds are estimated to be, and by both."""

from __future__ import annotations

import math

import numpy as np
import pytest

from predict_graph.clock import Moment, remaining_of
from predict_graph.clock.loops import outlasted, with_first
from predict_graph.intervals import Interval


def trail_of(work: np.ndarray, part: float) -> list[tuple[float, float, float]]:
    """Return a trail through rounds that take as long as their work, until a part of the time."""
    ends = np.cumsum(work)
    seen = np.linspace(0.01, part, 40) * ends[-1]
    return [(at, float(np.searchsorted(ends, at)), float(len(work))) for at in seen.tolist()]


@pytest.mark.parametrize("part", [0.25, 0.5, 0.75])
def test_rounds_that_are_not_alike_are_measured_by_their_work(part: float) -> None:
    rng = np.random.default_rng(1)
    work = np.sort(rng.pareto(1.8, 5000) + 0.1)[::-1]  # hubs first, as in many files
    whole = float(work.sum())
    trail = trail_of(work * rng.uniform(0.8, 1.2, 5000), part)
    assumed = np.concatenate(([0.0], np.cumsum(work))) / whole
    other = np.concatenate(([0.0], np.cumsum(work[::-1]))) / whole
    plain = remaining_of(trail, trail[-1][0]).total
    better = remaining_of(trail, trail[-1][0], {"wrong": other, "right": assumed}).total
    assert plain is not None
    assert better is not None
    assert abs(better / whole - 1.0) < 0.1
    assert abs(plain / whole - 1.0) > 2.0 * abs(better / whole - 1.0)


def test_even_rounds_stay_even_beside_a_guess_that_does_not_hold() -> None:
    trail = trail_of(np.full(1000, 0.01), 0.5)
    wrong = np.linspace(0.0, 1.0, 1001) ** 3
    found = remaining_of(trail, trail[-1][0], {"wrong": wrong, "of other rounds": wrong[:50]})
    assert found.total == pytest.approx(10.0, rel=0.05)


def test_a_first_prediction_counts_less_and_less() -> None:
    first = Interval.spread(100.0, 0.4)
    corrected = []
    for part in (0.02, 0.3, 0.8):
        trail = trail_of(np.full(1000, 0.02), part)
        moment = remaining_of(trail, trail[-1][0])
        total = with_first(moment, first).total
        assert total is not None
        corrected.append(total)
    assert corrected[0] > corrected[1] > corrected[2] > 19.9
    assert corrected[2] < 24.0


def test_what_has_outlasted_its_prediction_lasts_on() -> None:
    first = Interval.spread(10.0, 0.3)
    left = [outlasted(first, elapsed).predicted for elapsed in (1.0, 8.0, 15.0, 60.0)]
    assert left[0] == pytest.approx(9.0, rel=0.02)
    assert min(left) > 0.0
    assert all(outlasted(first, e).low < outlasted(first, e).high for e in (1.0, 30.0, 1e4))
    moment = Moment(5.0, 3, Interval(10, 10, 10))
    assert with_first(moment, first) is moment
    assert math.isfinite(left[3])
