import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from costmodels.scaling import AutoScaling, Ernest, LinearScaling, Masha, Term, check_fit
from costmodels.scaling.points import gather_points
from costmodels.scaling.priors import learn_prior
from costmodels.scaling.search import success_chance
from tests.refusals import invalid

ALL = [AutoScaling, Ernest, Masha]


def grid(scales=(1, 2, 4, 8), machines=(2, 4, 8, 16)):
    return pd.DataFrame([(s, m) for s in scales for m in machines], columns=["scale", "machines"])


def test_the_published_example_of_ernest(shared_file):
    points = pd.read_csv(shared_file("ernest-rcv1.csv"), skipinitialspace=True)
    X = pd.DataFrame({"scale": points["Input Fraction"], "machines": points["#Cores"]})
    model = Ernest(weights="none").fit(X, points["Time (s)"])
    assert model.coef_ == pytest.approx([1.90, 162.2, 1.588, 0.0], rel=0.01, abs=1e-9)
    full = pd.DataFrame({"scale": np.ones(4), "machines": [4, 8, 16, 60]})
    assert model.predict(full) == pytest.approx([44.65, 25.48, 16.44, 11.11], rel=1e-3)


LAWS = [
    (Ernest, lambda s, m: 5 + 90 * s / m + 3 * np.log(m) + 0.2 * m),
    (Masha, lambda s, m: 90 * s / m + 0.5 * s**2 + 0.3 * m + 4 * s * np.log(s) / m),
]


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize(("model", "law"), LAWS)
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
    invalid("level is 1, but", model.predict_interval, far, 1)


@pytest.mark.parametrize("power", [1.0, 1.08])
@pytest.mark.parametrize("known", [[1, 2, 4], [2, 4, 8, 16]])
def test_a_job_that_divides_all_of_its_work_has_no_fixed_part(known, power):
    runs = pd.DataFrame({"machines": np.array(known, np.float64)})
    far = 4 * runs.tail(1)
    model = AutoScaling().fit(runs, 80 / runs["machines"] ** power)
    truth = 80 / far["machines"].to_numpy() ** power
    assert model.predict(far) == pytest.approx(truth, rel=0.15)
    ((low, high),) = model.predict_interval(far)
    assert low < truth[0] < high


def test_repeats_show_how_much_runs_vary():
    runs = pd.DataFrame({"machines": np.repeat([2.0, 8, 32, 4, 16], 9)})
    y = (20 + 400 / runs["machines"]) * np.random.default_rng(5).lognormal(0, 0.5, len(runs))
    low, high = AutoScaling().fit(runs[:27], y[:27]).predict_interval(runs[27:]).T
    assert y[27:].between(low, high).mean() > 0.85


@pytest.mark.slow
def test_a_history_that_scales_otherwise_counts_little_and_is_told():
    machines = np.array([2.0, 4, 8, 16, 32])
    columns, growing = {"machines": machines, "scale": np.ones(5)}, 1 + 0.2 * machines
    past = {f"job {i}": [gather_points(columns, (100.0 + i) * growing)] for i in range(30)}
    X = pd.DataFrame({"machines": machines})
    model = AutoScaling(prior=learn_prior(past)).fit(X, 5 + 900 / machines)
    assert any("as if they had run on another cluster" in text for text in model.warnings_)
    plain = AutoScaling().fit(X, 5 + 900 / machines)
    new = pd.DataFrame({"machines": [48.0]})
    assert model.predict(new) == pytest.approx(plain.predict(new), rel=0.2)
    invalid("no past job was measured at two", learn_prior, {"a": [past["job 0"][0].take([0])]})


def test_a_term_of_the_user_with_a_column_of_its_own():
    X = grid().assign(cores=[2, 4, 8, 16] * 4, spare=1.0)
    X["cores"] = X["cores"].sample(frac=1, random_state=1).to_numpy()
    term = Term("1/cores", np.reciprocal, "1/core", columns=("cores",))
    y = 3 + 8 * X["scale"] / X["machines"] + 40 / X["cores"]
    model = LinearScaling(["1", "scale/machines", term]).fit(X, y)
    assert model.terms_ == pytest.approx({"1": 3, "scale/machines": 8, "1/cores": 40})
    assert "40 s/(1/core) * 1/cores" in model.formula_
    without = X[["scale", "machines"]]
    invalid("needs the column 'cores'; there", LinearScaling(["1", term]).fit, without, y)


def test_columns_of_other_names_are_taken_by_position_and_told():
    X = grid().set_axis(["gigabytes", "nodes"], axis=1)
    with pytest.warns(UserWarning, match="its first two, 'gigabytes' and 'nodes', are taken"):
        Ernest().fit(X, 5 + X["gigabytes"] / X["nodes"])


WRONG_VALUES = [
    ({"machines": 0}, "machines of row 3 is 0, but must be positive"),
    ({"machines": -2}, "machines of row 3 is -2, but must be positive"),
    ({"scale": 0}, "scale of row 3 is 0, but must be positive"),
    ({"scale": np.nan}, "NaN"),
    ({"seconds": 0}, "y of row 3 is 0, but must be positive"),
    ({"seconds": np.nan}, "NaN"),
]


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(("change", "message"), WRONG_VALUES)
def test_a_wrong_value_is_named(model, change, message):
    table = grid().astype(float).assign(seconds=10.0)
    table.loc[3, list(change)] = list(change.values())
    ended = {"ended": table.index < 2} if model is AutoScaling else {}
    invalid(message, model().fit, table[["scale", "machines"]], table["seconds"], **ended)


def test_too_few_points_are_refused():
    X = pd.DataFrame({"machines": [2, 4, 4]})
    for model in ALL:
        invalid("have machine count 4, but", model().fit, grid(machines=(4,)), [9, 5, 5, 5])
    invalid("found 2 configurations, too few to tell 4 terms apart", Ernest().fit, X, [9, 5, 5.1])
    invalid("needs at least 2", AutoScaling().fit, X[1:], [5, 5.1])
    assert AutoScaling().fit(X, [9, 5, 5.1]).predict(X)[0] == pytest.approx(9, rel=0.1)
    types = pd.DataFrame({"machines": [2, 4], "cores": [8, 4]})  # as many cores in all
    assert AutoScaling().fit(types, [9, 8.5]).predict(types)[0] == pytest.approx(9, rel=0.1)
    invalid("have machine count 4, but", Ernest().fit, types.assign(machines=4), [9, 5])


WRONG_OPTIONS = [
    (Ernest(weights="squared"), "unknown weights 'squared'; accepted: relative, none"),
    (LinearScaling(["1", "cube"]), "unknown term 'cube'; accepted: 1, scale/machines"),
    (Ernest(extra_terms=["machines"]), "the term 'machines' comes twice"),
    (LinearScaling("1"), "must be a list"),
    (LinearScaling([]), "at least one term"),
    (LinearScaling([3]), "neither a name nor a Term"),
    *(
        (LinearScaling(["1", Term("odd", f, columns=("machines",))]), "'odd' is .* machines=2")
        for f in (np.negative, lambda m: np.full(len(m), np.inf))
    ),
]


@pytest.mark.parametrize(("model", "message"), WRONG_OPTIONS)
def test_a_wrong_option_is_named(model, message):
    invalid(message, clone(model).fit, grid(), np.arange(1.0, 17))


# The check of a fit


def test_left_out_errors_are_those_of_fits_to_the_others():
    X = grid((1, 2, 4), (1, 4, 16, 64))
    y = (5 + 50 * X["scale"] / X["machines"]) * np.random.default_rng(0).lognormal(0, 0.1, len(X))
    fits = [Ernest().fit(X.drop(index=i), y.drop(index=i)) for i in X.index]
    by_hand = [fit.predict(X.loc[[i]])[0] for i, fit in enumerate(fits)]
    found = Ernest().fit(X, y).loocv_
    assert found.predicted == pytest.approx(by_hand)
    assert found.max_percent_error == pytest.approx(100 * np.abs(by_hand / y - 1).max())


def test_a_missing_term_is_noticed_and_proposed():
    # Aggregation in two stages, of sqrt(m) tasks (Ernest, Table 2).
    X = grid((1, 2, 4), (1, 4, 16, 64))
    y = 1 + 2 * X["scale"] / X["machines"] + 9 * X["scale"] ** 2
    model = Ernest().fit(X, y)
    verdict = check_fit(model)
    assert not verdict.fits
    assert verdict.term.name == "scale^2"
    assert "this model fits roughly" in verdict.sentence
    assert "add the term 'scale^2'" in verdict.sentence
    stages = 0.1 + 2 * X["scale"] / X["machines"] + 9 * np.sqrt(X["machines"])
    assert check_fit(Ernest().fit(X, stages), threshold=1).term.name == "sqrt(machines)"
    better = Ernest(extra_terms=[verdict.term]).fit(X, y)
    assert check_fit(better).term is None
    assert check_fit(better).sentence.startswith("the model fits")
    invalid("threshold is 0, but must be positive", check_fit, better, threshold=0)
    assert better.loocv_.residual_sum_of_squares < model.loocv_.residual_sum_of_squares / 100
    # A term would raise the median.
    y = (1 + 50 * X["scale"] / X["machines"]) * np.random.default_rng(58).lognormal(0, 0.3, len(X))
    assert Ernest().fit(X, y).warnings_[-1].endswith("above 10%; no term of the library helps")


# Cliffs

KMEANS = [2902, 304, 214, 178]  # on EC2: memory is short on 2 machines


def runs(seconds, repeats=1):
    machines = np.repeat(2.0 * np.arange(1, len(seconds) + 1), repeats)
    return pd.DataFrame({"machines": machines}), np.repeat(np.asarray(seconds, float), repeats)


def test_the_cliff_is_found_and_kept_out_of_the_smooth_law():
    model = AutoScaling().fit(*runs(KMEANS))
    (cliff,) = model.cliffs_
    assert cliff.machines == (2, 4)
    assert cliff.excess == pytest.approx(2902 * 2 / (304 * 4))
    assert model.warnings_[0] == str(cliff)
    assert "with 2 the job is probably short of memory" in model.warnings_[0]
    # Published runs: 156 s on 10 machines.
    new = pd.DataFrame({"machines": [1, 2, 4, 10]})
    fewer, *others = model.predict(new)
    assert fewer > 2902
    assert others == pytest.approx([2902, 304, 156], rel=0.1)
    low, high = model.predict_interval(new)[3]
    assert low < 156 < high < 3 * low


def test_the_cliff_moves_with_the_data():
    X = grid((1, 2, 4))
    load = X["scale"] / X["machines"]
    model = AutoScaling().fit(X, (20 + 200 * load) * np.where(load > 0.75, 4, 1))
    assert {cliff.scale: cliff.machines for cliff in model.cliffs_} == {2: (2, 4), 4: (4, 8)}
    new = pd.DataFrame({"scale": [8, 8], "machines": [8, 16]})
    assert model.predict(new) == pytest.approx([4 * 220, 120], rel=0.25)


CLIFFS = [
    ([400, 200, 134, 100], []),  # the ideal speed-up
    ([378, 180, 166, 154], []),  # a little more than ideal: caches
    ([100, 150, 230, 300], []),
    ([200, 180, 170, 40], [(6, 8)]),
]


@pytest.mark.parametrize(("seconds", "cliffs"), CLIFFS)
def test_which_runs_have_a_cliff(seconds, cliffs):
    assert [cliff.machines for cliff in Ernest().fit(*runs(seconds)).cliffs_] == cliffs
    X, y = runs(seconds, repeats=3)  # what noise explains is none
    assert Ernest().fit(X, y * np.tile([0.3, 1, 3], 4)).cliffs_ == []


def test_failures_count_against_what_is_harder_unless_that_succeeded():
    def at(machines, scale):
        return {"machines": np.array(machines, float), "scale": np.array(scale, float)}

    failed, ran = at([8, 16], [10, 50]), at([1, 4], [100, 100])
    assert (success_chance(ran, failed, ran) > 0.7).all()
    chances = success_chance(at([1, 2, 4, 8, 8], [20, 20, 20, 20, 5]), at([4], [20]), {})
    assert (np.diff(chances) >= 0).all()
    # By the data of a machine: 18, 10 as what failed, and 5 as what succeeded.
    chances = success_chance(at([9, 16, 32], [160, 160, 160]), at([4], [40]), at([8], [40]))
    assert chances[0] < chances[1] < 0.5 < chances[2] == 1
