"""What is predicted of a cluster: work and memory of the real run, from sample runs or without."""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.algorithms import PageRank, check_algorithm
from predict_graph.budget import Budget, Spending
from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine, SparkSettings
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.errors import JobError
from predict_graph.graph import check_graph
from predict_graph.prediction.following import expected_before
from predict_graph.prediction.request import check_function, check_request
from predict_graph.prediction.seconds.cluster.runtime_model import (
    ClusterRuntimeModel,
    memory_of,
    observed_estimate,
)
from predict_graph.prediction.seconds.cluster.work import combined_share, work_by_machines
from predict_graph.sizing import plan
from predict_graph.sizing.planning.predicted import read_job_model
from predict_graph.table import Table
from tests.predict_graph.prediction.seconds.cluster import made_up_cluster as made_up
from tests.vertex_programs import Labels

ENGINE = SparkEngine("spark://127.0.0.1:9", 4, memory="1g")
MESSAGES = ["local_messages", "remote_messages"]
RUN = made_up.cluster_run(10_000, 100_000, 2)


def test_partitions_are_those_of_spark():
    # select pmod(hash(bigint(x)), 6) of Spark 4.1
    ids = np.array([0, 1, 2, 3, 5, 10**6, 2**40 + 7])
    assert partition_of(ids, 6).tolist() == [1, 5, 2, 3, 2, 2, 2]
    assert partition_of(ids, 4).tolist() == [1, 1, 0, 3, 0, 2, 0]


def test_combining_is_what_a_count_says():
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    pairs = graph.indices.astype(np.int64) * 5 + partition_of(rows, 5)
    whole = combined_share(graph.in_degree_counts, 1.0, 5)[0]
    assert whole * graph.edges == pytest.approx(len(np.unique(pairs)), rel=0.02)
    some = np.random.default_rng(1).random(graph.edges) < 0.3
    share = combined_share(graph.in_degree_counts, [0.3], 5)[0]
    assert share == pytest.approx(len(np.unique(pairs[some])) / some.sum(), rel=0.03)


@pytest.mark.parametrize("name", ["pagerank", "triangle-count"])
def test_bytes_are_those_of_a_record_or_message_of_the_sample(name):
    """A message of the made-up run has 10 bytes, and a record two messages."""
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1", directed=False)
    counters = Table({each: np.full(3, 5e4) for each in ("active_vertices", *MESSAGES)})
    rows = work_by_machines(graph, ENGINE, Workload(check_algorithm(name), 3, counters), [RUN])(4)
    volume = rows["local_message_bytes"] + rows["remote_message_bytes"]
    share = combined_share(graph.out_degree_counts, 1.0, ENGINE.settings.partitions)[0]
    size = 10.0 if name == "triangle-count" else 20.0 * share
    assert volume.to_numpy() == pytest.approx(size * rows[MESSAGES].sum(axis=1))


def library_run(algorithm, graph, a_unit):
    """A sample run that reads so many bytes for each record and each map entry."""
    rounds = rounds_of(algorithm, graph, 2)
    half = a_unit * (rounds["records"] + rounds["entries"]).to_numpy() / 2
    run = made_up.cluster_run(graph.vertices, graph.edges, 1, iterations=len(rounds))
    columns = {f"twin_{name}": rounds[name].to_numpy() for name in ("records", "entries")}
    columns |= {"local_message_bytes": half, "remote_message_bytes": half}
    return made_up.changed(run, columns)


REPLAYED = [("labelPropagation", {"maxSteps": 4}), ("connectedComponents", {})]


@pytest.mark.parametrize(("name", "parameters"), REPLAYED)
def test_records_of_a_library_are_those_of_its_replay(name, parameters):
    algorithm = check_algorithm(f"graphx:{name}", parameters)
    run = library_run(algorithm, check_graph("rmat:scale=8,edge_factor=6,seed=2"), 12.0)
    whole = check_graph("rmat:scale=11,edge_factor=6,seed=5")
    rounds = rounds_of(algorithm, whole, ENGINE.settings.partitions)
    workload = Workload(algorithm, len(rounds), Table({}))
    rows = work_by_machines(whole, ENGINE, workload, [run])(ENGINE.workers)
    moved = rows["local_message_bytes"] + rows["remote_message_bytes"]
    assert moved.tolist() == pytest.approx((12 * (rounds["records"] + rounds["entries"])).tolist())
    sent = rows["local_messages"] + rows["remote_messages"]
    assert sent.tolist() == pytest.approx(rounds["messages"].tolist())


@pytest.mark.parametrize("combined", [None, 5e4])
def test_a_function_that_sends_along_every_edge(written, combined):
    file = written("def job(spark, vertices, edges):\n    return vertices\n", "jobs.py")
    graph, sample = (check_graph(f"rmat:scale={scale},edge_factor=8,seed=1") for scale in (14, 11))
    run = made_up.cluster_run(sample.vertices, sample.edges, 2)
    columns = {"shuffle_read_records": np.full(12, sample.edges / 2)}  # of each of two workers
    kept = {**run.record.sample, "combined_records": combined}
    run = made_up.changed(run, columns, sample=kept)
    workload = Workload(check_function(f"{file}:job"), 8, Table({}))
    rows = work_by_machines(graph, ENGINE, workload, [run])(4)
    records = combined_share(graph.in_degree_counts, 1.0, 4)[0] * sample.edges
    growth = records / 5e4 if combined else 1.0
    assert rows["messages"].to_numpy() == pytest.approx(growth * graph.edges / 4)
    moved = rows["remote_message_bytes"] + rows["local_message_bytes"]
    assert (rows["remote_message_bytes"] / moved).to_numpy() == pytest.approx(0.75)


def test_samples_that_agree_are_taken_at_their_word():
    graph = SimpleNamespace(vertices=60_000)
    runs = [made_up.cluster_run(4_000, 40_000, 2), made_up.cluster_run(8_000, 80_000, 2)]
    estimate = observed_estimate(runs, graph)
    assert (estimate.iterations, estimate.low, estimate.high) == (6, 6, 7)
    longer = made_up.cluster_run(16_000, 160_000, 2, iterations=9)
    differing = observed_estimate([*runs, longer], graph)
    assert differing.iterations > 9
    assert differing.low < differing.iterations
    assert any("6 to 9" in text for text in differing.warnings)


# The memory of executors

LARGE = check_graph("rmat:scale=16,edge_factor=16,seed=1")
SHARE = np.array([1.0, 1.0, 1.0, 0.8, 0.0])  # the last iteration exchanges next to nothing
MOVED = pd.DataFrame({"local_message_bytes": 4e6 * SHARE, "remote_message_bytes": 6e6 * SHARE})


def memory(runs, size, usual=(), master="yarn"):
    return memory_of(runs, LARGE, MOVED, SparkSettings(master, machines=2, memory=size), usual)


def test_too_little_memory_is_said():
    small = memory(made_up.sample_runs(), "340m")
    assert small["execution_bytes"] + small["storage_bytes"] > small["available_bytes"]
    assert small["shuffle_bytes"] == pytest.approx(3.8 * 10e6 / 2)
    local = memory(made_up.sample_runs(), "340m", master="local[*]")
    assert local["storage_bytes"] == pytest.approx(2 * small["storage_bytes"], abs=2)


@pytest.mark.parametrize("each", [0, 40])
def test_a_page_of_a_hash_table_does_not_grow_with_the_graph(each):
    def peak(run):
        return page + each * (run.record.vertices + run.edges) / run.machines

    page, share = 64 << 20, (LARGE.vertices + LARGE.edges) / 2
    runs = [made_up.changed(run, {"peak_memory_bytes": peak(run)}) for run in made_up.sample_runs()]
    assert memory(runs, "1g")["execution_bytes"] == pytest.approx(page + each * share)
    # Runs of one size do not tell a page from what grows: others of the algorithm do.
    assert memory(runs[:2], "1g", runs)["execution_bytes"] == pytest.approx(page + each * share)


# Sample runs, and an answer at once without any


GRAPH = "rmat:scale=12,edge_factor=8,seed=3"


RATIOS = [
    (2_000_000, {}, [0.2, 0.2, 0.05]),
    (100_000_000, {}, [0.01, 0.01, 0.0025]),
    (400_000, {}, [0.5, 0.5, 0.125]),
    (100_000, {"train_ratios": [0.1, 0.3, 0.2]}, [0.3, 0.3, 0.1]),
]


@pytest.mark.parametrize(("edges", "options", "ratios"), RATIOS)
def test_the_largest_sample_has_enough_edges_to_measure_and_not_many_more(edges, options, ratios):
    request = check_request(PageRank(), engine=ENGINE, budget="none", **options)
    graph = SimpleNamespace(edges=edges, vertices=edges // 10, fingerprint="x")
    assert ClusterRuntimeModel(graph, request, None, Spending(Budget(), 0.0)).ratios == ratios


def test_a_budget_that_affords_sample_runs_needs_the_cluster():
    with pytest.raises(JobError, match=r"no Spark master|already open"):
        predict_graph.predict("pagerank", GRAPH, engine=ENGINE, seed=1, budget="1h")


def test_one_session_where_the_budget_affords_it(local_spark, tmp_path, monkeypatch):
    monkeypatch.setattr(ClusterRuntimeModel, "_expected", lambda *given: (0.0, 0.0))
    options = {"engine": local_spark, "history": str(tmp_path / "history.sqlite"), "seed": 1}
    found = predict_graph.predict("pagerank", GRAPH, **options, budget=600)
    ran = [sample.note for sample in found.samples if sample.purpose == "cost"]
    assert {note.split()[0] for note in ran} == {"2"}
    assert (len(ran), sum("cold" in note for note in ran)) == (3, 1)
    assert found.evidence[0].source == "sample runs on the cluster"
    # What was run is kept, and serves the next prediction, which runs nothing.
    monkeypatch.setattr(ClusterRuntimeModel, "_run_samples", None)
    again = predict_graph.predict("pagerank", GRAPH, **options)
    assert again.evidence[0].source == "training runs of the cluster"


def test_a_sample_without_edges_is_made_larger():
    request, star = check_request(PageRank(), engine=ENGINE, seed=1), check_graph("star:n=3000")
    model = ClusterRuntimeModel(star, request, None, Spending(Budget(), 0.0))
    assert 0 < model._sample(0.01).edges < 3000


def test_a_prediction_can_be_planned_with(written):
    rows = [
        {"machines": m, "predicted": 100 / m + 10 * m, "low": 80 / m, "high": 130 / m + 13 * m}
        for m in (1, 2, 4, 8)
    ]
    found = {"by_machines": rows, "cost_model": {"machines": [1, 2]}, "warnings": ["a doubt"]}
    job = read_job_model(written(json.dumps(found)), None, None)
    assert job.seconds(1.0, [2.0, 4.0]) == pytest.approx([70.0, 65.0])
    made = plan([job], [1, 2, 3, 4], deadline=100.0, confidence=0.95)
    assert made.chosen.high == pytest.approx(91.0)
    assert made.chosen.low < 70.0
    assert made.choice.configuration.machines == 2
    assert any("a doubt" in text for text in made.warnings)


@cache
def predict_unseen(name):
    return predict_graph.predict(name, GRAPH, engine=ENGINE, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pagerank", "topk-ranking"])
def test_an_answer_without_a_run_on_the_cluster(name, monkeypatch):
    found = predict_unseen(name)
    assert found.evidence[0].source == "runs on another cluster"
    assert any("those of runs on another cluster" in said for said in found.warnings)
    assert "of sample runs on the cluster would narrow the interval" in found.more
    assert not [each for each in found.samples if each.purpose == "cost"]
    assert ", 8: " in dict(found.answer.facts)["by machines"]  # as near to 4 as 2 is
    # All of it may be off together.
    assert found.runtime_seconds.high > 3.5 * found.runtime_seconds.predicted
    assert found.iterations.predicted == predict_graph.run(name, GRAPH).iterations
    monkeypatch.setattr(ENGINE, "opened", "a session")
    assert predict_unseen.__wrapped__(name).phases["setup"] < 0.5 * found.phases["setup"]


CLOCKS = [("pagerank", 0.5), ("graphx:connectedComponents", 0.01)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "apart"), CLOCKS)
def test_the_clock_of_a_run_starts_from_what_runs_on_another_cluster_took(name, apart):
    """Supersteps of a library are counted by its replay; others are estimated."""
    graph = check_graph(GRAPH)
    expected = expected_before(check_function(name).on(graph), ENGINE, graph, None)
    found = predict_unseen(name)
    assert expected.source == "runs on another cluster"
    each = expected.parts[0].seconds.mean()
    assert each == pytest.approx(found.phases["superstep"] / found.iterations.predicted, rel=apart)
    assert (expected.parts[0].iterations_std == 0.0) is (name != "pagerank")
    assert expected.before == pytest.approx(found.phases["setup"] + found.phases["read"], rel=0.05)
    assert expected.total.high > 3.0 * expected.total.predicted


@pytest.mark.slow
def test_an_unknown_vertex_program_uses_the_reference_runs_of_vertex_programs():
    found = predict_graph.predict(Labels(), GRAPH, engine=ENGINE, seed=1)
    assert any("uses supersteps of a vertex program" in said for said in found.warnings)
    stds = [each.evidence[0].log_std for each in (found, predict_unseen("pagerank"))]
    assert stds[0] > stds[1] + 0.05


@pytest.mark.slow
def test_keeping_states_costs_something_where_nothing_ran_yet(tmp_path):
    """The more often, the more; and nothing where no state is kept."""
    written = []
    for interval in (None, 4, 1):
        kept = {"checkpoint": tmp_path, "checkpoint_interval": interval} if interval else {}
        engine = SparkEngine("spark://nowhere:7077", 2, **kept)
        found = predict_graph.predict("pagerank", GRAPH, engine=engine, seed=1)
        written.append(found.phases["write"])
    none, some, every = written
    times = found.iterations.predicted
    assert none == 0.0 < some < every
    assert every / some == pytest.approx(times / -(-times // 4))
