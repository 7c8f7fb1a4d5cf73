"""What `import predict_graph` gives: samples, models and plans, from what a user has."""

from importlib.metadata import version

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.sizing import save_model
from tests.refusals import refused

GRAPH = "barabasi-albert:n=300,m=3,seed=1"
RUNS = pd.DataFrame({"machines": [1, 2, 4, 8], "seconds": [90.0, 50.0, 30.0, 20.0]})


def test_the_version_is_that_of_the_package():
    assert predict_graph.__version__ == version("predict-graph")
    assert "__version__" in dir(predict_graph)


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


@pytest.mark.parametrize("form", ["table", "path", "text"])
def test_a_model_is_fitted_to_a_table_or_a_file(form, tmp_path):
    path = tmp_path / "runs.csv"
    RUNS.to_csv(path, index=False)
    runs = {"table": RUNS, "path": path, "text": str(path)}[form]
    fitted = predict_graph.fit(runs, "ernest")
    assert fitted.seconds(1.0, 4)[0] == pytest.approx(30.0, rel=0.05)


def test_an_error_in_a_table_names_no_temporary_file():
    wrong = RUNS.assign(machines=[1, -2, 4, 8])
    assert "/" not in refused(r"^table.csv:3: ", predict_graph.fit, wrong, "ernest")


def test_rows_are_selected_and_the_others_are_past_jobs():
    both = pd.concat([RUNS.assign(job="a"), RUNS.assign(job="b", seconds=RUNS["seconds"] * 3)])
    fitted = predict_graph.fit(both, where={"job": "a"})
    assert len(fitted.to_frame()) == 4
    assert "past job" in fitted.answer.facts[0][1]
    alone = predict_graph.fit(both, where={"job": "a"}, history="none")
    assert "past job" not in alone.answer.facts[0][1]


def test_a_task_on_unlike_machines_is_fitted_too():
    cpu = np.arange(1.0, 7.0)
    fitted = predict_graph.fit(pd.DataFrame({"cpu": cpu, "seconds": 60.0 / cpu}), "nimo")
    assert fitted.attributes == ["cpu"]
    refused("weights", predict_graph.fit, RUNS, "nimo", weights="none")


@pytest.mark.parametrize("machines", ["1:8", range(1, 9), [*range(1, 9)], np.arange(1, 9)])
@pytest.mark.parametrize("deadline", [60, "60s", "1m"])
def test_a_plan_takes_what_the_command_takes(machines, deadline):
    made = predict_graph.plan(predict_graph.fit(RUNS, "ernest"), machines, deadline=deadline)
    assert made.configurations["machines"].tolist() == [*range(1, 9)]
    assert made.choice.configuration.machines == 2


def test_a_plan_reads_models_and_prices(tmp_path):
    path, prices = tmp_path / "model.json", tmp_path / "prices.csv"
    save_model(predict_graph.fit(RUNS, "ernest"), path)
    prices.write_text("type,cores,usd_per_hour\nsmall,4,0.36\nlarge,8,0.72\n")
    models = [f"small={path}", f"large={path}"]
    made = predict_graph.plan(models, 4, prices=prices, budget="1")
    assert made.to_frame()["machine_type"].tolist() == ["small", "large"]
    assert made.choice.configuration.machine_type == "small"
    assert predict_graph.plan(path, 4).cost_unit == "machine-hours"


def test_a_plan_refuses_what_is_no_model():
    refused("of type int", predict_graph.plan, [3], 4)
