from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from costmodels.scaling import (
    AutoScaling,
    Ernest,
    LinearScaling,
    Masha,
    Term,
    gather_points,
    learn_prior,
)

ALL = [AutoScaling, Ernest, Masha]


def lift(X):
    """Add 1 to a table of numbers that has a 0; leave to the model what is wrong with others."""
    if isinstance(X, pd.DataFrame):
        return X + 1
    try:
        numbers = check_array(X, dtype=np.float64, ensure_min_samples=0, ensure_min_features=0)
    except (TypeError, ValueError):
        return X
    return numbers + 1 if (numbers >= 0).all() else X


class Lifted:
    """A model on lifted tables: scikit-learn's have a 0, and no cluster has 0 machines."""

    def fit(self, X, y):
        return super().fit(lift(X), y)

    def predict(self, X):
        return super().predict(lift(X))


class LiftedErnest(Lifted, Ernest):
    pass


class LiftedAuto(Lifted, AutoScaling):
    pass


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X has no columns named")
@parametrize_with_checks([LiftedErnest(), LiftedAuto()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def grid(scales=(1, 2, 4, 8), machines=(2, 4, 8, 16)) -> pd.DataFrame:
    return pd.DataFrame([(s, m) for s in scales for m in machines], columns=["scale", "machines"])


def test_listing_models_does_not_import_scikit_learn():
    code = (
        "import sys, costmodels.scaling as s; s.SCALING_MODELS; "
        "sys.exit(bool({'sklearn', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_published_example_of_ernest():
    path = Path(os.environ.get("PREDICT_GRAPH_DATA", ""), "cluster", "ernest-rcv1.csv")
    if not path.is_file():
        pytest.skip(f"needs {path.name} in the folder that PREDICT_GRAPH_DATA names")
    points = pd.read_csv(path, skipinitialspace=True)
    X = pd.DataFrame({"scale": points["Input Fraction"], "machines": points["#Cores"]})
    model = Ernest(weights="none").fit(X, points["Time (s)"])
    assert model.coef_ == pytest.approx([1.90, 162.2, 1.588, 0.0], rel=0.01, abs=1e-9)
    full = pd.DataFrame({"scale": np.ones(4), "machines": [4, 8, 16, 60]})
    assert model.predict(full) == pytest.approx([44.65, 25.48, 16.44, 11.11], rel=1e-3)


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize(
    ("model", "law"),
    [
        (Ernest, lambda s, m: 5 + 90 * s / m + 3 * np.log(m) + 0.2 * m),
        (Masha, lambda s, m: 90 * s / m + 0.5 * s**2 + 0.3 * m + 4 * s * np.log(s) / m),
    ],
)
def test_each_model_finds_its_own_law_far_outside(model, law, weights):
    X = grid()
    fitted = model(weights=weights).fit(X, law(X["scale"], X["machines"]))
    far = pd.DataFrame({"scale": [64.0, 64.0], "machines": [16.0, 64.0]})
    assert fitted.predict(far) == pytest.approx(law(far["scale"], far["machines"]), rel=1e-3)
    assert fitted.r2_ == pytest.approx(1)
    assert fitted.loocv_.max_percent_error < 2
    assert fitted.warnings_ == []
    assert fitted.formula_.startswith("seconds = ")
    assert "\n" not in fitted.formula_
    assert (fitted.coef_[:2] >= 0).all()


def test_auto_comes_near_a_law_far_outside_and_says_how_near():
    X = grid()
    model = AutoScaling().fit(X, 5 + 90 * X["scale"] / X["machines"])
    # Twice the data, and eight times: the farther, the less is claimed.
    far = pd.DataFrame({"scale": [16.0, 64.0], "machines": [32.0, 64.0]})
    truth = 5 + 90 * far["scale"] / far["machines"]
    assert model.predict(far)[0] == pytest.approx(truth[0], rel=0.1)
    assert model.predict(far)[1] == pytest.approx(truth[1], rel=0.3)
    low, high = model.predict_interval(far).T
    assert (low < truth).all()
    assert (truth < high).all()
    assert (np.diff(high / low) > 0).all()
    assert model.warnings_ == []
    assert model.loocv_.max_percent_error < 10
    with pytest.raises(ValueError, match="level is 1, but"):
        model.predict_interval(far, 1)


def test_a_history_that_scales_otherwise_counts_little_and_is_told():
    machines = np.array([2.0, 4, 8, 16, 32])
    columns = {"machines": machines, "scale": np.ones(5)}
    past = {
        f"job {i}": [gather_points(columns, (100.0 + i) * (1 + 0.2 * machines))] for i in range(30)
    }
    prior = learn_prior(past)
    X = pd.DataFrame({"machines": machines})
    model = AutoScaling(prior=prior).fit(X, 5 + 900 / machines)
    assert any("as those of another cluster would" in text for text in model.warnings_)
    plain = AutoScaling().fit(X, 5 + 900 / machines)
    new = pd.DataFrame({"machines": [48.0]})
    assert model.predict(new) == pytest.approx(plain.predict(new), rel=0.2)
    with pytest.raises(ValueError, match="no past job was measured at two machine counts"):
        learn_prior({"one": [past["job 0"][0].take([0])]})


def test_a_term_of_the_user_with_a_column_of_its_own():
    X = grid().assign(cores=[2, 4, 8, 16] * 4, spare=1.0)
    X["cores"] = X["cores"].sample(frac=1, random_state=1).to_numpy()
    term = Term("1/cores", reciprocal, "1/core", columns=("cores",))
    y = 3 + 8 * X["scale"] / X["machines"] + 40 / X["cores"]
    model = LinearScaling(["1", "scale/machines", term]).fit(X, y)
    assert model.terms_ == pytest.approx({"1": 3, "scale/machines": 8, "1/cores": 40})
    assert "40 s/(1/core) * 1/cores" in model.formula_
    with pytest.raises(ValueError, match="needs the column 'cores'; there are: scale, machines"):
        LinearScaling(["1", term]).fit(X[["scale", "machines"]], y)


def reciprocal(x):
    return 1 / x


def test_units_do_not_matter():
    X = grid()
    y = 10 + 60 * X["scale"] / X["machines"] + X["machines"] * 0.3
    small = X.assign(scale=X["scale"] * 1e-9)
    for model in (Ernest, LinearScaling):
        want = model().fit(X, y).predict(X)
        assert model().fit(small, y * 1e-6).predict(small) * 1e6 == pytest.approx(want, rel=1e-4)


def test_a_frame_without_scale_and_an_array_mean_the_same():
    machines = np.array([2.0, 4, 6, 8])
    y = 20 + 100 / machines
    array = Ernest().fit(np.column_stack((np.ones(4), machines)), y)
    frame = pd.DataFrame({"machines": machines})
    for table in (frame, frame.assign(scale=1.0)):
        assert Ernest().fit(table, y).coef_ == pytest.approx(array.coef_)


def test_columns_of_other_names_are_taken_by_position_and_told():
    X = grid().set_axis(["gigabytes", "nodes"], axis=1)
    with pytest.warns(UserWarning, match="its first two, 'gigabytes' and 'nodes', are taken"):
        Ernest().fit(X, 5 + X["gigabytes"] / X["nodes"])


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"machines": 0}, "machines of row 3 is 0, but must be positive"),
        ({"machines": -2}, "machines of row 3 is -2, but must be positive"),
        ({"scale": 0}, "scale of row 3 is 0, but must be positive"),
        ({"scale": np.nan}, "NaN"),
        ({"seconds": 0}, "y of row 3 is 0, but must be positive"),
        ({"seconds": np.nan}, "NaN"),
    ],
)
def test_a_wrong_value_is_named(model, change, message):
    table = grid().astype(float).assign(seconds=10.0)
    table.loc[3, list(change)] = list(change.values())
    with pytest.raises(ValueError, match=message):
        model().fit(table[["scale", "machines"]], table["seconds"])


def test_too_few_points_are_refused():
    X = pd.DataFrame({"machines": [2, 4, 4]})
    for model in ALL:
        with pytest.raises(ValueError, match="all rows have 4 machines, but"):
            model().fit(grid(machines=(4,)), [9, 5, 5, 5])
    with pytest.raises(ValueError, match="found 2 configurations, too few to tell 4 terms apart"):
        Ernest().fit(X, [9, 5, 5.1])
    with pytest.raises(ValueError, match="needs at least 2"):
        AutoScaling().fit(X[1:], [5, 5.1])
    assert AutoScaling().fit(X, [9, 5, 5.1]).predict(X)[0] == pytest.approx(9, rel=0.1)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ernest(weights="squared"), "unknown weights 'squared'; accepted: relative, none"),
        (LinearScaling(["1", "cube"]), "unknown term 'cube'; accepted: 1, scale/machines"),
        (Ernest(extra_terms=["machines"]), "the term 'machines' comes twice"),
        (LinearScaling("1"), "must be a list"),
        (LinearScaling([]), "at least one term"),
        (LinearScaling([3]), "neither a name nor a Term"),
    ],
)
def test_a_wrong_option_is_named(model, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(grid(), np.arange(1.0, 17))


def test_a_term_that_is_not_finite_or_negative_is_refused():
    X = grid()
    for function in (np.negative, lambda m: np.full(len(m), np.inf)):
        term = Term("odd", function, columns=("machines",))
        with pytest.raises(ValueError, match=r"the term 'odd' is -?(inf|2) at machines=2, but"):
            LinearScaling(["1", term]).fit(X, X["machines"])
