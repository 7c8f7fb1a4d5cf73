"""Sample runs of an earlier prediction on a cluster, taken from the history."""

from dataclasses import replace

import pytest

import predict_graph
from predict_graph.algorithms import ConnectedComponents, PageRank
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.prediction.seconds.cluster.cluster_costs import costs_of
from predict_graph.prediction.seconds.cluster.training_runs import (
    new_training_run,
    recall,
    training_records,
)
from tests.predict_graph.prediction.seconds.cluster.made_up_cluster import sample_runs

GRAPH = check_graph("barabasi-albert:n=300,m=2,seed=1")
OTHER = check_graph("barabasi-albert:n=400,m=2,seed=1")
JOB = PageRank(epsilon=0.001)


@pytest.fixture
def engine():
    return SparkEngine(master="spark://127.0.0.1:7077", workers=4)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "history.sqlite")


def learn(history, engine, graph, *, job=JOB, slower=1.0, runs=None):
    """Keep made-up sample runs as a prediction does."""
    training_run = new_training_run()
    for run in runs or sample_runs():
        profile = replace(
            run.profile,
            algorithm=job.name,
            parameters=job.to_dict(),
            engine=engine.on(run.machines).describe(),
            rows=run.profile.rows.assign(seconds=run.profile.rows["seconds"] * slower),
        )
        history.add_all(
            training_records(replace(run, profile=profile), training_run, graph, seed=7)
        )


def test_costs_are_those_of_the_prediction_that_ran_them(history, engine):
    learn(history, engine, GRAPH)
    (found,) = recall(history, [JOB], engine, GRAPH)
    earlier, again = costs_of(sample_runs()), costs_of(found)
    assert again.terms == pytest.approx(earlier.terms)
    assert again.phases(4, 4_000_000) == pytest.approx(earlier.phases(4, 4_000_000))
    assert all(run.again for run in found)
    assert "run on 20" in found[0].summary.note


def test_a_training_run_on_the_same_graph_comes_first_then_the_newest(history, engine):
    learn(history, engine, GRAPH, slower=2.0)
    learn(history, engine, OTHER, slower=3.0)
    learn(history, engine, OTHER, slower=5.0)

    def seconds(graph):
        return recall(history, [JOB], engine, graph)[0][1].profile.iteration_seconds[0]

    usual = sample_runs()[1].profile.iteration_seconds[0]
    assert seconds(GRAPH) == pytest.approx(2.0 * usual)
    assert seconds(OTHER) == pytest.approx(5.0 * usual)
    assert seconds(check_graph("path:n=9")) == pytest.approx(5.0 * usual)


def test_the_newest_training_runs_of_other_graphs_are_put_together(history, engine):
    learn(history, engine, GRAPH, slower=2.0)
    learn(history, engine, OTHER, slower=3.0)
    learn(history, engine, OTHER, slower=5.0)
    (found,) = recall(history, [JOB], engine, check_graph("path:n=9"))
    usual = sample_runs() * 2
    slower = [
        run.profile.iteration_seconds[0] / other.profile.iteration_seconds[0]
        for run, other in zip(found, usual, strict=True)
    ]
    assert slower == pytest.approx([5.0] * 6 + [2.0] * 6)
    assert [run.cold for run in found] == [run.cold for run in usual]


def test_another_tolerance_is_no_other_training_run(history, engine):
    learn(history, engine, GRAPH, job=PageRank(epsilon=0.1))
    assert recall(history, [JOB], engine, GRAPH)


@pytest.mark.parametrize(
    "asked",
    [
        ([PageRank(damping=0.5)], {}),
        ([ConnectedComponents()], {}),
        ([JOB], {"memory": "3g"}),
        ([JOB], {"master": "spark://127.0.0.1:7078"}),
    ],
    ids=["parameter", "algorithm", "memory", "cluster"],
)
def test_what_was_learned_elsewhere_is_not_taken(history, engine, asked):
    learn(history, engine, GRAPH)
    algorithms, options = asked
    other = SparkEngine(**{"master": "spark://127.0.0.1:7077", "workers": 4, **options})
    assert recall(history, algorithms, other, GRAPH) is None


def test_a_training_run_that_broke_off_is_taken_as_far_as_it_goes_if_there_is_no_whole_one(
    tmp_path, engine
):
    history = History(tmp_path / "broken.sqlite")
    learn(history, engine, GRAPH, runs=sample_runs()[:4])  # 2 machines: cold only
    (found,) = recall(history, [JOB], engine, GRAPH)
    assert {run.machines for run in found} == {1}


def test_a_whole_training_run_comes_before_one_that_broke_off(history, engine):
    learn(history, engine, GRAPH)
    learn(history, engine, GRAPH, slower=9.0, runs=sample_runs()[:4])  # 2 machines: cold only
    (found,) = recall(history, [JOB], engine, GRAPH)
    assert len(found) == 6


def test_without_a_history_there_is_nothing_to_reuse(engine):
    assert recall(None, [JOB], engine, GRAPH) is None


def test_a_prediction_takes_them_without_a_cluster(history, engine):
    """Nothing listens at the master's address."""
    learn(history, engine, GRAPH)
    found = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    assert found.phases["superstep"] > 0.0
    notes = [sample.note for sample in found.samples if sample.purpose == "cost"]
    assert len(notes) == 6
    assert all("run on 20" in note for note in notes)


def test_a_training_run_of_another_graph_makes_it_less_sure_and_is_said(tmp_path, engine):
    found = {}
    for name, source in (("own", GRAPH), ("other", OTHER)):
        history = History(tmp_path / f"{name}.sqlite")
        learn(history, engine, source)
        found[name] = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    seconds = {name: prediction.runtime_seconds for name, prediction in found.items()}
    # How long this very graph takes to read, its own training run says alone.
    assert seconds["own"].predicted == pytest.approx(seconds["other"].predicted, rel=0.03)
    assert seconds["other"].high > 1.05 * seconds["own"].high
    assert any("of another graph" in warning for warning in found["other"].warnings)
    assert not any("of another graph" in warning for warning in found["own"].warnings)
