"""Intervals by the reach of a spread cover as often as they claim."""

import math

import numpy as np
import pytest

from costmodels.intervals import spread_reach

CASES = 4000


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("extra", [0.0, 0.2])
def test_repeats_with_a_known_error_are_covered(count, level, extra):
    rng = np.random.default_rng(11)
    values = rng.normal(0, 0.3, (CASES, count))
    truth = rng.normal(0, 0.3, CASES) + rng.normal(0, extra, CASES)
    own = values.var(axis=1, ddof=1) * (1 + 1 / count)
    reach = np.array([spread_reach(float(one), count - 1, extra**2, level) for one in own])
    covered = float(np.mean(np.abs(truth - values.mean(axis=1)) <= reach))
    # Exact without the extra error; with one and few values, somewhat on the safe side.
    assert covered == pytest.approx(level, abs=0.08 if extra else 0.032)
    assert covered > level - 0.032


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan])
def test_a_level_outside_is_refused(level):
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        spread_reach(0.1, 3, 0.0, level)
