"""Unmodified GraphFrames jobs on a session with GraphFrames' JVM half: profiled and predicted.

Where no jar fits the installed pyspark they are skipped; `make spark35` sets up an environment that
has one.
"""

import pytest

from predict_graph import predict
from predict_graph.engines.spark import SparkEngine, SparkSettings
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.engines.spark.session import graphframes
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function

JOBS = """
def ranks(graph, tol=0.01):
    return graph.pageRank(resetProbability=0.15, tol=tol)


def rounds(graph, rounds=7):
    return graph.pageRank(resetProbability=0.15, maxIter=rounds)


def labels(graph, rounds=4):
    return graph.labelPropagation(maxIter=rounds)

"""


@pytest.fixture
def jobs(written):
    return written(JOBS, "frames.py")


@pytest.fixture(scope="module")
def framed_session(spark_here, quick_conf):
    """A session with GraphFrames in it, as it opens wherever a jar is found."""
    from predict_graph.engines.spark.session.opening import open_session

    if not graphframes.graphframes_jars():
        pytest.skip("no GraphFrames jar that fits this pyspark is on this machine")
    settings = SparkSettings(master="local[2]", machines=2, memory="1g", conf=quick_conf)
    with open_session(settings) as session:
        yield session


GRAPH = check_graph("rmat:scale=10,edge_factor=8,seed=1")


JOB_CASES = [
    *(("ranks", {"tol": tolerance}) for tolerance in (0.1, 0.01, 0.001)),
    *(("rounds", {"rounds": 7}), ("rounds", {"rounds": 3}), ("labels", {"rounds": 4})),
]


@pytest.mark.parametrize(("job", "given"), JOB_CASES)
def test_iterations_of_a_job(framed_session, jobs, job, given):
    profile = FunctionAlgorithm(f"{jobs}:{job}", given).run_in(framed_session, GRAPH)
    if job == "ranks":  # the last round finds nothing to send
        given = {"rounds": len(rounds_of(check_function("graphx:pageRank", given), GRAPH, 2)) - 1}
    assert profile.iterations == given["rounds"]
    assert profile.result["certainty"] == "certain"
    assert (profile.per_iteration()["local_messages"] > 0).all()


def test_pagerank_is_predicted(framed_session, jobs, quick_conf):
    engine = SparkEngine(master="local[2]", workers=2, conf=quick_conf)
    engine.opened = framed_session
    whole = check_graph("rmat:scale=13,edge_factor=8,seed=2")
    job = FunctionAlgorithm(f"{jobs}:rounds", {"rounds": "6"})
    real = engine.run(job, whole)
    found = predict(job, whole, engine=engine, history=None, seed=1)
    assert found.iterations.predicted == 6 == real.iterations
    messages = real.features_total()["local_messages"]
    assert found.features_total()["local_messages"] == pytest.approx(messages, rel=0.1)
    assert found.phases["write"] > 0.0


JARS = [
    "graphframes-0.8.2-spark3.1-s_2.12.jar",
    "graphframes-graphx-spark4_2.13-0.12.1.jar",
    "graphframes-spark3_2.13-0.12.2.jar",
    "graphframes-spark4_2.13-0.12.3-sources.jar",
    "io.graphframes_graphframes-spark4_2.13-0.12.1.jar",
    "io.graphframes_graphframes-spark4_2.13-0.9.3.jar",
]


FITTING = [(("4", "2.13"), [JARS[1], JARS[4]]), (("3", "2.12"), [JARS[0]])]


@pytest.mark.parametrize(("lines", "taken"), FITTING)
def test_the_newest_jars_that_fit_are_found(monkeypatch, tmp_path, lines, taken):
    for name in JARS:
        (tmp_path / name).touch()
    monkeypatch.setattr(graphframes, "_CACHES", (str(tmp_path),))
    monkeypatch.setattr(graphframes, "_spark_lines", lambda: lines)
    found = graphframes.graphframes_jars()
    assert sorted(jar.name for jar in found if jar.parent == tmp_path) == taken
