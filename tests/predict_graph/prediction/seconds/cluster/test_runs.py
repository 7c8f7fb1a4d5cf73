"""Runs of a cluster in the history: sample runs of earlier predictions, real runs, event logs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.algorithms import ALGORITHMS, ConnectedComponents, PageRank, check_algorithm
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.prediction.seconds.cluster import runs as reference_runs
from predict_graph.prediction.seconds.cluster.costs import (
    ClusterSpeed,
    costs_of,
    reference_costs,
    speed_of_cluster,
)
from predict_graph.prediction.seconds.cluster.runs import runs_of_job, shipped_runs, warming
from predict_graph.prediction.seconds.cluster.runtime_model import deviations
from tests.predict_graph.prediction.seconds.cluster import made_up_cluster as made_up

GRAPH = check_graph("barabasi-albert:n=3000,m=20,seed=1")
ENGINE = made_up.ENGINE
OTHER = check_graph("barabasi-albert:n=400,m=2,seed=1")
JOB = PageRank(epsilon=0.001)


def predicted(history):
    return predict_graph.predict(JOB, GRAPH, engine=ENGINE, history=history, seed=1)


def width(prediction):
    return prediction.runtime_seconds.high / prediction.runtime_seconds.low


def test_sample_runs_are_those_of_the_prediction_that_ran_them(history):
    made_up.keep(history, made_up.sample_runs(), GRAPH, job=JOB)
    found = runs_of_job(history, ENGINE, PageRank(epsilon=0.1), GRAPH)  # whatever the tolerance
    for run, again in zip(made_up.sample_runs(), found, strict=True):
        assert (again.cold, again.machines) == (run.cold, run.machines)
        assert again.session_seconds == run.session_seconds
        assert again.record.phases == run.record.phases
        assert (again.again, again.elsewhere) == (True, False)
    assert "run on 20" in found[0].summary.note
    assert all(run.elsewhere for run in runs_of_job(history, ENGINE, JOB, OTHER))
    assert runs_of_job(None, ENGINE, JOB, GRAPH) == []


@pytest.mark.parametrize("kind", ["sample", "real"])
def test_of_another_cluster_or_algorithm_or_with_lost_executors_nothing_is_taken(history, kind):
    run = made_up.changed(made_up.sample_runs()[1], parameters=JOB.to_dict())
    local = SparkEngine(master="local", workers=2)
    for job, engine in (
        (PageRank(damping=0.5), ENGINE),
        (ConnectedComponents(), ENGINE),
        (JOB, SparkEngine("spark://nowhere:7077", 2, memory="3g")),
        (JOB, SparkEngine("spark://elsewhere:7077", 2, memory="1g")),
    ):
        named = made_up.changed(run, algorithm=job.name)
        if kind == "sample":
            made_up.keep(history, [named], GRAPH, engine=engine, job=job)
        else:
            history.add(made_up.real_record(named, engine=engine, job=job))
    lost = {**ENGINE.describe(), "executors_lost": 1}
    history.add(replace(made_up.real_record(run, job=JOB), engine=lost))
    history.add(replace(made_up.real_record(run, engine=local, job=JOB), machine="another"))
    for engine in (ENGINE, local):
        assert runs_of_job(history, engine, JOB, GRAPH) == []


@pytest.mark.slow
def test_a_prediction_takes_sample_runs_without_a_cluster(tmp_path):
    """Nothing listens at the master's address; those of another graph are less certain."""
    histories = [History(tmp_path / f"{name}.sqlite") for name in ("own", "other")]
    for history, source in zip(histories, (GRAPH, OTHER), strict=True):
        made_up.keep(history, made_up.slower_runs(), source, job=JOB)
    own, other = map(predicted, histories)
    assert own.evidence[0].source == "training runs of the cluster"
    notes = [sample.note for sample in own.samples if sample.purpose == "cost"]
    assert notes
    assert all("run on 20" in note for note in notes)
    assert own.runtime_seconds.predicted == pytest.approx(other.runtime_seconds.predicted, rel=0.05)
    assert width(other) > width(own)
    assert any("of no run of this graph" in warning for warning in other.warnings)
    assert not any("of no run of this graph" in warning for warning in own.warnings)


@pytest.mark.parametrize("log", [False, True], ids=["run", "event log"])
def test_one_real_run_scales_the_reference_runs(history, log):
    unknown = predicted("none")
    run = next(run for run in shipped_runs("pagerank") if run.cold and run.machines == 2)
    history.add(made_up.real_record(made_up.slower(run), job=JOB, log=log, fingerprint="another"))
    found = predicted(history)
    assert found.evidence[0].source == "real runs on the cluster"
    assert any("those of real runs on the cluster" in warning for warning in found.warnings)
    usual = 1.6  # times as long as the reference, of a cluster without runs
    longer = {
        name: usual * found.phases[name] / unknown.phases[name] for name in ("superstep", "setup")
    }
    assert made_up.DRIVER * 0.8 < longer["superstep"] < made_up.TASKS * 1.2
    assert longer["setup"] == pytest.approx(made_up.PHASES, rel=0.35)
    assert width(found) < width(unknown) / 2.0


def test_more_graphs_are_more_certain_and_runs_of_the_graph_itself_most():
    runs = [
        replace(made_up.changed(run, fingerprint=str(n)), elsewhere=True)
        for n, run in enumerate(made_up.sample_runs())
    ]
    known = [[], runs[:1], runs, made_up.sample_runs()]
    widths = [np.hypot(*deviations(each, ClusterSpeed())) for each in known]
    assert widths == sorted(set(widths), reverse=True)


# Costs: those of the bundled reference runs, scaled to what the runs of a cluster show.

UNKNOWN = ClusterSpeed()
SMALL = check_graph("path:n=9")


def test_a_law_is_found_again():
    """Each of four machines sends a quarter of the messages, three quarters of them to others."""
    columns = {"vertices": 5e4, "messages": 1e6, "remote_bytes": 7.5e6}
    rows = pd.DataFrame(columns, index=range(8))
    costs = costs_of(made_up.sample_runs())
    found = costs.supersteps(rows, 4, None)
    assert found == pytest.approx(np.full(8, made_up.superstep_seconds(4_000_000, 4)), rel=0.001)
    assert costs.at("opening", 4) == pytest.approx(10.0)
    phases = costs.phases(rows, 4, 4_000_000)
    assert phases["setup"] == pytest.approx(10.0 + 1.0 + 1.0 + 5.0)
    assert phases["read"] == pytest.approx(0.5 + 2.5 + 2.0)
    own = [("read start", made_up.sample_runs()[0], 7.0)]
    slower = costs.scaled(dict.fromkeys(costs.factors, 3.0), own)
    assert [slower.at(f"{part} start", 1) for part in ("read", "setup")] == pytest.approx([7, 15])
    assert costs.supersteps(rows, 4) - found == pytest.approx(made_up.WARMING * warming(8))
    later = costs.supersteps(rows, 4, before=8) - found
    assert later == pytest.approx(made_up.WARMING * warming(8, before=8))


def test_other_algorithms_on_the_same_cluster_show_it_too(history):
    assert speed_of_cluster(None, ENGINE) == speed_of_cluster(history, ENGINE) == UNKNOWN
    made_up.keep(history, made_up.slower_runs(), SMALL)
    one, name = speed_of_cluster(history, ENGINE), "label-propagation"
    assert 0.7 * made_up.TASKS < one.factors(name)["tasks"] < 1.2 * made_up.TASKS
    # Opening a session and reading are the same whatever comes next.
    costs = reference_costs(name).scaled(one.factors(name))
    cold = [run for run in made_up.slower_runs() if run.cold]
    for machines in (1, 2):
        own = [run.session_seconds for run in cold if run.machines == machines]
        assert costs.at("opening", machines) == pytest.approx(np.mean(own), rel=0.15)
    made_up.keep(history, made_up.slower_runs(name), SMALL)
    two = speed_of_cluster(history, ENGINE)
    assert [*two.observed] == ["pagerank", name]
    # Nor does a user's function of the same name.
    of_user = made_up.changed(made_up.sample_runs()[1], parameters={"code digest": "0"})
    made_up.keep(history, [of_user], SMALL)
    # More memory makes it no other cluster; another master, or other cores, do.
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 8, memory="4g")) == two
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 2, cores=4)) == UNKNOWN
    assert speed_of_cluster(history, SparkEngine("spark://elsewhere:7077", 2)) == UNKNOWN


REFERENCES = [
    ("graphframes:pageRank", {}, "graphx:pageRank"),
    ("graphframes:pageRank", {"sourceId": "1"}, "graphx:personalizedPageRank"),
    ("graphframes:connectedComponents", {"algorithm": "graphx"}, "graphx:connectedComponents"),
    ("graphframes:connectedComponents", {}, "graphframes:connectedComponents"),
]


@pytest.mark.parametrize(("name", "given", "reference"), REFERENCES)
def test_graphframes_uses_the_reference_runs_of_graphx(name, given, reference):
    assert reference_runs.shipped_name(check_algorithm(name, given)) == reference


def test_each_algorithm_that_runs_on_spark_has_reference_runs():
    ours = {name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on}
    graphx = {f"graphx:{name}" for name in GRAPHX.names()}
    stars = "graphframes:connectedComponents"
    assert set(reference_runs.shipped_names()) == {*ours, *graphx, stars, reference_runs.PROGRAM}
    for name in reference_runs.shipped_names():
        runs = shipped_runs(name)
        assert {run.cold for run in runs} == {True, False}, name
        assert {run.machines for run in runs} == {1, 2}, name
