from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels.scaling import AutoScaling
from costmodels.scaling.cliffs import Cliff, slow_from


def cluster(machines) -> pd.DataFrame:
    return pd.DataFrame({"machines": machines})


@pytest.mark.parametrize("weights", ["relative", "none"])
def test_the_usual_exponent_is_found(weights):
    m = np.array([2, 4, 8, 12])
    model = AutoScaling(weights=weights).fit(cluster(m), 40 + 600 * m**-1.7)
    assert model.predict(cluster([6, 16])) == pytest.approx(
        40 + 600 * np.array([6, 16]) ** -1.7, rel=1e-6
    )


def test_repeats_overrule_the_usual_exponent():
    m = np.array([2, 4, 6, 8])
    errors = []
    for repeats in (1, 50):
        known = np.repeat(m, repeats)
        model = AutoScaling().fit(cluster(known), 50 + 300 / known)
        errors.append(abs(model.predict(cluster([12]))[0] / 75 - 1))
    assert errors[1] < 0.02 < errors[0] < 0.1


def test_seconds_of_another_unit_change_nothing():
    m = np.array([2, 4, 6, 8])
    seconds = np.array([210.0, 120, 105, 90])
    for weights in ("relative", "none"):
        plain, scaled = (
            AutoScaling(weights=weights).fit(cluster(m), k * seconds).predict(cluster([12]))
            for k in (1, 1000)
        )
        assert scaled == pytest.approx(1000 * plain)


def test_the_slow_side_begins_nearer_to_the_slow_point():
    cliff = Cliff(1.0, (2.0, 8.0), (4000.0, 250.0), 4.0)
    assert 1 / 8 < cliff.load < slow_from([cliff]) < 1 / 2
    assert slow_from([cliff]) == pytest.approx(4**0.8 / 8)


def test_cliffs_of_several_scales_narrow_the_edge():
    wide = Cliff(1.0, (2.0, 8.0), (4000.0, 250.0), 4.0)
    narrow = Cliff(2.0, (6.0, 8.0), (900.0, 300.0), 2.25)
    assert 2 / 8 < slow_from([wide, narrow]) < 2 / 6
