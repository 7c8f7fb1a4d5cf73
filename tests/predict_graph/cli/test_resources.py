"""calibrate and profile, and what fit, plan and predict do with them, as a user calls them."""

import json
import pkgutil
import sys
from functools import partial

import pytest

from predict_graph.resources import write_profile
from predict_graph.sizing.tasks.watching import Observation
from tests.predict_graph.resources.test_profile import machine

pytestmark = pytest.mark.slow

BUSY = "import sys, time\nend = time.process_time() + {0}\nwhile time.process_time() < end: pass"


@pytest.fixture
def folder(folder):
    write_profile(machine(), folder / "here.json")
    slow = machine(speed=500.0, cores=1.0, latency=180.0, bandwidth=2.5)
    write_profile(slow, folder / "slow.json")
    return folder


def test_calibrate(program, folder, monkeypatch):
    for part in ("processor", "memory"):
        name = f"predict_graph.resources.loops.measure_{part}"
        monkeypatch.setattr(name, partial(pkgutil.resolve_name(name), repeats=1))
    result = program("calibrate", "--no-disk", "--out", "now.json", "--json", "-")
    document = result.answer
    assert document["attributes"]["cpu_integer_speed"]["unit"] == "million steps/s"
    assert json.loads((folder / "now.json").read_text())["machine"] == document["machine"]
    assert "memory_latency_128m" in result.err
    program("calibrate", "--listen", "0.0.0.0").is_refused("--listen is the address of --serve")
    program("calibrate", "--folder", ".", "--no-disk").is_refused("--folder is on the disk")


def test_profile_fit_and_plan(program, folder):
    for part in (1, 2, 3, 4):
        profile = f"profile --with cpu_speed={1 / part} --graph star:n=4 --out runs.csv --"
        result = program(profile, sys.executable, "-c", BUSY.format(0.1 * part), status=0)
        assert "processor" in result.out
    program("profile --with colour=1 --out runs.csv -- touch ran").is_refused("runs.csv")
    assert not (folder / "ran").exists()  # an hour's run would have been lost
    result = program("fit", "runs.csv", "--model", "nimo", "--out", "model.json", status=0)
    assert "predict-graph plan model.json --assignments FILE.csv" in result.err
    assert all(each in result.out for each in ("f_data", "OPD"))
    (folder / "candidates.csv").write_text("name,cpu_speed,usd_per_hour\nquick,1,2\nslow,0.25,1\n")
    program("plan model.json --machines 2:4").is_refused("a model of a task", "--assignments FILE")
    plan = "plan model.json --assignments candidates.csv --with vertices=4"
    found = program(plan, "--json", "-").answer
    assert found["choice"] is None
    assert [one["machine_type"] for one in found["configurations"]] == ["quick", "slow"]
    assigned = found["configurations"][0]["assignment"]
    assert assigned["attributes"] == {"vertices": 4.0, "cpu_speed": 1.0}
    said = ("'colour'", "accepted: cpu_speed, edges, skew, vertices")
    program(plan, "--with", "colour=3").is_refused(*said)
    late = program(plan, "--deadline", "0.01s", status=1)
    assert late.lines[-1].startswith("error: no configuration is done in 10 ms with 90% conf")


def test_candidates_that_are_alike_to_the_model(program, folder):
    rows = "".join(f"{size / 10},{size},1\n" for size in (10, 20, 30, 50, 80))
    (folder / "runs.csv").write_text("seconds,input_bytes,cpu_speed\n" + rows)
    program("fit", "runs.csv", "--model", "nimo", "--out", "m.json", status=0)
    (folder / "c.csv").write_text("name,cpu_speed\nquick,2\nslow,1\n")
    result = program("plan m.json --assignments c.csv --with input_bytes=40", status=0)
    assert "alike in what the models know (input_bytes)" in " ".join(result.out.split())


def test_more_cores_than_it_was_said_to_use(program, folder, monkeypatch):
    """Observed by hand: on a busy machine no command can keep two cores busy."""
    seen = Observation(1.0, 1.8, 1.0, 10, 10, 0, 0, 0)
    monkeypatch.setattr("predict_graph.sizing.tasks.watching.watch", lambda *_, **__: seen)
    monkeypatch.setattr("predict_graph.cores.usable_cores", lambda: 2)
    result = program("profile", "--", "true", status=0)
    said = " ".join(f"{result.out} {result.err}".split())
    assert "kept 1.8 cores busy, not 1; give --parallelism 2" in said


FAILING = [("exit 3", "with exit status 3"), ("kill -9 $$", "by signal 9")]


@pytest.mark.parametrize(("job", "how"), FAILING)
def test_a_command_that_fails_is_not_kept(program, folder, job, how):
    result = program("profile --with x=1 --out runs.csv -- sh -c", job, status=1)
    assert f"ended {how}; the run was not kept" in result.lines[-1]
    assert not (folder / "runs.csv").exists()


def test_what_a_command_prints_is_not_in_the_json(process):
    done = process("profile", "--json", "-", "--", "echo", "own output")
    assert done.answer["exit_status"] == 0
    assert "own output" in done.err


def test_a_prediction_is_carried(program, folder):
    asked = "predict pagerank barabasi-albert:n=3000,m=4,seed=1 --seed 1 --method completion"
    asked += " --json - --profile here.json --target-profile"
    found = {name: program(asked, f"{name}.json").answer for name in ("here", "slow")}
    assert found["slow"]["method"]["carried"]["compute_factor"] == pytest.approx(4.0)
    assert found["here"]["method"]["carried"]["compute_factor"] == pytest.approx(1.0)
    assert found["slow"]["iterations"] == found["here"]["iterations"]
    slow = found["slow"]["runtime_seconds"]
    assert slow["low"] < slow["predicted"] < slow["high"]
    assert len({each["verdict"]["sentence"] for each in found.values()}) == 2
    assert any("carried from" in text for text in found["slow"]["warnings"])
