"""fit and plan with several machine types in one model, as a user calls them."""

from predict_graph.resources import write_profile
from tests.predict_graph.cli.conftest import CORES, COUNTS, PRICES
from tests.predict_graph.cli.test_next import by_configuration, named, wrote
from tests.predict_graph.resources.test_profile import machine


def seconds(kind, machines):
    return 20 + 4000 / (machines * CORES[kind])


def measured(*kinds, counts=COUNTS):
    return [f"{kind},{m},{seconds(kind, m)},ok" for kind in kinds for m in counts]


def planned(program, *more):
    return program("plan", "m.json", "--machines", "2,4,8,16", "--json", "-", *more).answer


def fitted(program, *more):
    return program("fit runs.csv --types types.csv --out m.json", *more, status=0).out


def test_one_model_ranks_all_types_those_of_few_runs_too(program, folder):
    # Of lean there is one run only, and it has the cores of big.
    wrote(folder, *measured("small", "big"), *measured("lean", counts=(4,)))
    assert "machine_type" not in fitted(program, "--verbose").partition("warning")[2]
    made = planned(program, "--deadline", "2m")
    took = by_configuration(seconds)
    costs = {one: took[one] * one[1] * PRICES[one[0]] for one in took if took[one] <= 120}
    assert costs[named(made["choice"])] <= 1.1 * min(costs.values())
    for one in made["configurations"]:
        truth = seconds(*named(one))
        assert one["low"] <= truth <= one["high"]
        assert abs(one["seconds"] / truth - 1) < 0.25


def test_a_timeout_is_a_lower_bound_unless_the_run_must_have_hung(program, folder):
    runs = measured("small", counts=(4, 8, 16))  # of 520, 270 and 145 s; 2 machines: 1020 s
    found = {}
    for late in ("", "small,2,1400,timeout", "small,2,90000,timeout"):
        wrote(folder, *runs, *([late] if late else []))
        said = fitted(program)
        assert ("1 run of runs.csv ended by a timeout: counted as longer" in said) == bool(late)
        every = planned(program)["configurations"]
        (found[late],) = (one for one in every if named(one) == ("small", 2))
    plain, slow, hung = found.values()
    assert 800 < plain["seconds"] < 1250
    assert slow["seconds"] > 1.1 * plain["seconds"]
    assert hung["seconds"] < 3000
    assert hung["chance"] < 0.5 < min(plain["chance"], slow["chance"])


def test_a_configuration_like_one_that_failed_is_not_chosen(program, folder):
    wrote(folder, *measured("small", "big"), "lean,2,3,failed", "lean,4,3,failed")
    assert "2 runs of runs.csv failed and gave no time" in fitted(program)
    made = planned(program, "--deadline", "10m")
    chances = {named(one): one["chance"] for one in made["configurations"]}
    assert chances["lean", 4] < 0.5 < chances["big", 16]
    assert all(one["chance"] > 0.9 for one in made["frontier"])
    assert any("runs like them failed" in text for text in made["warnings"])


def test_a_profile_says_how_fast_the_cores_are(program, folder):
    # As many cores by name, but those of slow do a quarter of the work.
    for name, speed in (("slow", 100.0), ("quick", 400.0)):
        write_profile(machine(speed, cores=4.0), folder / f"{name}.json")
    head = "machine_type,cores,price_per_hour"
    rows = ("slow,4,0.1", "quick,4,0.4")
    wrote(folder, *(f"slow,{m},{20 + 4000 / m},ok" for m in COUNTS))
    ratio = {}
    for profiled in (False, True):
        lines = [f"{row},{row.partition(',')[0]}.json" if profiled else row for row in rows]
        table = "\n".join([head + (",profile" if profiled else ""), *lines]) + "\n"
        (folder / "types.csv").write_text(table)
        fitted(program)
        (one,) = (one for one in planned(program)["configurations"] if named(one) == ("quick", 4))
        ratio[profiled] = one["seconds"] / 270
    assert abs(ratio[True] - 1) < 0.35
    assert ratio[False] > 2.5
    (folder / "types.csv").write_text(f"{head},profile\nslow,4,0.1,\nquick,4,0.4,quick.json\n")
    program("fit runs.csv --types types.csv").is_refused("types.csv:2: profile is ''; acc")


def test_runs_of_an_unknown_type_are_left_out(program, folder):
    wrote(folder, *measured("small", "big"), "odd,2,5,ok")
    assert "describes such a type: 1 run on odd" in " ".join(fitted(program).split())
    program("plan", "small=m.json", "--machines", "2:4").is_refused("the model without small=")


def test_when_all_that_could_be_chosen_is_like_what_failed(program, folder):
    wrote(folder, *measured("small"), "lean,2,1,failed", "big,2,1,failed")
    fitted(program)
    result = program("plan", "m.json", "--machines", "1:2", "--deadline", "1s")
    result.is_refused("no configuration is done in 1 s", "fastest of all", status=1)
