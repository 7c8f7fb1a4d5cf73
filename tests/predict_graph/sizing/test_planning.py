from dataclasses import replace

import pytest

from predict_graph.errors import RequestError
from predict_graph.sizing import fit_job, plan, read_measurements, read_prices
from predict_graph.sizing.planning.candidates import MachineType, example_prices
from predict_graph.sizing.planning.choices import frontier

PRICES = {
    "small": MachineType("small", 4, price=0.36),
    "large": MachineType("large", 8, price=1.08),
}


def model(written, law, machine_type="small", *, header="scale,machines,seconds", scale=1):
    rows = "".join(f"{scale},{m},{law(m)!r}\n" for m in (1, 2, 4, 8, 16, 32))
    found = read_measurements(written(f"{header}\n{rows}", f"{machine_type}.csv"))
    return replace(fit_job(found, "ernest"), machine_type=machine_type)


@pytest.fixture
def small(written):
    return model(written, lambda m: 10 + 320 / m + m)  # fastest near 18 machines


@pytest.fixture
def large(written):
    return model(written, lambda m: 5 + 150 / m + m, "large")


def by_hand(one, machines):
    _, high = one.bounds(1, machines, 0.9)
    return [(int(m), float(s)) for m, s in zip(machines, high, strict=True)]


def test_the_cheapest_that_meets_a_deadline(small):
    counts = list(range(1, 65))
    made = plan([small], counts, deadline=60, prices=PRICES)
    in_time = [(m, s) for m, s in by_hand(small, counts) if s <= 60]
    assert made.choice.configuration.machines == min(in_time, key=lambda c: c[0] * c[1])[0]
    one = made.choice.configuration
    assert one.cost == pytest.approx(0.36 / 3600 * one.machines * one.seconds)
    assert one.cost_high == pytest.approx(0.36 / 3600 * one.machines * one.high)
    assert one.low < one.seconds < one.high <= 60
    assert one in made.frontier


def test_the_margin_needs_more_machines_than_the_prediction(small):
    deadline = float(small.seconds(1, 8)[0]) * 1.001
    sure = plan([small], range(1, 65), deadline=deadline, confidence=0.95)
    hoping = plan([small], range(1, 65), deadline=deadline, confidence=0.5)
    assert hoping.choice.configuration.machines == 8
    assert hoping.choice.configuration.high == hoping.choice.configuration.seconds
    assert sure.choice.configuration.machines > 8


def test_the_fastest_within_a_budget(small):
    counts = list(range(1, 65))
    made = plan([small], counts, budget=0.08, prices=PRICES)
    affordable = [(m, s) for m, s in by_hand(small, counts) if 0.36 / 3600 * m * s <= 0.08]
    assert 0 < len(affordable) < len(counts)
    assert made.choice.configuration.machines == min(affordable, key=lambda c: c[1])[0]
    assert made.choice.condition == "within 0.08 USD with 90% confidence"


def test_several_types(small, large):
    made = plan([small, large], range(1, 33), deadline=60, prices=PRICES)
    rows = [c for c in made.configurations if c.high <= 60]
    assert {c.machine_type for c in rows} == {"small", "large"}
    assert made.choice.configuration.cost_high == min(c.cost_high for c in rows)
    assert len(made.configurations) == 64


def test_nobody_beats_the_frontier(small, large):
    made = plan([small, large], range(1, 65), prices=PRICES)
    assert made.choice is None
    assert len(made.frontier) > 5
    for one in made.frontier:
        assert not any(
            c.high <= one.high and c.cost_high <= one.cost_high and c != one
            for c in made.configurations
        )
    for other in set(made.configurations) - set(made.frontier):
        assert any(c.high <= other.high and c.cost_high <= other.cost_high for c in made.frontier)
    assert list(made.frontier) == sorted(made.frontier, key=lambda c: c.high)
    # Beyond the fastest count a machine more costs more and takes longer.
    assert max(c.machines for c in made.frontier if c.machine_type == "small") < 25
    assert frontier([]) == ()


@pytest.mark.parametrize(
    ("deadline", "budget", "nearest"),
    [
        (100, 0.05, []),
        (10, None, ["fastest of all"]),
        (None, 0.001, ["cheapest of all"]),
        (50, 0.04, ["cheapest in time", "fastest within the budget"]),
    ],
)
def test_what_is_nearest_where_limits_cannot_be_kept(small, deadline, budget, nearest):
    made = plan([small], range(1, 65), deadline=deadline, budget=budget, prices=PRICES)
    one = made.choice.configuration
    assert (one is None) == bool(nearest)
    if one is not None:
        assert (one.high <= deadline, one.cost_high <= budget) == (True, True)
    ideal = {
        "fastest of all": min(made.configurations, key=lambda c: c.high),
        "cheapest of all": min(made.configurations, key=lambda c: c.cost_high),
        "cheapest in time": min(
            (c for c in made.configurations if c.high <= 50), key=lambda c: c.cost_high
        ),
        "fastest within the budget": min(
            (c for c in made.configurations if c.cost_high <= 0.04), key=lambda c: c.high
        ),
    }
    assert made.choice.nearest == {what: ideal[what] for what in nearest}


def test_spare_machines_cost_their_test(small):
    without = plan([small], [8], prices=PRICES).configurations[0]
    spare = plan([small], [8], prices=PRICES, spare=2, spare_test=30).configurations[0]
    assert spare.seconds == without.seconds + 30
    assert spare.high == without.high + 30
    assert spare.cost == pytest.approx(without.cost + 0.36 / 3600 * (8 + 2) * 30)
    with pytest.raises(RequestError, match="spare is -1"):
        plan([small], [8], spare=-1)


def test_iterations_scale_the_time(small):
    cut = replace(small, iterations=25)
    measured = plan([cut], [8]).configurations[0]
    whole = plan([cut], [8], iterations=500).configurations[0]
    assert whole.seconds == pytest.approx(20 * measured.seconds)
    assert whole.high == pytest.approx(20 * measured.high)
    assert "times are for 25 iterations, as measured" in plan([cut], [8]).warnings
    with pytest.raises(RequestError, match="does not say how many iterations"):
        plan([small], [8], iterations=500)
    with pytest.raises(RequestError, match="iterations are 0"):
        plan([cut], [8], iterations=0)


def test_cores_become_machines_with_prices(written):
    cores = model(written, lambda m: 10 + 320 / m, header="scale,cores,seconds")
    assert cores.unit == "cores"
    alone = plan([cores], [8])
    priced = plan([cores], [2], prices=PRICES)
    assert priced.configurations[0].seconds == alone.configurations[0].seconds
    assert (alone.unit, alone.cost_unit) == ("cores", "core-hours")
    assert (priced.unit, priced.cost_unit) == ("machines", "USD")


def test_what_lies_outside_is_told(small):
    far = plan([small], [64], scale=3, deadline=1000)
    assert any("the scale 3 is outside what was measured (1 to 1)" in w for w in far.warnings)
    assert any("64 machines are outside what was measured (1 to 32" in w for w in far.warnings)
    assert not far.configurations[0].measured
    near = plan([small], [16], deadline=1000)
    assert near.warnings == ()
    assert near.configurations[0].measured


def test_the_scale_must_be_given_when_it_changed(written):
    rows = "".join(f"{s},{m},{5 + 90 * s / m}\n" for s in (1, 2) for m in (1, 2, 4, 8))
    varied = fit_job(read_measurements(written("scale,machines,seconds\n" + rows)), "ernest")
    with pytest.raises(RequestError, match="at scales from 1 to 2; say for which"):
        plan([varied], [4])
    assert plan([varied], [4], scale=2).scale == 2
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(RequestError, match="the scale is"):
            plan([varied], [4], scale=wrong)


def test_what_is_missing(small, large):
    with pytest.raises(RequestError, match="several types need prices"):
        plan([small, large], [4])
    with pytest.raises(RequestError, match="a budget needs prices"):
        plan([small], [4], budget=1)
    with pytest.raises(RequestError, match="unknown machine type 'small'; accepted: large"):
        plan([small], [4], prices={"large": PRICES["large"]})
    with pytest.raises(RequestError, match=r"does not say which machines.*TYPE=MODEL.json"):
        plan([replace(small, machine_type=None)], [4], prices=PRICES)
    with pytest.raises(RequestError, match="two models are of the machine type 'small'"):
        plan([small, small], [4], prices=PRICES)
    with pytest.raises(RequestError, match="at least one"):
        plan([small], [])


def test_the_example_of_the_paper():
    # Section 6.3: 64 r3.xlarge for an hour cost $22.4, 16 cost $5.6.
    price = read_prices(example_prices())["r3.xlarge"]
    assert 64 * price.price == pytest.approx(22.4)
    assert 16 * price.price == pytest.approx(5.6)
    assert price.cores == 4


BAD_PRICES = {
    "no price": ("type,cores\na,4\n", "no column 'usd_per_hour' for prices"),
    "negative": ("type,cores,usd_per_hour\na,4,-1\n", ":2: usd_per_hour is '-1'"),
    "twice": (
        "type,cores,usd_per_hour\na,4,1\na,4,2\n",
        ":3: the type 'a' has other cores",
    ),
    "no name": ("type,cores,usd_per_hour\n,4,1\n", ":2: the machine type is empty"),
}


@pytest.mark.parametrize("title", BAD_PRICES)
def test_bad_prices(written, title):
    text, said = BAD_PRICES[title]
    with pytest.raises(RequestError) as error:
        read_prices(written(text))
    assert said in str(error.value)
