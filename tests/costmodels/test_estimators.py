import numpy as np
import pandas as pd
import pytest

from costmodels import ForwardSelectedLinear, NonNegativeLinear
from tests.paces import million_loops

BOTH = [NonNegativeLinear, ForwardSelectedLinear]


def work(rows, seed, noise=0.0):
    """Counters of Table 1's sizes, and seconds that two of them cost."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "active_vertices": rng.uniform(1e3, 1e5, rows),
            "local_messages": rng.uniform(1e4, 1e7, rows),
            "remote_messages": rng.uniform(1e4, 1e7, rows),
            "average_message_bytes": rng.uniform(8, 16, rows),
        }
    )
    y = 0.05 + 3e-7 * X["active_vertices"] + 8e-8 * X["remote_messages"]
    return X, y * rng.lognormal(0, noise, rows)


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("weights", ["relative", "none"])
def test_true_costs_are_found(model, weights):
    X, y = work(30, 0)
    fitted = model(weights=weights).fit(X, y)
    assert fitted.intercept_ == pytest.approx(0.05)
    np.testing.assert_allclose(fitted.coef_, [3e-7, 0, 8e-8, 0], atol=1e-12)
    assert fitted.r2_ == pytest.approx(1)
    assert fitted.relative_std_ == pytest.approx(0, abs=1e-9)
    assert list(fitted.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(fitted.predict(X), y)


@pytest.mark.parametrize("model", BOTH)
def test_residual_figures_are_what_they_say(model):
    X, y = work(50, 2, noise=0.2)
    weight = np.random.default_rng(0).integers(0, 4, 50)
    fitted = model().fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(50), weight)
    again = model().fit(X.iloc[rows], y.iloc[rows])
    assert again.r2_ == pytest.approx(fitted.r2_)
    assert again.r2_ == pytest.approx(again.score(X.iloc[rows], y.iloc[rows]))
    relative = again.predict(X.iloc[rows]) / y.iloc[rows] - 1
    freedom = len(rows) - np.count_nonzero(again.coef_) - (again.intercept_ > 0)
    assert fitted.relative_std_ == pytest.approx(np.sqrt((relative**2).sum() / freedom))


def test_a_fit_takes_milliseconds():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 100, (500, 8))
    y = (1 + X @ rng.uniform(0, 1, 8)) * rng.lognormal(0, 0.1, 500)
    for groups in (None, np.arange(500) % 50):
        model = ForwardSelectedLinear()
        assert million_loops(lambda groups=groups, model=model: model.fit(X, y, groups=groups)) < 5


X, Y = work(20, 0)
EYE = (np.eye(3, 4) + 1, [9.0, 7.0, 8.0])


REFUSED = [
    *((model(weights="log"), (X, Y), {}, "'log'; accepted: relative") for model in BOTH),
    *((model(), (X, Y), {"sample_weight": 0 * Y}, r"are 0|non-zero") for model in BOTH),
    *((model(weights="none"), (X, -Y), {}, "y of row 0 is -.* 0 or more") for model in BOTH),
    *((model(), (X, Y.where(Y.index != 3, 0.0)), {}, "y of row 3 is 0.*pos") for model in BOTH),
    *((model(), (X[:5], Y[:4]), {}, "inconsistent numbers of samples") for model in BOTH),
    (NonNegativeLinear(), EYE, {}, "3 samples, too few to tell 5 unknowns apart"),
    (ForwardSelectedLinear(), (X[:2], Y[:2]), {}, "2 distinct rows of features"),
    (ForwardSelectedLinear(min_gain=1.0), (X, Y), {}, "min_gain"),
    (ForwardSelectedLinear(max_folds=1), (X, Y), {}, "folds"),
    (ForwardSelectedLinear(), (X, Y), {"groups": np.zeros(20)}, "at least 2"),
    (ForwardSelectedLinear(), (X, Y), {"groups": np.zeros(19)}, "shape"),
]


@pytest.mark.parametrize(("model", "data", "more", "message"), REFUSED)
def test_bad_data_and_options_are_refused(model, data, more, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*data, **more)
