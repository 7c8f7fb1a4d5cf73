"""next, as a user calls it."""

import sys
from itertools import product

import pytest

from predict_graph.sizing.planning.candidates import read_candidates, read_tried
from predict_graph.sizing.planning.next_run import Goal, advise
from tests.predict_graph.cli.conftest import CORES, COUNTS, PRICES, TYPES
from tests.steps import jobs_take

MACHINES = ",".join(map(str, COUNTS))
JOB_ARGUMENTS = ("{machine_type}", "{machines}")


def seconds(kind, machines):
    return 20 + 4000 / (machines * CORES[kind]) + machines


def by_configuration(worth):
    """Return what each configuration is worth, by its machine type and their number."""
    return {(kind, count): worth(kind, count) for kind in CORES for count in COUNTS}


def cost(kind, count):
    return seconds(kind, count) * count * PRICES[kind]


def named(one):
    return one["machine_type"], one["machines"]


def wrote(folder, *runs, header="machine_type,machines,seconds,outcome"):
    (folder / "runs.csv").write_text("\n".join([header, *runs]) + "\n")


def ask(program, *more, goal="cheapest"):
    given = ("runs.csv", "--candidates", "types.csv", "--machines", MACHINES, "--goal", goal)
    return program("next", *given, "--json", "-", *more)


@pytest.mark.parametrize("goal", ["fastest", "cheapest"])
def test_following_the_advice_finds_a_good_configuration_in_few_runs(program, folder, goal):
    worth = by_configuration(cost if goal == "cheapest" else seconds)
    runs = []
    wrote(folder)
    for _ in range(6):
        made = ask(program, "--uses", 1000, goal=goal).answer
        if made["stop"]:
            break
        kind, count = named(made["next"][0])
        runs.append(f"{kind},{count},{seconds(kind, count)},ok")
        wrote(folder, *runs)
    assert worth[named(ask(program, goal=goal).answer["best"])] <= 1.1 * min(worth.values())
    assert len(made["candidates"]) == 12


def test_a_deadline_is_a_constraint(program, folder):
    wrote(folder, *(f"{k},{m},{seconds(k, m)},ok" for k in ("small", "big") for m in COUNTS))
    best = {time: ask(program, goal=f"deadline={time}").answer["best"] for time in ("90s", "1h")}
    assert best["90s"]["measured"] <= 90 < best["1h"]["measured"]
    result = ask(program, goal="deadline=100ms")
    result.is_refused("no candidate can be done in 100 ms", "comes closest", status=1)


def test_a_deadline_is_not_given_up_after_two_runs(program, folder):
    wrote(folder, "small,2,1022,ok", "small,4,900,ok")
    made = ask(program, goal="deadline=70s").answer  # which 16 × big meets
    assert made["next"]
    assert any("no candidate is likely to be done in 70 s" in text for text in made["warnings"])


def test_failures_are_information_and_not_numbers(program, folder):
    wrote(folder, "small,4,1,failed", "small,2,500,timeout", "big,4,190,ok")
    by_name = {named(one): one for one in ask(program).answer["candidates"]}
    assert by_name["small", 4]["gain"] == 0
    assert by_name["small", 4]["chance"] < by_name["big", 16]["chance"]
    assert by_name["small", 2]["seconds"] > 100
    wrote(folder, "small,4,1,failed", "small,2,3,failed")
    made = ask(program).answer
    assert any("none of the 2 runs" in text for text in made["warnings"])
    assert made["next"][0]["machine_type"] != "small"


def test_runs_on_a_type_without_a_price_are_learnt_from(program, folder):
    (folder / "types.csv").write_text(TYPES.replace("32,0.4", "32,"))
    wrote(folder, "big,4,190,ok")
    made = ask(program).answer
    assert {one["machine_type"] for one in made["candidates"]} == CORES.keys() - {"big"}
    assert made["next"][0]["seconds"] < 2000


def test_several_at_a_time_are_different(program, folder):
    wrote(folder, "big,4,190,ok")
    chosen = {*map(named, ask(program, "--parallel", 3).answer["next"])}
    assert len(chosen - {("big", 4)}) == 3


def test_the_past_of_the_cluster_is_learnt_from(program, folder):
    wrote(folder, "big,4,190,ok", header="machine_type,machines,t,outcome")
    runs = product(range(1, 5), ("small", "big"), COUNTS)
    rows = [f"job{j},{k},{m},{j * seconds(k, m)}" for j, k, m in runs]
    (folder / "past.csv").write_text("\n".join(["job,machine_type,machines,t", *rows]))
    widths = []
    for more in (["--seconds-column", "t"], ["--seconds-column", "t", "--prior", "past.csv"]):
        made = {named(one): one for one in ask(program, *more).answer["candidates"]}
        widths.append(made["big", 8]["high"] / made["big", 8]["low"])
    assert widths[1] < widths[0]
    other = (folder / "past.csv").read_text().replace("small", "odd").replace("big", "strange")
    (folder / "other.csv").write_text(other)
    made = ask(program, *more[:3], "other.csv").answer
    assert any("the history of another cluster and not used" in text for text in made["warnings"])


def test_a_job_like_a_past_one_starts_where_that_one_is_cheapest(program, folder):
    slow = {"steady": "lean", "odd": "small"}  # what each does badly on
    rows = [
        f"{job},{kind},{count},{seconds(kind, count) * (5 if kind == bad else 1)},5000"
        for job, bad in slow.items()
        for kind, count in by_configuration(seconds)
    ]
    (folder / "past.csv").write_text("\n".join(["job,machine_type,machines,seconds,size", *rows]))
    wrote(folder)
    for job, bad in slow.items():
        made = ask(program, "--prior", "past.csv", "--like", job).answer
        worth = by_configuration(lambda *one, bad=bad: cost(*one) * (5 if one[0] == bad else 1))
        assert worth[named(made["next"][0])] <= 1.1 * min(worth.values())
        assert made["like"] == job
    wrote(folder, "big,4,190,ok", "small,8,900,ok")  # as odd would run
    made = ask(program, "--prior", "past.csv", "--like", "odd").answer
    time = {named(one): one["seconds"] for one in made["candidates"]}
    assert time["small", 4] / time["lean", 4] > 5
    refused = ask(program, "--prior", "past.csv", "--like", "stedy")
    refused.is_refused("unknown past job 'stedy'; did you mean steady?")


def test_rows_that_contradict_each_other_are_told(program, folder):
    wrote(folder, "big,4,190,ok", "big,4,900,ok", "small,4,500,ok", "small,4,3,failed")
    said = " ".join(ask(program).answer["warnings"])
    assert "runs.csv:2 and line 3 contradict each other: 4 × big in 190 s and 900 s" in said
    assert "4 × small failed (runs.csv:5) and succeeded (runs.csv:4)" in said
    wrote(folder, "big,4,190,a", "big,4,900,b", header="machine_type,machines,seconds,job")
    assert "runs differ in 'job', which the model" in " ".join(ask(program).answer["warnings"])
    wrote(folder, "big,4.5,190,ok")
    ask(program).is_refused("runs.csv:2: machines are 4.5; accepted: a whole number")


def test_counts_of_machines_need_no_table_of_types(program, folder):
    counts, job = "next n.csv --machines 1,4,16 --json - --run --max-runs 1 --", (sys.executable,)
    made = program(counts, *job, "-c", "pass", "{machines}", status=0).answer
    assert made["cost_unit"] == "machine-hours"
    wrote(folder, "2,520", "8,190", header="cores,time")
    there = read_candidates(None, range(2, 33))
    made = advise(there, read_tried(folder / "runs.csv", there), Goal("cheapest"), parallel=20)
    assert (made.best["machines"], made.goal.cost_unit) == (2, "core-hours")
    names = {label.get_text() for label in made.plot().axes[0].get_yticklabels()}
    assert {"2 cores (measured)", *made.options["name"][made.next]} <= names


def measure(program, folder, *more, job=("-c", "pass"), status=0):
    command = ("next", "measured.csv", "--candidates", "types.csv", "--machines", MACHINES, "--run")
    return program(*command, *more, "--", sys.executable, *job, *JOB_ARGUMENTS, status=status)


def test_it_measures_until_it_does_not_pay(program, folder, monkeypatch):
    jobs_take(monkeypatch, lambda kind, count: seconds(kind, int(count)))
    assert "stop: " in measure(program, folder, "--goal", "fastest", "--uses", "2").out
    rows = (folder / "measured.csv").read_text().splitlines()[1:]
    assert len({tuple(row.split(",")[:2]) for row in rows}) == len(rows) < 12


def test_what_is_measured_is_said_and_nothing_else(program, folder):
    assert measure(program, folder, "--timeout", "soon", status=2).err.startswith("error: the tim")
    result = measure(program, folder, "--parallel", "3", "--max-runs", "1")
    said = " ".join(result.err.split())
    assert said.startswith("measuring: ")
    assert said.count(", estimated from other jobs") == 1
    assert "next: " not in said


def test_runs_of_which_none_succeeds_are_a_failed_job(program, folder):
    result = measure(program, folder, "--max-runs", "2", job=("-c", "exit(1)"), status=1)
    assert "none of the 2 runs succeeded" in result.err
    limit, sleeps = ("--max-runs", "1", "--timeout", "200ms"), "import time; time.sleep(20)"
    ended = measure(program, folder, *limit, job=("-c", sleeps), status=1)
    assert "ended by --timeout after" in " ".join(ended.err.split())
