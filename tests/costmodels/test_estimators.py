from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from costmodels import ForwardSelectedLinear, NonNegativeLinear
from tests.paces import million_loops

BOTH = [NonNegativeLinear, ForwardSelectedLinear]


@pytest.mark.slow
@parametrize_with_checks(
    [NonNegativeLinear(weights="none", fit_intercept=False), ForwardSelectedLinear()]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def work(rows: int, seed: int, noise: float = 0.0) -> tuple[pd.DataFrame, pd.Series]:
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
    assert fitted.residual_std_ == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(fitted.relative_residuals_, 0, atol=1e-9)
    assert list(fitted.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(fitted.predict(X), y)


def test_nnls_agrees_with_scipy_and_is_optimal():
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(3)
    for _ in range(20):
        X = rng.normal(size=(25, 6))
        y = rng.uniform(1, 3, 25)
        design = np.column_stack((np.ones(25), X)) / y[:, None]
        other = lsq_linear(design, np.ones(25), bounds=(0, np.inf), tol=1e-14).x
        model = NonNegativeLinear().fit(X, y)
        ours = np.r_[model.intercept_, model.coef_]
        assert (ours >= 0).all()
        np.testing.assert_allclose(ours, other, atol=1e-6)


def test_scale_of_columns_does_not_matter():
    X, y = work(40, 1, noise=0.1)
    for model in (NonNegativeLinear(), ForwardSelectedLinear()):
        factors = np.array([1e12, 1e-9, 1e6, 1e-3])
        plain = model.fit(X, y).predict(X)
        scaled = model.fit(X * factors, y).predict(X * factors)
        np.testing.assert_allclose(plain, scaled, rtol=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_residual_figures_are_what_they_say(model):
    X, y = work(50, 2, noise=0.2)
    weight = np.random.default_rng(0).integers(0, 4, 50)
    fitted = model().fit(X, y, sample_weight=weight)
    predicted = fitted.predict(X)
    np.testing.assert_allclose(fitted.relative_residuals_, predicted / y - 1)
    repeated = np.repeat(np.arange(50), weight)
    left = (y - predicted).to_numpy()[repeated]
    unknowns = np.count_nonzero(fitted.coef_) + (fitted.intercept_ > 0)
    freedom = len(repeated) - unknowns
    assert fitted.residual_std_ == pytest.approx(np.sqrt((left**2).sum() / freedom))
    relative = fitted.relative_residuals_[repeated]
    assert fitted.relative_std_ == pytest.approx(np.sqrt((relative**2).sum() / freedom))
    spread = ((y.to_numpy()[repeated] - y.to_numpy()[repeated].mean()) ** 2).sum()
    assert fitted.r2_ == pytest.approx(1 - (left**2).sum() / spread)


def test_relative_weights_serve_short_runs():
    rng = np.random.default_rng(5)
    X = np.geomspace(1, 1e4, 60)[:, None]
    y = (3 + 2 * X[:, 0]) * rng.lognormal(0, 0.2, 60)
    small = X[:, 0] < 10
    error = {}
    for weights in ("relative", "none"):
        model = NonNegativeLinear(weights=weights).fit(X, y)
        error[weights] = np.abs(model.predict(X[small]) / (3 + 2 * X[small, 0]) - 1).mean()
    assert error["relative"] < 0.1 < error["none"]


def test_forward_selection_drops_noise_and_keeps_what_matters():
    wrong = 0
    for seed in range(20):
        X, y = work(60, seed, noise=0.1)
        model = ForwardSelectedLinear().fit(X, y)
        assert model.selected_[0] == "remote_messages"
        wrong += len({"local_messages", "average_message_bytes"} & {*model.selected_})
        assert model.terms_.keys() == {"intercept", *model.selected_}
        errors = [error for _, error in model.path_]
        assert errors == sorted(errors, reverse=True)
        assert model.left_out_error_ == errors[-1]
    assert wrong <= 2


def test_few_collinear_rows_do_not_overfit():
    # One row a sample run, all counters nearly proportional: the case of PageRank.
    rng = np.random.default_rng(7)
    errors = []
    for _ in range(30):
        size = np.array([0.05, 0.1, 0.15, 0.2])
        X = size[:, None] * 1e6 * rng.uniform(0.5, 5, 7) * rng.lognormal(0, 0.05, (4, 7))
        whole = X.mean(axis=0) / size.mean()
        cost = 2e-7 / (whole[0] / 1e6)
        model = ForwardSelectedLinear().fit(X, cost * size * 1e6 * whole[0] / 1e6 + 0.002)
        errors.append(model.predict(whole[None])[0] / (cost * whole[0] + 0.002) - 1)
    assert np.median(np.abs(errors)) < 0.1


def test_of_equal_columns_the_first_is_taken():
    X, y = work(40, 4, noise=0.05)
    X.insert(1, "copy", 7 * X["remote_messages"])
    X.insert(2, "other", 3 * X["remote_messages"])
    assert ForwardSelectedLinear().fit(X, y).selected_[0] == "copy"


def test_columns_of_zeros_are_never_selected():
    X, y = work(20, 4)
    X["remote_message_bytes"] = 0.0
    for model in (NonNegativeLinear(), ForwardSelectedLinear()):
        assert model.fit(X, y).coef_[-1] == 0


def test_leaving_runs_out_keeps_columns_out_that_only_tell_runs_apart():
    # Within a run the rows hardly differ, so each row that is left out has its like among the
    # others, and any column that happens to follow the runs' own factors seems to predict.
    wrong = {"rows": 0, "runs": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        run = np.repeat(np.arange(8), 20)
        messages = np.linspace(1, 5, 8)[run] * rng.uniform(0.99, 1.01, 160)
        X = np.column_stack((messages, rng.uniform(0, 5, (8, 8))[run]))
        y = messages * rng.lognormal(0, 0.4, 8)[run] * rng.lognormal(0, 0.01, 160)
        for name, groups in (("rows", None), ("runs", run)):
            selected = ForwardSelectedLinear().fit(X, y, groups=groups).selected_
            wrong[name] += len({*selected} - {"x0"})
    assert wrong["runs"] < 0.75 * wrong["rows"]


def test_required_and_most_terms():
    X, y = work(40, 8, noise=0.02)
    model = ForwardSelectedLinear(max_terms=1).fit(X, y)
    assert model.selected_ == ["remote_messages"]
    model = ForwardSelectedLinear(required=("active_vertices",), max_terms=1).fit(X, y)
    assert model.selected_ == ["active_vertices"]
    with pytest.raises(ValueError, match="'edges'; there are: active_vertices"):
        ForwardSelectedLinear(required=("edges",)).fit(X, y)


def test_a_fit_takes_milliseconds():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 100, (500, 8))
    y = (1 + X @ rng.uniform(0, 1, 8)) * rng.lognormal(0, 0.1, 500)
    for groups in (None, np.arange(500) % 50):
        model = ForwardSelectedLinear()
        assert million_loops(lambda groups=groups, model=model: model.fit(X, y, groups=groups)) < 5


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X.mask(X > 9e6), y), "NaN"),
        (lambda X, y: (X, y.where(y.index != 3)), "NaN"),
        (lambda X, y: (X, y.where(y.index != 3, -1.0)), "y of row 3 is -1.*positive"),
        (lambda X, y: (X, y.where(y.index != 3, 0.0)), "y of row 3 is 0"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X[:1], y[:1]), "1 sample"),
        (lambda X, y: (X[:5], y[:4]), "inconsistent numbers of samples"),
    ],
)
def test_bad_data_is_refused(model, change, message):
    X, y = change(*work(20, 0))
    with pytest.raises(ValueError, match=message):
        model().fit(X, y)


@pytest.mark.parametrize("model", BOTH)
def test_bad_weights_are_refused(model):
    X, y = work(20, 0)
    with pytest.raises(ValueError, match="'log'; accepted: relative, none"):
        model(weights="log").fit(X, y)
    with pytest.raises(ValueError, match=r"are 0|non-zero"):
        model().fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match="y of row 0 is -"):
        model(weights="none").fit(X, -y)


def test_too_few_rows_are_refused():
    X, y = work(20, 0)
    with pytest.raises(ValueError, match="3 samples, too few to tell 5 unknowns apart"):
        NonNegativeLinear().fit(np.eye(3, 4) + 1, [9.0, 7.0, 8.0])
    with pytest.raises(ValueError, match="2 distinct rows of features"):
        ForwardSelectedLinear().fit(X.iloc[[0, 1] * 5], y.iloc[[0, 1] * 5])


@pytest.mark.parametrize(
    ("options", "groups", "message"),
    [
        ({"min_gain": 1.0}, None, "min_gain"),
        ({"max_terms": 0}, None, "max_terms"),
        ({"max_folds": 1}, None, "folds"),
        ({}, np.zeros(20), "at least 2"),
        ({}, np.zeros(19), "shape"),
    ],
)
def test_bad_options_and_groups_are_refused(options, groups, message):
    with pytest.raises(ValueError, match=message):
        ForwardSelectedLinear(**options).fit(*work(20, 0), groups=groups)
