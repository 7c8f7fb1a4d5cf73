"""Linear models of costs: true ones are found, and forward selection chooses as a search would."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls

from costmodels import ForwardSelectedLinear, NonNegativeLinear
from tests.paces import lines_run
from tests.refusals import invalid

SIZES = {
    "active_vertices": (1e3, 1e5),
    "local_messages": (1e4, 1e7),
    "remote_messages": (1e4, 1e7),
    "average_message_bytes": (8, 16),
}
BOTH = [NonNegativeLinear, ForwardSelectedLinear]


def work(rows, seed, noise=0.0):
    """Counters of Table 1's sizes, and seconds that two of them cost."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.uniform(*ends, rows) for name, ends in SIZES.items()})
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


def test_a_fit_has_no_loop_over_rows_in_python():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 100, (500, 8))
    y = (1 + X @ rng.uniform(0, 1, 8)) * rng.lognormal(0, 0.1, 500)
    for groups in (None, np.arange(500) % 50):
        model = ForwardSelectedLinear()
        # Of rows, columns and folds, a loop over all would run as many lines.
        lines = lines_run(lambda model=model, groups=groups: model.fit(X, y, groups=groups))
        assert lines < 500 * 8 * 50


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
    invalid(message, model.fit, *data, **more)


# Forward selection, beside a search that fits every model of every fold anew.

ROWS, COLUMNS = 24, 6
SEEDS = range(6)
GROUPS = np.arange(ROWS) % 6


def table(seed, noise, *, alike=0.0):
    """Counters of different sizes; the first three have a cost."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 9, size=(ROWS, COLUMNS))
    X += alike * rng.uniform(1, 9, size=(ROWS, 1))
    y = (3 + X[:, :3] @ [4, 2, 1]) * rng.lognormal(0, noise, ROWS)
    return X[:, rng.permutation(COLUMNS)] * 10.0 ** rng.integers(-3, 7, COLUMNS), y


def left_out_error(columns, X, y, relative):
    """Root-mean-square error of groups by an intercept and costs of the others, none negative."""
    importance = 1 / y if relative else np.ones(len(y))
    design = np.column_stack((np.ones(len(y)), X[:, columns])) * importance[:, None]
    design, target = design / np.linalg.norm(design, axis=0), y * importance
    errors = [
        design[out == GROUPS] @ nnls(design[out != GROUPS], target[out != GROUPS])[0]
        - target[out == GROUPS]
        for out in np.unique(GROUPS)
    ]
    return np.sqrt(np.mean(np.square(errors)))


def agrees(X, y, *, weights="relative", min_gain=0.05):
    """Check order, errors and end of a selection; return how many columns it has."""
    model = ForwardSelectedLinear(weights=weights, min_gain=min_gain).fit(X, y, groups=GROUPS)
    order, errors = [], [left_out_error([], X, y, weights == "relative")]
    while len(order) < len(model.path_):
        left = [column for column in range(COLUMNS) if column not in order]
        found = [left_out_error([*order, one], X, y, weights == "relative") for one in left]
        order, errors = [*order, left[int(np.argmin(found))]], [*errors, min(found)]
    assert [name for name, _ in model.path_] == ["start", *(f"x{one}" for one in order[:-1])]
    np.testing.assert_allclose([error for _, error in model.path_], errors[:-1], rtol=1e-6)
    gains = 1 - np.divide(errors[1:], errors[:-1])
    assert (gains[:-1] > max(min_gain, 1 / ROWS)).all()
    assert gains[-1] <= max(min_gain, 1 / ROWS)
    return len(order)


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize("noise", [0.01, 0.4])
def test_it_chooses_the_columns_of_least_left_out_error(weights, noise):
    assert len({agrees(*table(seed, noise), weights=weights) for seed in SEEDS}) > 1 or noise < 0.1
    for seed in SEEDS:  # also when columns resemble each other
        agrees(*table(seed, noise, alike=3.0), weights=weights, min_gain=0.3)
