"""Costs on a cluster: those of the bundled reference runs, scaled to what its runs show."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import ALGORITHMS
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.builtin.libraries import library_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster import reference_runs
from predict_graph.prediction.seconds.cluster.costs import (
    ClusterSpeed,
    costs_of,
    reference_costs,
    speed_of_cluster,
)
from predict_graph.prediction.seconds.cluster.features import typical_rows
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_runs
from tests.predict_graph.prediction.seconds.cluster.made_up_cluster import (
    ENGINE,
    START,
    TASKS,
    keep,
    sample_runs,
    slower_runs,
    superstep_seconds,
)

UNKNOWN = ClusterSpeed()
GRAPH = check_graph("path:n=9")


def law_rows(messages, machines):
    share = messages / machines
    columns = {
        "vertices": share / 20,
        "messages": share,
        "records": share / 2,
        "remote_bytes": 10 * share * (1 - 1 / machines),
    }
    return pd.DataFrame({name: [value] * 8 for name, value in columns.items()})


def test_a_law_is_found_again():
    costs = costs_of(sample_runs())
    found = costs.supersteps(law_rows(4_000_000, 4), 4)
    assert found[-1] == pytest.approx(superstep_seconds(4_000_000, 4), rel=0.001)
    assert found[0] - found[-1] == pytest.approx(START.sum(), abs=1e-6)
    phases = costs.phases(4, 4_000_000)
    assert phases["opening"] == pytest.approx(10.0)
    assert phases["setup"] == pytest.approx(1.0 + 1.0 + 5.0)
    assert phases["read"] == pytest.approx(0.5 + 3.0 + 2.0)
    warm = costs.supersteps(law_rows(4_000_000, 4), 4, warm=True)
    assert warm == pytest.approx(found[-1:].repeat(8))


def test_a_slower_cluster_keeps_the_shape_of_the_reference():
    """Half of the runs there, on one machine, predict those on two."""
    runs = slower_runs("neighborhood")
    speed = UNKNOWN.with_runs("neighborhood", [run for run in runs if run.machines == 1])
    costs = reference_costs("neighborhood").scaled(speed.factors("neighborhood"))
    for run in runs:
        if run.machines == 2 and run.informative:
            rows = typical_rows(run)
            predicted = costs.supersteps(rows, 2, warm=True).sum()
            assert predicted == pytest.approx(rows["seconds"].sum(), rel=0.4)


def test_other_algorithms_on_the_same_cluster_show_it_too(history):
    assert speed_of_cluster(None, ENGINE) == speed_of_cluster(history, ENGINE) == UNKNOWN
    keep(history, slower_runs(), GRAPH)
    one, name = speed_of_cluster(history, ENGINE), "label-propagation"
    assert 0.7 * TASKS < one.factors(name)["tasks"] < 1.2 * TASKS
    # Opening a session and reading are the same whatever comes next.
    costs = reference_costs(name).scaled(one.factors(name))
    for machines in (1, 2):
        own = [
            run.session_seconds for run in slower_runs() if run.cold and run.machines == machines
        ]
        opening = costs.phases(machines, 10_000)["opening"]
        assert opening == pytest.approx(np.mean(own), rel=0.15)
    keep(history, slower_runs(name), GRAPH)
    two = speed_of_cluster(history, ENGINE)
    assert [*two.observed] == ["pagerank", name]
    # More memory makes it no other cluster; another master, or other cores, do.
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 8, memory="4g")) == two
    assert speed_of_cluster(history, SparkEngine("spark://nowhere:7077", 2, cores=4)) == UNKNOWN
    assert speed_of_cluster(history, SparkEngine("spark://elsewhere:7077", 2)) == UNKNOWN


@pytest.mark.parametrize(
    ("name", "given", "reference"),
    [
        ("graphframes:pageRank", {}, "graphx:pageRank"),
        ("graphframes:pageRank", {"sourceId": "1"}, "graphx:personalizedPageRank"),
        ("graphframes:connectedComponents", {"algorithm": "graphx"}, "graphx:connectedComponents"),
        ("graphframes:connectedComponents", {}, "graphframes:connectedComponents"),
    ],
)
def test_graphframes_uses_the_reference_runs_of_graphx(name, given, reference, history):
    """And its runs show the speed of the cluster."""
    algorithm = library_algorithm(name, given)
    assert reference_runs.shipped_name(algorithm) == reference
    keep(history, slower_runs(reference), GRAPH, job=algorithm)
    speed = speed_of_cluster(history, ENGINE)
    assert [*speed.observed] == [reference]
    assert 0.7 * TASKS < speed.factors("another")["tasks"] < 1.3 * TASKS


def test_each_algorithm_that_runs_on_spark_has_reference_runs():
    ours = {name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on}
    graphx = {f"graphx:{name}" for name in GRAPHX.names()}
    stars = "graphframes:connectedComponents"
    assert set(reference_runs.NAMES) == {*ours, *graphx, stars, reference_runs.PROGRAM}
    for name in reference_runs.NAMES:
        runs = shipped_runs(name)
        assert {run.cold for run in runs} == {True, False}, name
        assert {run.machines for run in runs} == {1, 2}, name
