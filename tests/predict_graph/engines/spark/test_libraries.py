"""GraphX and GraphFrames by name: their replays, superstep by superstep, and predictions.

Where no jar of GraphFrames fits the installed pyspark, what needs one is skipped: see
``make spark35``.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import predict_graph
from predict_graph.builtin.graphframes.definition import GRAPHFRAMES
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.clock.applications import Watch
from predict_graph.clock.supersteps import Expected, ExpectedPart
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.engines.spark.log import growing
from predict_graph.engines.spark.log.eventlog import read_event_log
from predict_graph.engines.spark.log.importing import record_of_log
from predict_graph.engines.spark.recognition.supersteps import message_stages
from predict_graph.engines.spark.session import graphframes
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function
from tests.refusals import failed, refused

GRAPHS = {
    "directed": ("rmat:scale=7,edge_factor=4,seed=3", True),
    "undirected": ("barabasi-albert:n=90,m=3,seed=1", False),
    "path": ("path:n=20", True),
}
GRAPHX_CASES = [
    ("graphx:pageRank", {"tol": "0.01"}),
    ("graphx:pageRank", {"numIter": "3"}),
    ("graphx:connectedComponents", {}),
    ("graphx:connectedComponents", {"maxIterations": 1}),
    ("graphx:labelPropagation", {"maxSteps": 4}),
    ("graphx:shortestPaths", {"landmarks": "1,5"}),
    ("graphx:personalizedPageRank", {"srcId": 1, "tol": "0.001"}),
    ("graphx:personalizedPageRank", {"srcId": 1, "numIter": 3}),
    ("graphx:stronglyConnectedComponents", {"numIter": 3}),
    ("graphx:stronglyConnectedComponents", {"numIter": 1}),
]
CASES = [
    *GRAPHX_CASES,
    ("graphframes:connectedComponents", {}),
    ("graphframes:connectedComponents", {"checkpointInterval": 1}),
    ("graphframes:connectedComponents", {"algorithm": "graphx"}),
    ("graphframes:pageRank", {"tol": "0.01"}),
    ("graphframes:pageRank", {"maxIter": "3"}),
    ("graphframes:pageRank", {"tol": "0.01", "sourceId": 1}),
    ("graphframes:labelPropagation", {"maxIter": 4}),
    ("graphframes:shortestPaths", {"landmarks": "1,5"}),
    ("graphframes:stronglyConnectedComponents", {"maxIter": 3}),
]


def graph_of(name):
    return check_graph(GRAPHS[name][0], directed=GRAPHS[name][1])


# Without Spark.


def test_maps_of_a_star():
    """Both directions are stored, and every edge sends both ways: all labels come twice."""
    graph = check_graph("star:n=9")
    first = rounds_of(check_function("graphx:labelPropagation", {"maxSteps": 1}), graph, 1).iloc[0]
    assert first["messages"] == 2 * graph.edges == 32
    assert first["entries"] == 8 + 8


REFUSED = [
    ("graphx:nothing", {}, "unknown algorithm of GraphX 'nothing'; accepted: connectedComponents"),
    ("graphx:pageRank", {"tol": 0.1, "numIter": 3}, "tol and numIter are both given"),
    ("graphx:pageRank", {"tol": -1}, "tol is -1; accepted: a number greater than 0"),
    ("graphx:shortestPaths", {"landmarks": "1,,2"}, "landmarks is '1,,2'; accepted: comma-separ"),
    ("graphx:shortestPaths", {"landmark": "1"}, "did you mean landmarks"),
    ("graphx:personalizedPageRank", {"srcId": [1, 2]}, r"srcId is \[1, 2\]; accepted: the id"),
    ("graphx:shortestPaths", {"landmarks": 99}, "landmarks has 99, which is not a vertex of path"),
    ("graphframes:nothing", {}, "unknown algorithm of GraphFrames 'nothing'; accepted: connectedC"),
    ("graphframes:connectedComponents", {"algorithm": "x"}, "algorithm is 'x'; accepted: graphf"),
    ("graphframes:connectedComponents", {"checkpointInterval": 0}, "a whole number at least 1"),
]


@pytest.mark.parametrize(("name", "parameters", "said"), REFUSED)
def test_what_is_refused(name, parameters, said):
    refused(said, lambda: rounds_of(check_function(name, parameters), graph_of("path"), 1))


def test_vertices_are_named_by_the_ids_of_the_file(written):
    graph = check_graph(written("10 20\n20 30\n30 40\n40 7\n", "ids.txt"), directed=True)
    job = check_function("graphx:shortestPaths", {"landmarks": "40, 30"})
    assert [int(graph.labels[each]) for each in job.within(graph).at] == [40, 30]
    assert len(rounds_of(job, graph, 1)) == 4  # 10 is three hops away from 40; and none is left


def test_what_stands_for_named_vertices_in_a_sample():
    """Where most of what they send goes: along edges for ranks, against them for hops."""
    whole = graph_of("path")
    ends = ([0, 0, 1, 2, 4], [1, 2, 3, 3, 3])
    star = check_graph(csr_array((np.ones(5), ends), shape=(5, 5)), directed=True)
    hops = check_function("graphx:shortestPaths", {"landmarks": 6}).on(whole)
    ranks = check_function("graphx:personalizedPageRank", {"srcId": 6}).on(whole)
    assert (hops.within(star).at, ranks.within(star).at) == ((3,), (0,))
    assert (hops.within(whole).at, ranks.within(whole).at) == ((6,), (6,))
    # By default they are those of the graph, too.
    assert check_function("graphx:shortestPaths").within(star).at == (3,)
    assert check_function("graphx:personalizedPageRank").within(star).at == (0,)


def test_on_the_local_engine():
    for call in (predict_graph.predict, predict_graph.run):
        refused("graphx:pageRank runs on Spark alone", call, "graphx:pageRank", "path:n=4")


def test_records_of_stars():
    """As GraphFrames 0.8.2 sends them."""
    rounds = rounds_of(check_function("graphframes:connectedComponents"), graph_of("directed"), 3)
    assert rounds["records"].tolist() == [1817, 636, 588]
    assert rounds["received"].iloc[-1] == 0


SAME = [
    (("shortestPaths", {"landmarks": "50"}), ("shortestPaths", {"landmarks": "50"})),
    (("pageRank", {"sourceId": 50}), ("personalizedPageRank", {"srcId": 50})),
    (("connectedComponents", {"algorithm": "graphx"}), ("connectedComponents", {})),
]


@pytest.mark.parametrize(("mine", "its"), SAME)
def test_vertices_are_those_of_graphx(mine, its):
    """In the graph that is asked for and, by those that stand for them, in a smaller one."""
    frames, graphx = (
        check_function(f"{library}:{name}", parameters).resolved(graph_of("directed"))
        for library, (name, parameters) in (("graphframes", mine), ("graphx", its))
    )
    for graph in (graph_of("directed"), check_graph("rmat:scale=5,edge_factor=4,seed=3")):
        assert frames.within(graph).at == graphx.within(graph).at
        assert rounds_of(frames, graph, 2).equals(rounds_of(graphx, graph, 2))


def test_vertices_without_edges_are_taken_away():
    """GraphFrames gives GraphX all vertices: a cycle then has one more count of the degrees."""
    cycle = csr_array((np.ones(3), ([0, 1, 2], [1, 2, 0])), shape=(5, 5))
    graph = check_graph(cycle, directed=True)
    given = "stronglyConnectedComponents"
    mine = rounds_of(check_function(f"graphframes:{given}", {"maxIter": 2}), graph, 1)
    its = rounds_of(check_function(f"graphx:{given}", {"numIter": 2}), graph, 1)
    assert len(mine) == len(its) + 1


# On Spark.


NAMES = ["directed", *(pytest.param(n, marks=pytest.mark.long) for n in ("undirected", "path"))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("algorithm", "parameters"), CASES)
def test_the_replay_does_what_the_library_does(local_spark, written, algorithm, parameters, name):
    """Each superstep sends as many records, partition by partition combined."""
    if algorithm.startswith("graphframes") and not graphframes.graphframes_jars():
        pytest.skip("no GraphFrames jar that fits this pyspark is on this machine")
    graph = graph_of(name)
    job = check_function(algorithm, parameters)
    rounds = rounds_of(job, graph, 2)
    with local_spark.session() as session:
        start = session.event_log.stat().st_size
        profile = local_spark.run(job, graph)
        logged = session.event_log.read_bytes()[start:]
    assert sent_records(logged, job, profile, written) == rounds["records"].tolist()
    assert profile.iterations == len(rounds)
    assert profile.converged == (rounds["received"].iloc[-1] == 0)
    sent = profile.per_iteration()
    assert sent["active_vertices"].tolist() == rounds["active_vertices"].tolist()
    spread = (sent["local_messages"] + sent["remote_messages"]) - rounds["messages"]
    assert (spread.abs() <= 2).all()
    assert sum(profile.phases.values()) > 0
    json.dumps(profile.to_dict(), default=str)
    if algorithm.startswith("graphx"):
        assert_watched(algorithm, logged, profile.iterations, written)


def sent_records(logged, job, profile, written):
    """Return the records of each superstep: of combined messages, or of all its stages."""
    if getattr(job, "ran_by", job) is None:
        return profile.table.groupby("iteration")["shuffle_write_records"].sum().tolist()
    log = read_event_log(written(logged, "log"))
    made = message_stages(log).iloc[int("PageRank" in type(job).__name__) :]  # it counts degrees
    wrote = log.tasks.groupby("stage")["shuffle_write_records"].sum()
    return made.groupby("job")["stage"].apply(lambda stages: wrote[stages].sum()).tolist()


def assert_watched(name, logged, iterations, written):
    """Check who watches an application that is expected to run it, or that has our names."""
    ended = b'{"Event":"SparkListenerApplicationEnd","Timestamp":%d}\n' % (1e3 * time.time())
    nameless = logged.replace(b'"spark.jobGroup.id":', b'"no.name":')
    expected = Expected((ExpectedPart(name, float(iterations), 0.0),))
    for number, (log, known) in enumerate(((logged, None), (nameless, expected))):
        watched = Watch(growing.GrowingLog(written(log + ended, f"app-{number}")), known)
        watched.application.poll()
        assert watched._look().done == iterations
        assert record_of_log(watched.application.path, algorithm=name)[0].iterations == iterations


@pytest.fixture
def looks_often(monkeypatch):
    """Supersteps of tiny graphs are over in no time."""
    monkeypatch.setattr(growing, "_EVERY", 0.02)
    monkeypatch.setattr(growing, "_SHARE", 1.0)


FOLLOWED = [("connectedComponents", {}), ("stronglyConnectedComponents", {"numIter": 2})]


@pytest.mark.parametrize(("algorithm", "parameters"), FOLLOWED)
def test_who_follows_hears_of_supersteps_as_they_end(
    local_spark, looks_often, algorithm, parameters
):
    """One call of Java makes them all; each is told when it ended, as the log says afterwards."""
    heard = []
    options = {"engine": local_spark, "progress": heard.append, "parameters": parameters}
    profile = predict_graph.run(f"graphx:{algorithm}", graph_of("path"), **options)
    running = [each for each in heard if each.state == "running"]
    counts = [each.done for each in running]
    assert counts == sorted(counts)
    assert len({each for each in counts if 0 < each < profile.iterations}) >= 3
    assert all(each.of.predicted == profile.iterations for each in running)
    assert (heard[-1].state, heard[-1].done) == ("ended", profile.iterations)


def test_what_a_follower_raises_ends_the_run(local_spark, looks_often):
    def tell(moment):
        if moment.done == 1:
            raise ValueError("enough")

    job = ("graphx:stronglyConnectedComponents", graph_of("directed"))
    with local_spark.session() as session:
        with pytest.raises(ValueError, match="enough"):
            predict_graph.run(*job, engine=local_spark, progress=tell)
        assert not session.spark.sparkContext.statusTracker().getActiveJobsIds()
        assert session.spark.range(3).count() == 3  # and nothing ends what comes next


def test_every_name_is_documented():
    page = (Path(__file__).parents[4] / "docs" / "spark-jobs.md").read_text()
    for library, names in (("graphx", GRAPHX.names()), ("graphframes", GRAPHFRAMES.names())):
        assert [name for name in names if f"{library}:{name}" not in page] == []


def test_without_a_jar(spark_here, monkeypatch, tmp_path):
    """Said before any session is opened."""
    monkeypatch.setattr(graphframes, "graphframes_jars", list)
    said = "no jar of GraphFrames that fits pyspark .* is on this machine; name one with --graphf"
    job = check_function("graphframes:pageRank")
    failed(said, SparkEngine("spark://nowhere:7077").run, job, check_graph("path:n=4"))


def test_without_graphframes_in_the_session(local_spark, monkeypatch):
    if graphframes.graphframes_jars():
        pytest.skip("this session has GraphFrames")
    monkeypatch.setattr(graphframes, "graphframes_jars", lambda: [Path(sys.executable)])
    said = "the JVM half of GraphFrames is not in this session"
    for job in (check_function("graphframes:pageRank"), FunctionAlgorithm(lambda graph: graph)):
        failed(said, local_spark.run, job, check_graph("path:n=4"))
