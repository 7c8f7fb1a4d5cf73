"""Models of jobs: their files, and plans that are made with them."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from costmodels.scaling import SCALING_MODELS, Term
from predict_graph.sizing import fit_job, load_model, plan, read_measurements, save_model
from predict_graph.sizing.fitting.model import predicted
from predict_graph.sizing.planning.candidates import MachineType
from tests.refusals import failed, refused

PRICES = {
    "small": MachineType("small", 4, price=0.36),
    "large": MachineType("large", 8, price=1.08),
}


def model(written, law, machine_type="small"):
    rows = "".join(f"1,{m},{law(m)!r}\n" for m in (1, 2, 4, 8, 16, 32))
    found = read_measurements(written(f"scale,machines,seconds\n{rows}", f"{machine_type}.csv"))
    return replace(fit_job(found, "ernest"), machine_type=machine_type)


@pytest.fixture
def small(written):
    return model(written, lambda m: 10 + 320 / m + m)  # fastest near 18 machines


@pytest.fixture
def large(written):
    return model(written, lambda m: 5 + 150 / m + m, "large")


@pytest.mark.parametrize("limit", [{"deadline": 60}, {"budget": 0.08}])
def test_the_cheapest_in_time_or_the_fastest_within_a_budget(small, limit):
    counts = np.arange(1, 65)
    made = plan([small], counts, prices=PRICES, **limit)
    high = predicted(small.estimator, small.table(1, counts), 0.9)[2]
    costs = 0.36 / 3600 * counts * high
    fine, wanted = (high <= 60, costs) if "deadline" in limit else (costs <= 0.08, high)
    one = made.choice.configuration
    assert one.machines == counts[fine][np.argmin(wanted[fine])] < 64
    assert one.cost == pytest.approx(0.36 / 3600 * one.machines * one.seconds)
    assert one.cost_high == pytest.approx(0.36 / 3600 * one.machines * one.high)
    assert one.low < one.seconds < one.high
    assert one in list(made.frontier.itertuples())
    assert made.choice.condition.endswith(" with 90% confidence")


def test_the_margin_needs_more_machines_than_the_prediction(small):
    deadline = float(small.seconds(1, 8)[0]) * 1.001
    sure = plan([small], range(1, 65), deadline=deadline, confidence="95%")
    hoping = plan([small], range(1, 65), deadline=deadline, confidence=0.5)
    assert hoping.choice.configuration.machines == 8
    assert hoping.choice.configuration.high == hoping.choice.configuration.seconds
    assert sure.choice.configuration.machines > 8


def test_what_is_chosen_succeeds_and_is_in_time_with_the_confidence(written):
    rows = "".join(f"1,{m},{20 + 300 / m},ok\n" for m in (8, 16)) + "1,2,,OOM\n"
    found = fit_job(read_measurements(written(f"scale,machines,seconds,outcome\n{rows}")))
    one = plan(found, range(2, 8), deadline="10m").chosen
    assert 0.9 < one.chance < 0.99
    assert one.high == predicted(found.estimator, found.table(1, one.machines), 0.9 / one.chance)[2]
    failed("none succeeds with 90% confidence, 2 with 31%", plan, found, ["2"])


def test_nobody_beats_the_frontier(small, large):
    made = plan([small, large], range(1, 65), prices=PRICES)
    assert made.choice is None
    assert len(made.frontier) > 5
    every = made.configurations
    for one in every.itertuples():
        better = (every["high"] <= one.high) & (every["cost_high"] <= one.cost_high)
        assert (better.sum() > 1) == (one.Index not in made.frontier.index)
    assert made.frontier["high"].is_monotonic_increasing
    # Beyond the fastest count a machine more costs more and takes longer.
    assert made.frontier.groupby("machine_type")["machines"].max()["small"] < 25


def test_what_is_nearest_where_limits_cannot_be_kept(small):
    def nearest(**limits):
        made = plan([small], range(1, 65), prices=PRICES, **limits)
        assert made.choice.configuration is None
        return made.configurations, {what: one.Index for what, one in made.choice.nearest.items()}

    every, found = nearest(deadline=10)
    assert found == {"fastest of all": every["high"].idxmin()}
    every, found = nearest(budget=0.001)
    assert found == {"cheapest of all": every["cost_high"].idxmin()}
    every, found = nearest(deadline=50, budget=0.04)
    assert found == {
        "cheapest in time": every[every["high"] <= 50]["cost_high"].idxmin(),
        "fastest within the budget": every[every["cost_high"] <= 0.04]["high"].idxmin(),
    }
    both = plan([small], range(1, 65), deadline=100, budget=0.05, prices=PRICES).choice
    assert both.nearest == {}
    assert both.configuration.high <= 100


def test_spare_machines_cost_their_test(small):
    without = plan([small], [8], prices=PRICES).configurations.iloc[0]
    spare = plan([small], [8], prices=PRICES, spare="2", spare_test=30).configurations.iloc[0]
    assert (spare.seconds, spare.high) == (without.seconds + 30, without.high + 30)
    assert spare.cost == pytest.approx(without.cost + 0.36 / 3600 * (8 + 2) * 30)
    refused("spare is -1", plan, [small], [8], spare=-1)
    refused("spare test is '-5'", plan, [small], [8], spare=1, spare_test=-5)


def test_iterations_scale_the_time(small):
    cut = replace(small, iterations=25)
    measured = plan([cut], [8]).configurations.iloc[0]
    whole = plan([cut], [8], iterations="500").configurations.iloc[0]
    times = [20 * measured.seconds, 20 * measured.high]
    assert [whole.seconds, whole.high] == pytest.approx(times)
    assert "times are for 25 iterations, as measured" in plan([cut], [8]).warnings
    refused("does not say how many iterations", plan, [small], [8], iterations=500)
    refused("iterations are 0", plan, [cut], [8], iterations=0)


def test_what_lies_outside_is_told(small):
    far = plan([small], [64], scale=3, deadline=1000)
    assert any("the scale 3 is outside what was measured (1)" in w for w in far.warnings)
    assert any("measured (1 to 32 machines): 64 machines;" in w for w in far.warnings)
    assert not far.configurations.iloc[0].in_measured_range
    near = plan([small], [12], deadline=1000)
    assert (near.warnings, near.configurations.iloc[0].in_measured_range) == ((), True)


def test_the_scale_must_be_given_when_it_changed(written):
    rows = "".join(f"{s},{m},{5 + 90 * s / m}\n" for s in (1, 2) for m in (1, 2, 4, 8))
    varied = fit_job(read_measurements(written("scale,machines,seconds\n" + rows)), "ernest")
    refused("at scales from 1 to 2; say for which", plan, [varied], [4])
    assert plan([varied], [4], scale="2").scale == 2
    for wrong in (0, -1, float("nan"), float("inf")):
        refused("the scale is", plan, [varied], [4], scale=wrong)


def test_what_is_missing(small, large):
    untyped, free = replace(small, machine_type=None), {"small": MachineType("small", 4)}
    others = {"large": PRICES["large"]}
    refused("several types need prices", plan, [small, large], [4])
    refused("a budget needs prices", plan, [small], [4], budget=1)
    refused("small has no price", plan, [small], [4], prices=free)
    made = plan([small, large], [4], prices=PRICES | free, budget=1)
    assert made.chosen.name == "4 × large"
    assert "small has no price: only its time is compared" in made.warnings
    free = {"large": replace(PRICES["large"], price=None)}
    made = plan([small, large], [4], prices=PRICES | free, deadline=made.chosen.high)
    assert (made.choice.wanted, made.chosen.name) == ("fastest", "4 × large")
    refused("type None; accepted: large, small", replace(untyped, types=PRICES).seconds, 1, 4)
    refused("unknown machine type 'small'; acc", plan, [small], [4], prices=others)
    refused(r"does not say which machines.*TYPE=MODEL.json", plan, [untyped], [4], prices=PRICES)
    refused("two models are of the machine type 'small'", plan, [small, small], [4], prices=PRICES)
    refused("machines are ''; accepted", plan, [small], [])


# Files of models


@pytest.fixture
def runs(written):
    """Measured runs of a job with noise, at several scales."""
    rng = np.random.default_rng(3)
    rows = ["scale,machines,seconds"]
    for scale, machines, _ in itertools.product((1, 2, 4), (1, 2, 4, 8, 16), range(2)):
        seconds = (3 + 40 * scale / machines + 0.4 * machines) * rng.lognormal(0, 0.03)
        rows.append(f"{scale},{machines},{seconds!r}")
    return read_measurements(written("\n".join(rows) + "\n"))


FITS = [(n, w) for n in SCALING_MODELS for w in ("relative", "none") if (n, w) != ("auto", "none")]


@pytest.mark.parametrize(("name", "weights"), FITS)
def test_a_model_comes_back_exactly(runs, tmp_path, name, weights):
    fitted = fit_job(runs, name, weights=weights, iterations=25)
    save_model(fitted, tmp_path / "model.json")
    loaded = load_model(str(tmp_path / "model.json"))
    where = [0.3, 1, 2, 7.7, 1e4], [1, 3, 16, 33, 1000]
    ends = (predicted(each.estimator, each.table(*where), 0.9) for each in (loaded, fitted))
    np.testing.assert_array_equal(*ends)
    assert loaded.document() == fitted.document()


def test_added_terms_come_back_but_those_of_ones_own(runs, tmp_path):
    fitted = fit_job(runs, "ernest", terms=["sqrt(machines)"])
    save_model(fitted, tmp_path / "model.json")
    assert "sqrt(machines)" in load_model(tmp_path / "model.json").estimator.terms_
    refused("unknown term 'cube'", fit_job, runs, "ernest", terms=["cube"])
    fitted = fit_job(runs, "ernest", terms=[Term("own", lambda scale, machines: scale)])
    refused("the term 'own' of your own cannot be saved", save_model, fitted, tmp_path / "own.json")
    assert not (tmp_path / "own.json").exists()


CHANGED = "was changed after it was written"


CHANGES = [
    (lambda d: d.update(weights="none"), CHANGED),
    (lambda d: d["runs"]["seconds"].__setitem__(0, 1.0), CHANGED),
    (lambda d: d.pop("checksum"), CHANGED),
    (lambda d: d.update(schema=2, version="9.0"), "written by predict-graph 9.0, which is newer"),
    (lambda d: d.update(schema="two"), "has the schema 'two'; accepted: 1$"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_changed_or_newer_file_is_refused(runs, tmp_path, change, said):
    path = tmp_path / "model.json"
    save_model(fit_job(runs, "ernest"), path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document))  # formatting is no change
    load_model(path)
    change(document)
    path.write_text(json.dumps(document))
    refused(said, load_model, path)


def test_what_cannot_be_fitted(written):
    one = read_measurements(written("scale,machines,seconds\n1,2,3\n2,2,5\n"))
    refused("at least two machine counts", fit_job, one, "ernest")
    few = read_measurements(written("scale,machines,seconds\n1,2,3\n1,4,2\n1,8,fast\n"))
    refused(r"cannot be fitted to .*too few.*table.csv:4: .*'fast'", fit_job, few, "masha")
    refused("unknown model 'cubic'; accepted: auto, ernest", fit_job, few, "cubic")
    refused("unknown weights 'some'", fit_job, few, "ernest", weights="some")
    refused("iterations are 0", fit_job, few, "auto", iterations=0)
