"""Real runs on a cluster: alone, beside training runs, and against them."""

from dataclasses import replace

import pandas as pd
import pytest

import predict_graph
from predict_graph.algorithms import PageRank
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.prediction.run_records import record_of
from predict_graph.prediction.seconds.cluster.known_costs import known_costs
from predict_graph.prediction.seconds.cluster.learning import Learned
from predict_graph.prediction.seconds.cluster.training_runs import (
    new_training_run,
    real_runs,
    recall,
    training_records,
)
from predict_graph.table import Table
from tests.predict_graph.prediction.seconds.cluster.made_up_cluster import (
    cluster_run,
    sample_runs,
    superstep_seconds,
)

GRAPH = check_graph("barabasi-albert:n=3000,m=20,seed=1")
JOB = PageRank(epsilon=0.001)
SIZES = ((30_000, 600_000, 1), (60_000, 2_400_000, 2), (50_000, 500_000, 4), (90_000, 4e6, 3))


@pytest.fixture
def engine():
    return SparkEngine(master="spark://127.0.0.1:7077", workers=4)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "history.sqlite")


def ran(engine, vertices, edges, machines, *, slower=1.0, log=False, **graph):
    """A real run of the made-up cluster as the history keeps it; from its log alone, or by us."""
    made_up = cluster_run(vertices, int(edges), machines, cold=True)
    seconds = superstep_seconds(float(edges), machines) * slower
    table = made_up.profile.table.assign(seconds=lambda table: table["seconds"] * slower)
    table["task_seconds"] = table["task_seconds"] * slower
    if log:
        records = table["shuffle_read_records"]
        table = table.assign(local_messages=records, remote_messages=0.0, total_vertices=0)
    shape = {"vertices": vertices, "edges": int(edges), "fingerprint": f"{vertices} {edges}"}
    profile = replace(
        made_up.profile,
        parameters=JOB.to_dict(),
        engine=engine.on(machines).describe(),
        rows=Table(table),
        graph=made_up.profile.graph | shape | graph,
    )
    record = record_of(profile)
    if log:
        record = replace(
            record, parameters={}, converged=None, machine="Spark executors on 2 hosts"
        )
    return record, seconds


def predicted(engine, samples, real, messages, machines):
    """Return the seconds of a superstep, and what is known of costs."""
    share = messages / machines
    rows = pd.DataFrame(
        {
            "vertices": [share / 20],
            "messages": [share],
            "records": [share / 2],
            "remote_bytes": [10 * share * (1 - 1 / machines)],
        }
    )
    found = known_costs(Learned([samples], [real]), 0, JOB, engine, None)
    return float(found.costs.supersteps(rows, machines, warm=True)[0]), found


@pytest.mark.parametrize("log", [False, True], ids=["of run", "of event logs"])
def test_a_cluster_that_left_nothing_but_runs_is_predicted(history, engine, log):
    for vertices, edges, machines in SIZES:
        history.add(ran(engine, vertices, edges, machines, log=log)[0])
    assert recall(history, [JOB], engine, GRAPH) is None
    runs = real_runs(history, JOB, engine, GRAPH)
    assert len(runs) == len(SIZES)
    for messages, machines in ((1.2e6, 1), (3e6, 2), (6e6, 6)):
        # No sample run separates the driver from start-up: both are known less well.
        actual = superstep_seconds(messages, machines)
        seconds, _ = predicted(engine, [], runs, messages, machines)
        assert seconds == pytest.approx(actual, rel=0.25)
    found = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    assert found.to_dict()["evidence"][-1]["source"] or found.phases["superstep"] > 0
    assert any("real runs on other graphs only" in warning for warning in found.warnings)


def test_a_run_of_this_graph_makes_it_surer(history, engine):
    for vertices, edges, machines in SIZES:
        history.add(ran(engine, vertices, edges, machines)[0])
    before = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    own = ran(engine, GRAPH.vertices, GRAPH.edges, 2, fingerprint=GRAPH.fingerprint)[0]
    history.add(own)
    after = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    widths = [p.runtime_seconds.high / p.runtime_seconds.low for p in (before, after)]
    assert widths[1] < widths[0]
    assert not any("other graphs alone" in warning for warning in after.warnings)


def learned(history, engine, graph):
    training_run = new_training_run()
    for run in sample_runs():
        described = engine.on(run.machines).describe()
        profile = replace(run.profile, parameters=JOB.to_dict(), engine=described)
        history.add_all(
            training_records(replace(run, profile=profile), training_run, graph, seed=7)
        )


def test_newer_real_runs_correct_training_runs(history, engine):
    """The cluster became three times slower since."""
    learned(history, engine, GRAPH)
    training_run = recall(history, [JOB], engine, GRAPH)[0]
    usual, actual = superstep_seconds(3e6, 2), 3.0 * superstep_seconds(3e6, 2)
    off = []
    for number, (vertices, edges, machines) in enumerate(SIZES):
        history.add(ran(engine, vertices, edges, machines, slower=3.0)[0])
        real = real_runs(history, JOB, engine, GRAPH)
        seconds, found = predicted(engine, training_run, real, 3e6, 2)
        assert any(f"{number + 1} newest" in said for said in found.warnings) == (number > 0)
        off.append(seconds)
    assert usual < off[0] < off[-1]
    assert abs(off[-1] - actual) < 0.5 * abs(usual - actual)
    found = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    assert any("4 newest real runs" in warning for warning in found.warnings)


def test_runs_that_agree_with_training_runs_of_other_graphs_make_them_surer(history, engine):
    learned(history, engine, check_graph("path:n=9"))
    before = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    for vertices, machines in ((30_000, 1), (60_000, 2), (50_000, 4), (90_000, 3)):
        history.add(ran(engine, vertices, 20 * vertices, machines)[0])
    after = predict_graph.predict(JOB, GRAPH, engine=engine, history=history, seed=1)
    widths = [p.runtime_seconds.high / p.runtime_seconds.low for p in (before, after)]
    assert widths[1] < widths[0]
    assert not any("corrected" in warning for warning in after.warnings)


def test_of_another_cluster_or_algorithm_or_with_lost_executors_nothing_is_taken(history, engine):
    record, _ = ran(engine, *SIZES[0])
    here = SparkEngine(master="local", workers=2)
    others = [
        {"engine": record.engine | {"master": "yarn"}},
        {"algorithm": "neighborhood"},
        {"engine": record.engine | {"executors_lost": 1}},
        {"parameters": record.parameters | {"damping": 0.5}},
        {"engine": here.on(2).describe(), "machine": "another"},
    ]
    for number, other in enumerate(others):
        history.add(replace(record, uid=str(number), **other))
    for each in (engine, here):
        assert real_runs(history, JOB, each, GRAPH) == []
    assert real_runs(None, JOB, engine, GRAPH) == []
