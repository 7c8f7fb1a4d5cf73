"""What `import predict_graph` gives from what a user has, and what every result has."""

import copy
import dataclasses

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph import check_graph
from predict_graph.answers import Answer
from predict_graph.errors import RequestError
from predict_graph.functions.comparing import compare_functions
from predict_graph.functions.naming import check_function
from predict_graph.prediction.learn import Learning
from predict_graph.reports.page import page
from predict_graph.results import Result, Value
from predict_graph.sizing import read_measurements, save_model
from predict_graph.sizing.planning.candidates import read_candidates, read_tried
from predict_graph.sizing.planning.next_run import Goal, advise
from predict_graph.sizing.tasks.assignments import Assignment, plan_tasks
from tests.refusals import refused

GRAPH = "barabasi-albert:n=300,m=3,seed=1"
RUNS = pd.DataFrame({"machines": [1, 2, 4, 8], "seconds": [90.0, 50.0, 30.0, 20.0]})
CPU = np.arange(1.0, 7.0)
TASK_RUNS = pd.DataFrame({"cpu": CPU, "seconds": 60 / CPU})
OF_DAGS = "networkx:dag_longest_path"  # fails on the others
TYPES = "machine_type,cores,memory_gb,price_per_hour\n"


def test_a_sample_is_a_graph_with_its_fidelity():
    drawn = predict_graph.sample(nx.path_graph(100), 0.2, sampler="rj", seed=1)
    assert isinstance(drawn.graph, predict_graph.Graph)
    assert drawn.graph.vertices == 20
    assert drawn.to_frame().set_index("property").loc["vertices"].tolist() == [100, 20]
    again = predict_graph.sample(nx.path_graph(100), 0.2, sampler="rj", seed=1)
    assert again.to_frame().equals(drawn.to_frame())


@pytest.mark.parametrize("graphs", [GRAPH, [GRAPH] * 2, (GRAPH,), nx.path_graph(50)])
def test_samplers_are_compared_on_one_graph_or_several(graphs):
    found = predict_graph.compare_samplers(graphs, samplers=["rj", "brj"], seed=1).to_frame()
    drawn = found.groupby("graph")["sampler"].agg(list).tolist()
    assert drawn == [["rj", "brj"]] * (len(graphs) if isinstance(graphs, list) else 1)


@pytest.mark.parametrize("form", ["table", "path", "text", "records"])
def test_a_model_is_fitted_to_a_table_or_a_file(form, tmp_path):
    path = tmp_path / "runs.csv"
    RUNS.to_csv(path, index=False)
    runs = {"table": RUNS, "path": path, "text": str(path), "records": RUNS.to_dict("list")}[form]
    assert predict_graph.fit(runs, "ernest").seconds(1.0, 4)[0] == pytest.approx(30.0, rel=0.05)


def test_an_error_in_a_table_names_no_temporary_file():
    wrong = RUNS.assign(machines=[1, -2, 4, 8])
    assert "/" not in refused(r"^table:3: ", predict_graph.fit, wrong, "ernest")


def test_rows_are_selected_and_the_others_are_past_jobs():
    both = pd.concat([RUNS.assign(job="a"), RUNS.assign(job="b", seconds=RUNS["seconds"] * 3)])
    fitted = predict_graph.fit(both, where={"job": "a"})
    assert len(fitted.to_frame()) == 4
    assert "past job" in fitted.answer.facts[0][1]
    alone = predict_graph.fit(both, where={"job": "a"}, history="none")
    assert "past job" not in alone.answer.facts[0][1]


def test_a_task_on_unlike_machines_is_fitted_too():
    assert predict_graph.fit(TASK_RUNS, "nimo").attributes == ["cpu"]
    refused("weights", predict_graph.fit, RUNS, "nimo", weights="none")


@pytest.mark.parametrize("machines", ["1:8", range(1, 9), [*range(1, 9)], np.arange(1, 9)])
@pytest.mark.parametrize("deadline", [60, "60s", "1m"])
def test_a_plan_takes_what_the_command_takes(machines, deadline):
    made = predict_graph.plan(predict_graph.fit(RUNS, "ernest"), machines, deadline=deadline)
    assert made.configurations["machines"].tolist() == [*range(1, 9)]
    assert made.choice.configuration.machines == 2


def test_a_plan_reads_models_and_prices_and_nothing_else(tmp_path):
    path, prices = tmp_path / "model.json", tmp_path / "prices.csv"
    save_model(predict_graph.fit(RUNS, "ernest"), path)
    prices.write_text("type,cores,usd_per_hour\nsmall,4,0.36\nlarge,8,0.72\n")
    made = predict_graph.plan([f"small={path}", f"large={path}"], 4, prices=prices, budget="1")
    assert made.to_frame()["machine_type"].tolist() == ["small", "large"]
    assert made.choice.configuration.machine_type == "small"
    assert predict_graph.plan(path, 4).cost_unit == "machine-hours"
    refused("of type int", predict_graph.plan, [3], 4)


# Every result has a short repr, a table, a picture, and ``==``.


def advice(folder, name="m"):
    (folder / "types.csv").write_text(TYPES + 2 * f"{name},4,16,1\nb,8,32,\n")  # one for each zone
    runs = f"machine_type,machines,seconds\n{name},2,60\n{name},4,40\n"
    (folder / f"{name}.csv").write_text(runs)
    candidates = read_candidates(folder / "types.csv", [2, 4, 8])
    return advise(candidates, read_tried(folder / f"{name}.csv", candidates), Goal("cheapest"))


def task_plan(folder):
    machines = [Assignment(name, {"cpu": cpu}) for name, cpu in zip("abcdef", CPU, strict=True)]
    return plan_tasks([predict_graph.fit(TASK_RUNS, "nimo")], machines)


MAKE = {
    "prediction": lambda _: predict_graph.predict("pagerank", GRAPH, seed=1),
    "library": lambda _: predict_graph.predict("graphx:pageRank", GRAPH, engine="spark", budget=0),
    "comparison": lambda _: predict_graph.validate("pagerank", GRAPH, seed=1),
    "run": lambda to: predict_graph.run("pagerank", GRAPH, write_to=f"{to}/ranks.csv"),
    "function": lambda _: predict_graph.predict("networkx:pagerank", GRAPH, seed=1),
    "function comparison": lambda _: predict_graph.validate("networkx:pagerank", GRAPH, seed=1),
    "functions": lambda _: compare_functions(
        [*map(check_function, ("networkx:pagerank", OF_DAGS))], check_graph(GRAPH), seed=1
    ),
    "samplers": lambda _: predict_graph.compare_samplers(
        GRAPH, samplers=["rj", "brj"], algorithms=["pagerank"], seed=1
    ),
    "sample": lambda _: predict_graph.sample(GRAPH, seed=1),
    "fit": lambda _: predict_graph.fit(RUNS, "ernest"),
    "plan": lambda _: predict_graph.plan(predict_graph.fit(RUNS, "ernest"), "2:8", deadline="1m"),
    "next": advice,
    "task": lambda _: predict_graph.fit(TASK_RUNS, "nimo"),
    "task plan": task_plan,
    "learning": lambda _: Learning({"pagerank": ["a", "b"]}, 4, 60.0, "nothing larger"),
}


@pytest.fixture(scope="module", params=MAKE)
def result(request, tmp_path_factory):
    return MAKE[request.param](tmp_path_factory.mktemp("result"))


def test_a_result_is_shown_in_one_line(result):
    assert isinstance(result, Result)
    assert repr(result) == f"<{type(result).__name__}: {result.answer.sentence}>"
    assert "\n" not in repr(result)
    assert len(repr(result)) < 400
    assert all("schema" in each for each in np.atleast_1d(result.to_dict()))
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert min(len(frame), len(frame.columns) - 1) > 0


@pytest.mark.slow
def test_a_result_draws_itself(result, tmp_path, recwarn):
    pytest.importorskip("matplotlib")
    if not result.pictures():
        refused("nothing to draw", result.plot)
        return
    assert result.title in result.plot(tmp_path / "picture.PNG").get_suptitle()
    assert (tmp_path / "picture.PNG").stat().st_size > 0
    assert not recwarn.list


def test_a_result_equals_its_copy_and_nothing_else(result):
    assert result == copy.deepcopy(result)
    assert result != 3
    for name, value in vars(result).items():
        if isinstance(value, tuple | list | dict) and value:
            assert result != dataclasses.replace(result, **{name: type(value)()})
            break


@dataclasses.dataclass(eq=False, repr=False)
class Held(Value):
    """A value with one field."""

    what: object


PAIRS = [
    (np.arange(3), np.arange(4)),
    (np.arange(3), np.arange(3) + 1),
    (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    (np.array(["a"]), np.array(["b"])),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
    ({"a": np.arange(3)}, {"a": np.arange(2)}),
    ([np.arange(2)], [np.arange(3)]),
    (float("nan"), 1.0),
    (Held(np.arange(2)), Held(np.arange(3))),
    (nx.path_graph(2), nx.path_graph(3)),
    (Answer("a"), Answer("b")),
    (len, max),
    (copy.copy, copy.deepcopy),
    (np.arange(2), "text"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_values_that_hold_anything_compare(one, other):
    assert Held(one) == Held(copy.deepcopy(one))
    assert Held(one) != Held(other)
    assert Held(one) != "text"


def test_measured_runs_and_records_compare_and_are_short(tmp_path, history):
    (tmp_path / "runs.csv").write_text("machines,seconds\n1,10\n2,6\n4,4\n")
    first, again = (read_measurements(tmp_path / "runs.csv") for _ in range(2))
    assert first == again
    assert "\n" not in repr(first)
    predict_graph.run("pagerank", GRAPH, history=history)
    one, same = (history.record(1) for _ in range(2))
    assert one == same
    assert repr(one).startswith(f"<RunRecord: run of pagerank on {GRAPH}, ")


HOSTILE = "m\x1b[2J\x9b1J\u202e<script>"


def test_control_characters_and_markup_of_a_name_are_shown_wherever_it_is(tmp_path, recwarn):
    pytest.importorskip("matplotlib")
    hostile = advice(tmp_path, HOSTILE)
    assert "m\\x1b[2J" in str(hostile)
    assert "<script>" not in hostile._repr_html_()
    hostile.plot(tmp_path / "picture.png")
    hostile.plot(tmp_path / "picture.svg")
    assert not [one for one in recwarn if "Glyph" in str(one.message)]
    text = page(hostile.title, hostile.answer, hostile.pictures(), command=f"next {HOSTILE}")
    assert "m\\x1b[2J" in text
    assert "\\u001b" not in text  # in the values under the pointer
    assert text.count("<script") == 1
    shown = [str(hostile), repr(hostile), hostile._repr_html_(), text]
    shown += [(tmp_path / "picture.svg").read_text(), str(RequestError(f"it is {HOSTILE}"))]
    assert not [each for each in shown if any(mark in each for mark in ("\x1b", "\x9b", "\u202e"))]
