"""The session that the user has open: used, measured, and left as it was."""

import signal
import tempfile
from pathlib import Path

import pytest

import predict_graph
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.running import profile_spark_function
from predict_graph.engines.spark.session import opening
from predict_graph.graph import check_graph
from predict_graph.prediction.learn import learn
from tests.refusals import failed, refused

pytestmark = pytest.mark.long


def everything(spark):
    """Return all of a session that a run might change, and not put back."""
    context, java = spark.sparkContext, spark.sparkContext._jsc.sc()
    names = ("spark.jobGroup.id", "spark.job.description", "callSite.short", "callSite.long")
    names += ("spark.checkpoint.checkpointAllMarkedAncestors", "spark.scheduler.pool")
    logs = context._jvm.org.apache.logging.log4j.LogManager
    return {
        "conf": sorted(context.getConf().getAll()),
        "sql": spark._jsparkSession.sessionState().conf().getAllConfs().toString(),
        "local": {name: context.getLocalProperty(name) for name in names},
        "checkpoints": java.getCheckpointDir().toString(),
        "log": logs.getRootLogger().getLevel().toString(),
        "kept": sorted(context._jsc.getPersistentRDDs().keys()),
        "listeners": java.listenerBus().listeners().size(),
        "active": id(type(spark)._activeSession),
        "tables": [table.name for table in spark.catalog.listTables()],
        "ctrl-c": signal.getsignal(signal.SIGINT),
        "folders": sorted(Path(tempfile.gettempdir()).glob("predict-graph-*")),
    }


@pytest.fixture
def left_alone(spark, tmp_path, monkeypatch):
    """Check that a test leaves the session as it found it, names and a cached table included."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other processes make folders too
    context = spark.sparkContext
    own = spark.range(100).cache()
    own.count()
    context.setJobGroup("cell 7", "what the user does")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    before = everything(spark)
    yield
    assert everything(spark) == before
    assert not context._jsc.sc().isStopped()
    assert own.count() == 100
    own.unpersist()


GRAPH = "rmat:scale=9,edge_factor=6,seed=3"


def test_a_run(spark, left_alone):
    graph = check_graph("rmat:scale=6,edge_factor=3,seed=3", directed=False)
    profile = predict_graph.run("connected-components", graph, engine="spark", spark=spark)
    here = LocalEngine(workers=2).run(check_algorithm("connected-components"), graph)
    assert profile.iterations == here.iterations
    sent = profile.per_iteration()
    assert sent["active_vertices"].tolist() == here.per_iteration()["active_vertices"].tolist()
    assert profile.result == here.result
    table = profile.table
    assert (table["shuffle_write_records"] > 0).all()
    assert (table["local_message_bytes"] > 0).any()
    assert (table["task_seconds"] > 0).all()
    assert profile.engine["machines"] == 2
    assert profile.engine["session"] == "open"
    assert profile.engine["executors_lost"] == 0


def test_a_run_that_fails(spark, left_alone, tmp_path):
    def failing(iteration, aggregate):
        raise ZeroDivisionError

    algorithm, graph = check_algorithm("connected-components"), check_graph(GRAPH, directed=False)
    with pytest.raises(ZeroDivisionError):
        SparkEngine(spark=spark).run(algorithm, graph, progress=failing)


def test_learn_then_validate(spark, left_alone, history, monkeypatch):
    monkeypatch.setattr("predict_graph.prediction.learn._GRAPHS", ((7, 8), (8, 8)))
    job, options = "connected-components", {"spark": spark, "history": history}
    assert list(learn("spark", algorithms=[job], budget="1s", **options).training_runs) == [job]
    comparison = predict_graph.validate(job, GRAPH, engine="spark", seed=1, **options)
    prediction = comparison.prediction
    assert prediction.iterations.predicted == comparison.actual.iterations
    assert "training runs of the cluster" in str(prediction.evidence)
    engine = SparkEngine(spark=spark)
    assert engine.is_warm(job)
    assert not engine.is_warm("semi-clustering")


def test_what_a_first_run_took_is_not_what_the_next_one_takes(spark, left_alone, history):
    """Java has compiled by then; a run that began so tells the next one."""
    options = {"engine": "spark", "spark": spark, "history": history}
    first = predict_graph.run("personalised-pagerank", GRAPH, **options)
    assert "warm" not in first.engine
    found = predict_graph.predict("personalised-pagerank", GRAPH, **options, seed=1)
    assert "earlier runs of this graph" not in str(found.evidence)
    assert found.iterations.predicted == first.iterations
    assert found.runtime_seconds.predicted < first.runtime_seconds
    second = predict_graph.run("personalised-pagerank", GRAPH, **options)
    assert second.engine["warm"]
    found = predict_graph.predict("personalised-pagerank", GRAPH, **options, seed=1)
    assert found.evidence[0].source == "earlier runs of this graph"
    assert found.runtime_seconds.predicted == pytest.approx(second.runtime_seconds, rel=0.01)


def test_graphx(spark, left_alone, history):
    """What it keeps in memory is given back, and what it does was known before."""
    options = {"engine": "spark", "spark": spark, "history": history, "budget": "none", "seed": 1}
    job, graph = "graphx:labelPropagation", check_graph(GRAPH, directed=True)
    comparison = predict_graph.validate(job, graph, parameters={"maxSteps": 2}, **options)
    assert comparison.prediction.method["name"] == "replay"
    assert comparison.prediction.iterations.predicted == comparison.actual.iterations == 3


def test_a_function_on_tables_of_the_session(spark, left_alone):
    from pyspark.sql import functions as F

    vertices = spark.range(200)
    edges = vertices.selectExpr("id AS src", "id * 7 % 200 AS dst")

    def rounds(spark, vertices, edges):
        assert spark.conf.get("spark.sql.shuffle.partitions") == "7"  # theirs, not ours
        state = vertices.select("id", F.lit(1.0).alias("rank"))
        for _ in range(4):
            sent = edges.join(state, F.col("src") == F.col("id")).groupBy("dst")
            state = sent.agg(F.sum("rank").alias("rank")).select(F.col("dst").alias("id"), "rank")
            state.agg(F.sum("rank")).collect()

    graph = {"name": "g", "vertices": 200, "edges": 200, "directed": True, "fingerprint": "f"}
    profile = profile_spark_function(rounds, spark, edges, vertices, graph=graph)
    assert profile.iterations == 4
    assert (profile.table["shuffle_read_records"] > 0).all()


# What cannot be used.


def test_what_is_no_session():
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    refused("spark is a str; accepted", SparkEngine, spark="local[2]")
    refused("spark is a session of Spark Connect", SparkEngine, spark=connect())


def test_what_is_refused_in_a_session(spark):
    predict, run, validate = predict_graph.predict, predict_graph.run, predict_graph.validate
    here, there = ({"engine": engine, "spark": spark} for engine in ("local", "spark"))
    said = "not read by the engine 'local'; accepted: engine='spark'"
    refused(said, predict, "pagerank", GRAPH, **here)
    said = "workers cannot be set for an open session"
    refused(said, predict, "pagerank", GRAPH, workers=2, **there)
    edges = spark.range(3).selectExpr("id AS source", "id + 1 AS target")
    said = "a table of Spark can be predicted, not run"
    refused(said, run, "pagerank", edges, **there)
    refused(said, run, "pagerank", edges, spark_reads=True, **there)
    refused(said, validate, "pagerank", edges, **there)


def test_no_executors(spark, monkeypatch):
    monkeypatch.setattr(opening, "awaited_executors", lambda *_: [])
    failed(r"the session on .* has no executors; run a job", SparkEngine, spark=spark)


def test_a_stopped_session(spark, monkeypatch):
    """A context that was stopped has no Java half any more."""
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)
    refused("the session spark was stopped", SparkEngine, spark=spark)
