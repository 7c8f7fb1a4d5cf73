"""collect, fit and plan, as a user calls them."""

import json
import sys

import pytest

ROWS = "scale,machines,seconds\n" + "".join(
    f"{s},{m},{20 + 300 * s / m + m}\n" for s in (1, 2) for m in (1, 2, 4, 8, 16)
)


@pytest.fixture
def folder(folder):
    (folder / "runs.csv").write_text(ROWS)
    (folder / "prices.csv").write_text("type,cores,usd_per_hour\nsmall,4,0.36\nlarge,8,1.08\n")
    return folder


@pytest.fixture
def model(program, folder):
    found = program("fit runs.csv --model ernest --out model.json --json -").answer
    assert isinstance(found["runs"], int)
    return "model.json"


@pytest.mark.slow
def test_a_design_is_collected(program, folder):
    arguments = ["design", "--scale", "10:100", "--machines", "1,2,4,8", "--scale-steps", 10]
    made = program(*arguments, "--budget", 20, "--cost", "machine-time", "--json", "-").answer
    assert made["cost"] <= 20
    assert 0.8 < made["efficiency"] <= 1
    assert {point["machines"] for point in made["points"]} <= {1, 2, 4, 8}
    assert len({point["machines"] for point in made["points"]}) > 1
    lines = (folder / "design.csv").read_text().splitlines()
    assert lines[0] == "scale,machines,repeats,cost"
    assert len(lines) == 1 + len(made["points"])
    assert "." not in lines[1].split(",")[0]  # a job may expect whole numbers
    code = "import sys; int(sys.argv[1]), int(sys.argv[2])"
    command = [sys.executable, "-c", code, "{scale}", "{machines}"]
    result = program("collect", "--design", "design.csv", "--", *command)
    assert result.out == f"{made['runs']} points measured: points.csv\n"
    header = (folder / "points.csv").read_text().splitlines()[0]
    assert header.startswith("scale,machines,repeat,command,")


def test_designs_of_other_terms_and_criteria(program, folder):
    arguments = ["design", "--scale", "1:10", "--machines", "1:8", "--budget", 30, "--json", "-"]
    given = program(*arguments, "--terms", "1,scale/machines,sqrt(machines)").answer
    assert given["terms"] == ["1", "scale/machines", "sqrt(machines)"]
    masha = program(*arguments, "--terms", "masha").answer
    assert "scale^2" in masha["terms"]
    assert masha["criterion"] == "a"
    few = program(*arguments[:4], "1,256", *arguments[5:], "--terms", "amdahl").answer["points"]
    assert {point["machines"] for point in few} == {1, 256}


def test_types_prices_and_the_frontier(program, folder, model):
    words = "--machines 1:20 --scale 1 --prices prices.csv --deadline 2m --spare 2 --confidence 90%"
    result = program("plan", f"small={model}", f"large={model}", *words.split(), "--json", "-")
    made = result.answer
    assert (made["cost_unit"], made["choice"]["machine_type"]) == ("USD", "small")
    assert made["choice"]["high"] <= 120
    assert made["spare_test_seconds"] == 60
    assert "2 spare machines for 60 s are included" in result.err
    assert "cheapest done in 2 min with 90% confidence: " in result.err
    assert 0 < len(made["frontier"]) < len(made["configurations"]) == 40


def test_what_cannot_be_had_says_the_nearest(program, folder, model):
    arguments = ["plan", model, "--machines", "1:8", "--scale", 1, "--deadline", "20s"]
    said = ("no configuration is done in 20 s with 90% confidence", "fastest of all: 8 machines, ")
    program(*arguments, "--json", "plan.json").is_refused(*said, status=1)
    made = json.loads((folder / "plan.json").read_text())
    assert made["choice"] is None
    assert made["nearest"]["fastest of all"]["machines"] == 8


def test_long_frontiers_are_thinned_on_the_screen_only(program, folder, model):
    result = program("plan", model, "--machines", "1:500", "--scale", 9e4, "--json", "plan.json")
    assert len(json.loads((folder / "plan.json").read_text())["frontier"]) == 500
    assert "500 of 500 configurations; " in result.out
    assert len(result.out.splitlines()) < 40


def test_a_failing_job_fails_the_collection(program, folder):
    (folder / "design.csv").write_text("machines\n1\n2\n")
    code = "import sys; print('out of memory'); sys.exit(sys.argv[1] == '2')"
    arguments = ["collect", "--design", "design.csv", "--", sys.executable, "-c", code]
    result = program(*arguments, "{machines}", status=1)
    assert result.out == "1 point measured: points.csv\n"
    assert "2 of 2: machines 2, repeat 1: failed with exit status 1" in result.err
    last = result.lines[-1]
    assert last.startswith("error: 1 of 2 runs did not succeed; the first, machines 2, repeat 1, ")
    assert "out of memory" in last


def test_options_after_the_dashes_are_the_jobs(program, folder):
    (folder / "design.csv").write_text("machines\n1\n")
    code = "import sys; sys.exit(sys.argv[1:] != ['--debug', '--out', 'x', '1'])"
    command = [sys.executable, "-c", code, "--debug", "--out", "x", "{machines}"]
    program("collect", "--design", "design.csv", "--", *command, status=0)


def test_predictions_on_one_machine_are_no_models(program, folder):
    program("predict pagerank path:n=50 --seed 1 --json p.json --quiet", status=0)
    program("plan p.json --machines 1:8").is_refused("p.json", "--engine spark", "--budget")
