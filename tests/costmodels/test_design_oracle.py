from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels.design import oracle_design
from costmodels.scaling import Ernest, Masha, masha_score


def measured(scales, machines, seed=0, noise=0.05) -> pd.DataFrame:
    table = pd.DataFrame([(s, m) for s in scales for m in machines], columns=["scale", "machines"])
    exact = 20 + 30 * table["scale"] / table["machines"] + 2 * table["machines"]
    table["seconds"] = exact * np.random.default_rng(seed).lognormal(0, noise, len(table))
    return table


def error(rows: pd.DataFrame, actual: pd.DataFrame) -> float:
    """Score of Ernest's model by estimators of scikit-learn alone."""
    columns = ["scale", "machines"]
    model = Ernest().fit(rows[columns], rows["seconds"])
    return masha_score(model.predict(actual[columns]), actual["seconds"])


def test_each_step_removes_the_run_without_which_the_error_is_least():
    samples, actual = measured((1, 2, 4), (1, 2, 4, 8)), measured((50,), (1, 2, 4, 8, 16), seed=1)
    found = oracle_design(samples, actual, Ernest(), fewest=5)
    steps = found.steps
    assert steps["experiments"].tolist() == [12, 11, 10, 9, 8, 7, 6, 5]
    left = found.experiments
    for step, after in zip(steps.iloc[:-1].itertuples(), steps["error"].iloc[1:], strict=True):
        errors = [error(left.drop(index=i), actual) for i in left.index]
        assert after == pytest.approx(min(errors), rel=1e-6)
        left = left.drop(index=step.removed)
    assert steps["removed"].iloc[-1] == -1


def test_the_chosen_design_has_the_best_ratio_of_the_small_ones():
    samples, actual = measured((1, 2, 4), (1, 2, 4, 8)), measured((50,), (1, 2, 4, 8), seed=1)
    found = oracle_design(samples, actual, most=6)
    small = found.steps[found.steps["experiments"] <= 6]
    best = small.loc[small["ratio"].idxmax()]
    assert len(found.points) == best["experiments"]
    assert found.points["cost"].sum() == pytest.approx(best["cost"])
    total = (actual["machines"] * actual["seconds"]).sum()
    assert best["overhead"] == pytest.approx(100 * best["cost"] / total)
    assert best["accuracy"] == 100 - best["error"]
    assert best["ratio"] == pytest.approx(best["accuracy"] / best["overhead"])


def test_an_outlier_is_removed_first():
    samples, actual = measured((1, 2, 4), (1, 4, 8), noise=0), measured((50,), (2, 8), noise=0)
    samples.loc[4, "seconds"] *= 10
    found = oracle_design(samples, actual, Ernest())
    outlier = found.experiments.index[found.experiments["seconds"].argmax()]
    assert found.steps["removed"].iloc[0] == outlier
    assert found.steps["error"].iloc[1] == pytest.approx(0, abs=1e-6)


def test_repeats_are_one_experiment():
    samples, actual = measured((1, 2), (1, 4, 8)), measured((50,), (2, 8))
    thrice = pd.concat([samples.assign(seconds=samples["seconds"] * f) for f in (0.9, 1, 1.2)])
    found = oracle_design(thrice, actual)
    assert len(found.experiments) == 6
    assert sorted(found.experiments["seconds"]) == pytest.approx(sorted(samples["seconds"]))


def test_other_models_and_estimators():
    from sklearn.linear_model import LinearRegression

    samples, actual = measured((1, 2, 4), (1, 4, 8)), measured((50,), (2, 8))
    for model in (None, Masha(weights="none"), LinearRegression()):
        found = oracle_design(samples, actual, model, fewest=4)
        assert 4 <= len(found.points) <= 9
        assert np.isfinite(found.steps["error"]).all()


def test_what_is_refused():
    samples, actual = measured((1, 2), (1, 4)), measured((50,), (2, 8))
    with pytest.raises(ValueError, match="samples has no column 'seconds'"):
        oracle_design(samples.drop(columns="seconds"), actual)
    with pytest.raises(ValueError, match="actual has no rows"):
        oracle_design(samples, actual.head(0))
    with pytest.raises(ValueError, match="seconds of actual, row 1, is 0, but must be positive"):
        oracle_design(samples, actual.assign(seconds=[1, 0]))
    with pytest.raises(ValueError, match="fewest is 5 and most 4"):
        oracle_design(samples, actual, fewest=5, most=4)
    with pytest.raises(ValueError, match="found 2 sample experiments, but 3 are the fewest"):
        oracle_design(samples.head(2), actual)
