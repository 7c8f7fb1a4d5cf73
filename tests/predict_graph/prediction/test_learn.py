"""Which training runs fit into the time that the user gives."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

import predict_graph
import predict_graph.prediction.learn as learning
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.history import History
from predict_graph.prediction.seconds.cluster.runs import runs_of_job

pytest.importorskip("pyspark")

# Seconds of a run of the first graph, of which there are two; each graph is four times as large as
# the one before.
SECONDS = {"semi-clustering": 40.0, "pagerank": 5.0, "connected-components": 8.0}


@pytest.fixture
def cluster(monkeypatch):
    """A cluster on which only a clock goes on."""
    now, begun = [0.0], []

    def run(engine, job, graph, *given, **named):
        turn = (int(graph.name.partition("=")[2].partition(",")[0]) - 6) // 2
        begun.append((job.name, turn))
        seconds = SECONDS[job.name] * 4.0**turn
        now[0] += seconds
        return [SimpleNamespace(record=SimpleNamespace(seconds=seconds, iterations=1))]

    monkeypatch.setattr(learning, "_GRAPHS", ((6, 4), (8, 4), (10, 4)))
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr("predict_graph.budget.time", clock)
    monkeypatch.setattr(learning, "sample_run", run)
    monkeypatch.setattr(History, "add_all", lambda history, records: [*records])
    opened = nullcontext(SimpleNamespace(seconds=0.0))
    monkeypatch.setattr(SparkEngine, "session", lambda engine, **_: opened)
    return begun


def learned(history, budget):
    options = {"algorithms": list(SECONDS), "budget": budget, "history": history, "seed": 1}
    return learning.learn(SparkEngine("spark://nowhere:7077", 1), **options)


FIRST = [(name, 0) for name in SECONDS]
LEARNED = [
    # However little there is, one graph is run.
    ("1s", FIRST[:1]),
    # 106 seconds of the first graph; semi-clustering would take 160 of the second.
    ("270s", [*FIRST, ("pagerank", 1), ("connected-components", 1), ("pagerank", 2)]),
]


@pytest.mark.parametrize(("budget", "training_runs"), LEARNED)
def test_the_cheapest_comes_first_and_what_does_not_fit_is_passed_over(
    cluster, history, budget, training_runs
):
    found = learned(history, budget)
    assert list(dict.fromkeys(cluster)) == training_runs
    assert len(cluster) == len(training_runs) + sum(turn == 0 for _, turn in training_runs)
    assert {name: len(of) for name, of in found.training_runs.items()} == {
        name: sum(each == name for each, _ in training_runs) for name, _ in training_runs
    }
    assert "budget" in found.ended


def test_there_is_an_end_to_what_can_be_learned(cluster, history):
    found = learned(history, "10h")
    assert len(cluster) == 3 * 3 + 3
    assert found.ended == "there is nothing larger to learn from"


def test_training_runs_of_one_session_serve_every_algorithm_that_ran_in_it(
    local_spark, history, monkeypatch
):
    """The first run of the session alone is cold; of each algorithm there is what costs are
    fitted to, and the others know from the first what a session takes that begins."""
    monkeypatch.setattr(learning, "_GRAPHS", ((7, 8), (8, 4), (8, 8)))
    names = ["connected-components", "pagerank"]
    found = learning.learn(local_spark, algorithms=names, budget="10m", history=history, seed=1)
    assert sorted(found.training_runs) == names
    assert all(len(graphs) == 3 for graphs in found.training_runs.values())
    graph = predict_graph.graph.check_graph("rmat:scale=9,seed=5")
    cold = {}
    for name in names:
        runs = runs_of_job(history, local_spark, check_algorithm(name), graph)
        cold[name] = any(run.cold for run in runs)
        assert sum(run.purpose == "cost" and not run.cold for run in runs) == 3
        options = {"directed": False, "engine": local_spark, "history": history, "seed": 1}
        prediction = predict_graph.predict(name, graph, **options)
        assert prediction.cost_model["runs"] == 3
        assert all(run.cold or run.before >= 3 for run in runs)
        assert "training runs of the cluster" in str(prediction.evidence)
    assert sorted(cold.values()) == [False, True]
