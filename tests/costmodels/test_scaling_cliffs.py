from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels.scaling import AutoScaling, Ernest


def runs(seconds, repeats=1, scale=1.0) -> tuple[pd.DataFrame, np.ndarray]:
    machines = np.repeat(2.0 * np.arange(1, len(seconds) + 1), repeats)
    X = pd.DataFrame({"scale": scale, "machines": machines})
    return X, np.repeat(np.asarray(seconds, float), repeats)


def test_the_cliff_is_found_told_and_kept_out_of_the_smooth_law():
    # k-means on EC2: memory is short on 2 machines.
    X, y = runs([2902, 304, 214, 178])
    model = AutoScaling().fit(X, y)
    (cliff,) = model.cliffs_
    assert cliff.machines == (2, 4)
    assert cliff.excess == pytest.approx(2902 * 2 / (304 * 4))
    assert model.warnings_[0] == str(cliff)
    assert "at 2 machines the job is probably short of memory" in model.warnings_[0]
    assert model.predict(pd.DataFrame({"scale": [1.0], "machines": [4]}))[0] == pytest.approx(
        304, rel=0.05
    )
    # Published runs: 156 s on 10 machines, 118 s on 12.
    assert model.predict(pd.DataFrame({"scale": [1.0], "machines": [10]}))[0] == pytest.approx(
        156, rel=0.1
    )
    kept = Ernest(weights="none").fit(X, y)
    assert kept.warnings_[0] == str(cliff)
    assert "this model does not fit" in kept.warnings_[1]
    far = pd.DataFrame({"scale": [1.0], "machines": [12]})
    assert abs(model.predict(far)[0] - 118) < abs(kept.predict(far)[0] - 118)


def test_the_side_short_of_memory_is_predicted_as_it_was_measured():
    X, y = runs([2902, 304, 214, 178])
    model = AutoScaling().fit(X, y)
    measured, fewer = model.predict(pd.DataFrame({"scale": 1.0, "machines": [2, 1]}))
    assert measured == pytest.approx(2902, rel=0.01)
    assert fewer > 2902
    assert "above scale/machines" in model.formula_


def test_the_cliff_moves_with_the_data():
    X = pd.DataFrame(
        [(s, m) for s in (1, 2, 4) for m in (2, 4, 8, 16)], columns=["scale", "machines"]
    )
    load = X["scale"] / X["machines"]
    y = (20 + 200 * load) * np.where(load > 0.75, 4, 1)
    model = AutoScaling().fit(X, y)
    assert {cliff.scale: cliff.machines for cliff in model.cliffs_} == {2: (2, 4), 4: (4, 8)}
    new = pd.DataFrame({"scale": [8, 8], "machines": [8, 16]})
    assert model.predict(new) == pytest.approx([4 * 220, 120], rel=0.25)
    low, high = model.predict_interval(new).T
    assert (low < [4 * 220, 120]).all()
    assert (high > [4 * 220, 120]).all()


@pytest.mark.parametrize(
    "seconds",
    [
        [400, 200, 134, 100],  # the ideal speed-up
        [378, 180, 166, 154],  # a little more than ideal: caches
        [100, 100, 100, 100],
        [100, 150, 230, 300],
    ],
)
def test_smooth_runs_have_no_cliff(seconds):
    assert AutoScaling().fit(*runs(seconds)).cliffs_ == []


def test_noise_is_no_cliff():
    X, y = runs([400, 200, 134, 100], repeats=3)
    y = y * np.tile([0.5, 1, 2], 4)
    y[0:3] *= 1.8
    assert AutoScaling().fit(X, y).cliffs_ == []
    assert len(AutoScaling().fit(*runs([720, 200, 134, 100])).cliffs_) == 1


def test_a_cliff_with_one_point_beyond_it_is_reported():
    for model in (AutoScaling(), Ernest()):
        model.fit(*runs([200, 180, 170, 40]))
        assert [cliff.machines for cliff in model.cliffs_] == [(6, 8)]


def test_a_cliff_does_not_widen_the_interval_of_the_smooth_side():
    model = AutoScaling().fit(*runs([2902, 304, 214, 178]))
    X = pd.DataFrame({"scale": 1.0, "machines": [2, 10]})
    (_, _), (low, high) = model.predict_interval(X)
    assert low < 156 < high
    assert high / low < 3
