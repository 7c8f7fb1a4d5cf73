from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels.scaling import AutoScaling, Ernest

KMEANS = [2902, 304, 214, 178]  # on EC2: memory is short on 2 machines


def runs(seconds, repeats=1) -> tuple[pd.DataFrame, np.ndarray]:
    machines = np.repeat(2.0 * np.arange(1, len(seconds) + 1), repeats)
    return pd.DataFrame({"machines": machines}), np.repeat(np.asarray(seconds, float), repeats)


def test_the_cliff_is_found_and_kept_out_of_the_smooth_law():
    model = AutoScaling().fit(*runs(KMEANS))
    (cliff,) = model.cliffs_
    assert cliff.machines == (2, 4)
    assert cliff.excess == pytest.approx(2902 * 2 / (304 * 4))
    assert model.warnings_[0] == str(cliff)
    assert "at 2 machines the job is probably short of memory" in model.warnings_[0]
    assert "above scale/machines" in model.formula_
    # Published runs: 156 s on 10 machines.
    new = pd.DataFrame({"machines": [1, 2, 4, 10]})
    fewer, *others = model.predict(new)
    assert fewer > 2902
    assert others == pytest.approx([2902, 304, 156], rel=0.1)
    low, high = model.predict_interval(new)[3]
    assert low < 156 < high < 3 * low


def test_the_cliff_moves_with_the_data():
    X = pd.DataFrame(
        [(s, m) for s in (1, 2, 4) for m in (2, 4, 8, 16)], columns=["scale", "machines"]
    )
    load = X["scale"] / X["machines"]
    model = AutoScaling().fit(X, (20 + 200 * load) * np.where(load > 0.75, 4, 1))
    assert {cliff.scale: cliff.machines for cliff in model.cliffs_} == {2: (2, 4), 4: (4, 8)}
    new = pd.DataFrame({"scale": [8, 8], "machines": [8, 16]})
    assert model.predict(new) == pytest.approx([4 * 220, 120], rel=0.25)


@pytest.mark.parametrize("model", [AutoScaling(), Ernest()])
@pytest.mark.parametrize(
    ("seconds", "cliffs"),
    [
        ([400, 200, 134, 100], []),  # the ideal speed-up
        ([378, 180, 166, 154], []),  # a little more than ideal: caches
        ([100, 150, 230, 300], []),
        ([200, 180, 170, 40], [(6, 8)]),
    ],
)
def test_which_runs_have_a_cliff(model, seconds, cliffs):
    assert [cliff.machines for cliff in model.fit(*runs(seconds)).cliffs_] == cliffs


def test_noise_is_no_cliff():
    X, y = runs([400, 200, 134, 100], repeats=3)
    y = y * np.tile([0.5, 1, 2], 4)
    y[0:3] *= 1.8
    assert AutoScaling().fit(X, y).cliffs_ == []
