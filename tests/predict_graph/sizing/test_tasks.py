import numpy as np
import pytest

from predict_graph.sizing import fit, save_model
from predict_graph.sizing.tasks.assignments import Assignment, plan_tasks, read_assignments
from predict_graph.sizing.tasks.model import add_run, fit_task, load_task
from tests.predict_graph.sizing.test_measurements import read_task_runs
from tests.refusals import refused


@pytest.fixture
def runs(tmp_path):
    file = tmp_path / "runs.csv"
    for speed in (1.0, 2.0, 4.0):
        for delay in (1.0, 5.0, 20.0):
            time = 40.0 / speed + 0.5 * delay
            seen = {"started": "2026-01-01T00:00:00+00:00", "seconds": time, "data_bytes": 1e6}
            seen |= {"utilization": 40.0 / speed / time, "network_share": 1.0}
            add_run(file, seen, {"cpu_speed": speed, "network_latency": delay})
    return file


@pytest.fixture
def model(runs):
    return fit_task(read_task_runs(runs))


def test_a_model_is_read_back_exactly(model, tmp_path):
    file = tmp_path / "model.json"
    save_model(model, file)
    again = load_task(file)
    assert list(model.known) == ["cpu_speed", "network_latency"]
    assert (again.seconds(model.known, 0.9) == model.seconds(model.known, 0.9)).all()
    left_out = model.to_dict()["left_out"]
    assert left_out["mean_percent_error"] < 1.0
    assert left_out["order_preserving_degree"] > 0.95


def test_few_runs_and_unknown_models(written, runs):
    few = read_task_runs(written("cpu_speed,seconds\n1,2\n2,1\n"))
    refused("has 2 runs; accepted: at least 4", fit_task, few)
    alike = read_task_runs(written("cpu_speed,seconds\n1,4\n1,4\n1,4\n1,4\n"))
    refused("no attribute differs", fit_task, alike)
    refused("accepted: nimo, nimo-linear", fit_task, read_task_runs(runs), "nimo-round")


def test_what_never_differed_is_not_needed(written):
    text = ",cpu_speed,edges,seconds,disk,Utilization\n0,1,9,4,ssd,1\n1,2,9,2,ssd,1\n"
    model = fit(written(f"{text}2,4,9,1,hdd,1\n3,4,9,1,ssd,.9\n4,8,9,0.5,ssd,1\n"), "nimo")
    assert model.warnings == ("the column 'disk' has 2 values, texts that the model does not see",)
    assert model.attributes == ["cpu_speed"]
    assert plan_tasks([model], [Assignment("a", {"cpu_speed": 4.0})]).warnings == ()
    larger = plan_tasks([model], [Assignment("a", {"cpu_speed": 4.0, "edges": 99.0})])
    assert any("edges" in text for text in larger.warnings)


def test_remote_or_staged(model, written):
    """As Table VI: whether moving the data pays depends on the rest of the assignment."""
    header = "name,cpu_speed,network_latency,stage_seconds,staged_network_latency,price_per_hour"
    rows = "near,2,2,8,1,1.0\nfar,2,20,4,1,1.0\nslow,1,1,,,0.1\n"
    found = read_assignments([written(f"{header}\n{rows}")])
    assert [one.name for one in found] == ["near", "near, staged", "far", "far, staged", "slow"]
    made = plan_tasks([model], found)
    order = made.configurations["name"].tolist()
    assert order.index("near") < order.index("near, staged")
    assert order.index("far, staged") < order.index("far")
    assert made.choice is None
    assert made.frontier["name"].iloc[[0, -1]].tolist() == [order[0], "slow"]
    cheap = plan_tasks([model], found, deadline=60.0)
    assert cheap.choice.configuration.name == "slow"  # the cheapest in time
    assert plan_tasks([model], found, deadline=5.0).choice.configuration is None
    assert plan_tasks([model], found, budget=1.0).choice.configuration.name == order[0]


def test_without_prices_the_fastest_is_chosen(model, written):
    found = read_assignments([written("name,cpu_speed,network_latency\nnear,2,2\nfar,2,20\n")])
    made = plan_tasks([model], found, deadline=600.0)
    assert made.choice.configuration.name == "near"
    assert "USD" not in made.answer.sentence
    assert made.frontier["name"].tolist() == ["near"]
    refused("a budget needs prices", plan_tasks, [model], found, budget=1.0)


def test_a_chain_takes_the_sum(model):
    candidates = [Assignment("a", {"cpu_speed": 2.0, "network_latency": 4.0})]
    alone, twice = (plan_tasks([model] * count, candidates).fastest for count in (1, 2))
    assert twice.seconds == pytest.approx(2 * alone.seconds)
    # Errors of two tasks partly cancel.
    assert twice.high - twice.seconds == pytest.approx(np.sqrt(2) * (alone.high - alone.seconds))


def test_candidates_that_do_not_fit(model, written):
    fitting = Assignment("a", {"cpu_speed": 2.0, "network_latency": 4.0})
    refused("'a' has no 'cpu_speed'", plan_tasks, [model], [Assignment("a", {})])
    still = Assignment("a", {"cpu_speed": 0.0, "network_latency": 4.0})
    refused("cpu_speed of 'a' is 0; accepted: a number above 0", plan_tasks, [model], [still])
    refused(r"confidence is 0\.2", plan_tasks, [model], [fitting], confidence=0.2)
    refused("no assignment to rank", plan_tasks, [model], [])
    refused("are called 'a'", read_assignments, [written("name,cpu_speed\na,1\na,2\n")])
    outside = plan_tasks([model], [Assignment("b", {"cpu_speed": 99.0, "network_latency": 4.0})])
    assert any("cpu_speed" in text and "lies outside" in text for text in outside.warnings)
