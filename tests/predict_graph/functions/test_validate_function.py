"""A prediction of a function beside the real call."""

import networkx as nx
import pytest

import predict_graph
from predict_graph.functions.comparing import compare_functions
from predict_graph.functions.naming import check_function
from predict_graph.graph import check_graph
from tests.refusals import refused

GRAPH = "barabasi-albert:n=300,m=4,seed=1"


def test_a_call_beside_its_prediction(history):
    graph = nx.barabasi_albert_graph(300, 4, seed=1)
    found = predict_graph.validate(nx.triangles, graph, history=history, seed=1)
    said = found.to_dict()
    assert said["actual"]["runtime_seconds"] == said["actual"]["phases"]["call"] > 0.0
    assert said["actual"]["iterations"] is said["iterations"] is None
    runtime = said["runtime_seconds"]["predicted"] / said["actual"]["runtime_seconds"] - 1.0
    assert said["errors"]["runtime_seconds"] == pytest.approx(runtime)
    assert said["inside_interval"].keys() == {"runtime_seconds", "peak_memory_bytes"}
    assert len(history.runs(algorithm="networkx:triangles", kind="run")) == 1
    assert str(found).startswith("took ")
    assert "prediction and truth" in found._repr_html_()


def test_options_of_the_other_kind_are_refused():
    refused("for algorithms alone", predict_graph.validate, nx.triangles, GRAPH, sampler="rj")
    refused("k is no option of validate", predict_graph.validate, "pagerank", GRAPH, k=3)


def test_a_budget_of_nothing_runs_nothing(history, written):
    source = "import networkx as nx\ndef count(graph: nx.Graph):\n    return len(graph)\n"
    call = f"{written(source, 'mine.py')}:count"
    said = "the budget is 0, but neither earlier runs"
    refused(said, predict_graph.predict, call, GRAPH, history=history, budget=0)
    predict_graph.validate(call, "barabasi-albert:n=90,m=4,seed=1", history=history)
    said = predict_graph.predict(call, GRAPH, history=history, budget="0")
    assert (said.samples, said.verdict.memory) == ([], None)
    assert said.to_dict()["verdict"]["peak_memory_bytes"] is None
    assert [each.source for each in said.evidence] == ["history"]
    assert said.pictures()


@pytest.mark.parametrize("budget", ["0%", "fast", "200%", "5 parsecs", "5%, 2%", "5%,", "5%, -1s"])
def test_wrong_budgets_are_refused(budget):
    said = "the budget is .* a share and a time at most"
    refused(said, predict_graph.predict, "networkx:clustering", GRAPH, budget=budget)


COMPARED = [
    (["networkx:core_number", "igraph:coreness"], "the fastest is"),
    (["networkx:core_number", "networkx:triangles"], "may compute different things"),
    (["networkx:core_number", "networkx:topological_sort"], "no other to compare it with"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("names", "said"), COMPARED)
def test_functions_are_ranked_if_they_compute_the_same(names, said):
    pytest.importorskip("igraph")
    graph = check_graph("barabasi-albert:n=60,m=3,seed=1")
    sentence = compare_functions([*map(check_function, names)], graph, seed=1).answer.sentence
    assert [other for _, other in COMPARED if other in sentence] == [said]
