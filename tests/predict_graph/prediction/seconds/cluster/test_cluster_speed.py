"""Cluster speed relative to the reference cluster of the bundled runs."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.algorithms import ALGORITHMS
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.builtin.libraries import library_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.prediction.run_records import record_of
from predict_graph.prediction.seconds.cluster import reference_runs
from predict_graph.prediction.seconds.cluster.cluster_costs import costs_on_cluster, typical_rows
from predict_graph.prediction.seconds.cluster.cluster_speed import (
    FACTORS,
    ClusterSpeed,
    reference_costs,
    speed_of_cluster,
)
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_runs
from predict_graph.prediction.seconds.cluster.training_runs import cluster_settings
from predict_graph.table import Table

TASKS, DRIVER, PHASES = 4.0, 1.5, 2.5
UNKNOWN = ClusterSpeed()
ENGINE = SparkEngine("spark://nowhere:7077", 2, memory="1g")


def slower(run):
    """The same run on a cluster that is slower, by a factor for each part."""
    table = run.profile.table.copy()
    working = table.groupby("iteration")["task_seconds"].transform("max").clip(upper=table.seconds)
    table["seconds"] = TASKS * working + DRIVER * (table["seconds"] - working)
    table["task_seconds"] *= TASKS
    phases = {name: PHASES * seconds for name, seconds in run.profile.phases.items()}
    phases["superstep"] = float(table.groupby("iteration")["seconds"].max().sum())
    profile = run.profile
    object.__setattr__(profile, "rows", Table(table))
    object.__setattr__(profile, "phases", phases)
    return run


def kept_there(history, runs):
    for run in runs:
        sample = {
            "sampler": "folded",
            "ratio": run.ratio,
            "seed": 1,
            "purpose": run.summary.purpose,
            "training_run": "there",
            "machines": run.machines,
            "cold": run.cold,
            "opening_seconds": PHASES * run.session_seconds,
        }
        profile = run.profile
        engine = {**cluster_settings(ENGINE), "machines": run.machines, "workers": run.machines}
        object.__setattr__(profile, "engine", {**engine, "executors_lost": 0})
        history.add_all([record_of(profile, sample=sample, sample_of="x")])


OURS = {
    "pagerank",
    "connected-components",
    "label-propagation",
    "neighborhood",
    "topk-ranking",
    "semi-clustering",
    "shortest-paths",
    "k-core",
    "triangle-count",
    "personalised-pagerank",
}


@pytest.mark.parametrize(
    ("name", "given", "training_runs"),
    [
        ("graphframes:pageRank", {}, "graphx:pageRank"),
        ("graphframes:pageRank", {"sourceId": "1"}, "graphx:personalizedPageRank"),
        ("graphframes:connectedComponents", {"algorithm": "graphx"}, "graphx:connectedComponents"),
        ("graphframes:connectedComponents", {}, "graphframes:connectedComponents"),
        ("graphframes:stronglyConnectedComponents", {}, "graphx:stronglyConnectedComponents"),
    ],
)
def test_graphframes_uses_the_reference_runs_of_graphx(name, given, training_runs, tmp_path):
    """And its runs show the speed of the cluster."""
    algorithm = library_algorithm(name, given)
    assert reference_runs.shipped_name(algorithm) == training_runs
    history = History(tmp_path / "history.sqlite")
    runs = [slower(run) for run in shipped_runs(training_runs, first=True)]
    for run in runs:
        object.__setattr__(run.profile, "algorithm", name)
        object.__setattr__(run.profile, "parameters", algorithm.parameters)
    kept_there(history, runs)
    speed = speed_of_cluster(history, ENGINE)
    assert [*speed.observed] == [training_runs]
    assert 0.7 * TASKS < speed.factors("another")["tasks"] < 1.3 * TASKS


def test_a_run_of_a_library_that_had_other_parameters_is_passed_over(tmp_path):
    history = History(tmp_path / "history.sqlite")
    runs = shipped_runs("graphx:pageRank", first=True)
    for run in runs:
        object.__setattr__(run.profile, "parameters", {"tolerance": 0.1})
    kept_there(history, runs)
    assert speed_of_cluster(history, ENGINE) == UNKNOWN


def test_each_algorithm_that_runs_on_spark_has_training_runs():
    assert {name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on} == OURS
    graphx = {f"graphx:{name}" for name in GRAPHX.names()}
    stars = "graphframes:connectedComponents"
    assert set(reference_runs.NAMES) == {*OURS, *graphx, stars, reference_runs.PROGRAM}
    for name in reference_runs.NAMES:
        runs = shipped_runs(name, first=True)
        assert {run.cold for run in runs} == {True, False}, name
        assert {run.machines for run in runs} == {1, 2}, name


@pytest.mark.parametrize("name", ["pagerank", "connected-components"])
def test_keeping_states_costs_something_where_nothing_ran_yet(name, tmp_path):
    """The more often, the more; and nothing where no state is kept."""
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=2")
    written = []
    for interval in (None, 4, 1):
        kept = {"checkpoint": tmp_path, "checkpoint_interval": interval} if interval else {}
        engine = SparkEngine("spark://nowhere:7077", 2, **kept)
        found = predict_graph.predict(name, graph, engine=engine, history="none", seed=1)
        written.append(found.phases["write"])
    none, some, every = written
    times = found.iterations.predicted
    assert none == 0.0 < some < every
    assert every / some == pytest.approx(times / -(-times // 4))


def test_packing_loses_nothing_that_counts():
    runs = shipped_runs("pagerank", first=True)
    records = [record_of(run.profile, sample={"purpose": "cost"}, sample_of="x") for run in runs]
    packed = reference_runs.packed_reference_runs(records)
    assert packed == reference_runs.packed_reference_runs(records)
    rows = json.loads(gzip.decompress(packed))
    assert [row["iterations"] for row in rows] == [run.profile.iterations for run in runs]
    np.testing.assert_allclose(rows[0]["table"]["seconds"], runs[0].profile.table["seconds"])


def test_runs_of_the_algorithm_show_each_factor():
    usual, speed = (
        UNKNOWN.with_runs("pagerank", runs)
        for runs in (
            shipped_runs("pagerank", first=True),
            [slower(run) for run in shipped_runs("pagerank", first=True)],
        )
    )
    before, factors = usual.factors("pagerank"), speed.factors("pagerank")
    assert factors["tasks"] / before["tasks"] == pytest.approx(TASKS, rel=0.15)
    assert factors["driver"] / before["driver"] == pytest.approx(DRIVER, rel=0.15)
    assert factors["read"] / before["read"] == pytest.approx(PHASES, rel=0.15)
    assert speed.std("pagerank") < UNKNOWN.std("pagerank") / 3.0
    costs = reference_costs("pagerank")
    scaled = costs.scaled(factors)
    assert scaled.at("driver", 1) == pytest.approx(factors["driver"] * costs.at("driver", 1))


def test_supersteps_that_merge_less_and_less_are_not_alike_though_messages_are():
    """GraphX's label propagation puts maps together, hundreds of entries a message at first."""
    runs = shipped_runs("graphx:labelPropagation", first=True)
    warm = [run for run in runs if not run.cold and run.summary.purpose == "cost"]
    for run in warm:
        rows = typical_rows(run)
        assert rows["messages"].nunique() <= 2
        assert len(rows) == run.profile.iterations
        assert rows["merged"].iloc[0] > 10.0 * rows["merged"].iloc[-1]
    rows = pd.concat(map(typical_rows, warm))
    costs = reference_costs("graphx:labelPropagation")
    assert costs.tasks.predict(rows) == pytest.approx(rows["working"].to_numpy(), rel=0.35)


def test_other_algorithms_on_the_same_cluster_show_it_too(tmp_path):
    history = History(tmp_path / "history.sqlite")
    assert speed_of_cluster(None, ENGINE) == speed_of_cluster(history, ENGINE) == UNKNOWN
    kept_there(history, [slower(run) for run in shipped_runs("pagerank", first=True)])
    one = speed_of_cluster(history, ENGINE)
    name = "label-propagation"
    assert 0.7 * TASKS < one.factors(name)["tasks"] < 1.2 * TASKS
    assert one.std(name) < UNKNOWN.std(name)
    # Opening a session and reading are the same whatever comes next.
    costs = reference_costs(name).scaled(one.factors(name))
    for machines in (1, 2):
        opened = [
            run.session_seconds
            for run in shipped_runs("pagerank", first=True)
            if run.cold and run.machines == machines
        ]
        own = np.mean(opened) * PHASES
        assert costs.phases(machines, 10_000)["opening"] == pytest.approx(own, rel=0.15)
    kept_there(history, [slower(run) for run in shipped_runs(name, first=True)])
    two = speed_of_cluster(history, ENGINE)
    assert [*two.observed] == ["pagerank", name]
    assert two.std("k-core") < one.std("k-core")
    # More memory makes it no other cluster; another master, or other cores, do.
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 8, memory="4g")) == two
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 2, cores=4)) == UNKNOWN
    assert speed_of_cluster(history, SparkEngine("spark://elsewhere:7077", 2)) == UNKNOWN


def test_a_slower_cluster_keeps_the_shape_of_the_reference():
    """Half of the runs there, on one machine, predict those on two."""
    runs = [slower(run) for run in shipped_runs("neighborhood", first=True)]
    known = [run for run in runs if run.machines == 1]
    speed = UNKNOWN.with_runs("neighborhood", known)
    costs = costs_on_cluster(reference_costs("neighborhood"), speed.factors("neighborhood"), known)
    for run in runs:
        if run.machines == 2 and not run.cold and run.summary.purpose == "cost":
            rows = typical_rows(run)
            predicted = costs.supersteps(rows, 2, warm=True).sum()
            assert predicted == pytest.approx(rows["seconds"].sum(), rel=0.35)


def test_one_real_run_scales_the_reference_runs(tmp_path):
    history = History(tmp_path / "history.sqlite")
    graph = "rmat:scale=13,edge_factor=16,seed=2"
    options = {"engine": ENGINE, "seed": 1}
    unknown = predict_graph.predict("pagerank", graph, **options, history="none")
    cold = next(
        run for run in shipped_runs("pagerank", first=True) if run.cold and run.machines == 2
    )
    run = slower(cold)
    engine = {**cluster_settings(ENGINE), "machines": 2, "workers": 2, "executors_lost": 0}
    object.__setattr__(run.profile, "engine", engine)
    opened = {"setup": run.profile.phases["setup"] + PHASES * run.session_seconds}
    object.__setattr__(run.profile, "phases", run.profile.phases | opened)
    history.add_all([record_of(run.profile)])
    found = predict_graph.predict("pagerank", graph, **options, history=history)
    assert found.evidence[0]["source"] == "real runs on the cluster"
    usual = UNKNOWN.factors("pagerank")["tasks"]  # of a cluster without runs
    assert UNKNOWN.factors("pagerank") == dict.fromkeys(FACTORS, usual)
    said = {name: unknown.phases[name] / usual for name in ("superstep", "setup")}
    longer = {name: found.phases[name] / said[name] for name in said}
    assert DRIVER * 0.8 < longer["superstep"] < TASKS
    assert longer["setup"] == pytest.approx(PHASES, rel=0.35)
    widths = [p.runtime_seconds.high / p.runtime_seconds.predicted for p in (unknown, found)]
    assert widths[1] < widths[0] / 2.0
