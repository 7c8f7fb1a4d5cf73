"""Intervals about predictions cover as often as they claim."""

import numpy as np
import pytest

from costmodels.leftout import interval_about

CASES = 4000


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_runs_with_a_known_noise_are_covered(count, level, noise):
    rng = np.random.default_rng(11)
    errors = rng.normal(0, 0.3, (CASES, count))
    run = np.exp(rng.normal(0, 0.3, CASES) + rng.normal(0, noise, CASES))
    low, high = np.array([interval_about(np.ones(1), one, level, noise)[0] for one in errors]).T
    covered = float(np.mean((low <= run) & (run <= high)))
    # Exact without the noise; with it and few errors, nearly so.
    assert covered == pytest.approx(level, abs=0.06 if noise else 0.032)
    assert covered > level - 0.04
