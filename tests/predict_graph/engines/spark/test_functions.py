"""Jobs of a user, run in a session and profiled from outside: iterations, table, phases."""

import numpy as np
import pytest

from predict_graph.engines.profile import PHASES, TABLE_COLUMNS
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.log.features import EXECUTOR_COLUMNS
from predict_graph.graph import check_graph
from tests.refusals import failed, refused

JOB = """
from pyspark.sql import functions as F


def ranks(spark, vertices, edges, rounds=3, checkpoint=True, damping=0.85, limit=None):
    degrees = edges.groupBy("src").agg(F.count("*").alias("degree"))
    links = edges.join(degrees, "src").persist()
    state = vertices.select("id", F.lit(1.0).alias("rank"))
    for _ in range(rounds):
        sent = links.join(state, F.col("src") == F.col("id"))
        inbox = sent.groupBy("dst").agg(F.sum(F.col("rank") / F.col("degree")).alias("got"))
        state = vertices.join(inbox, F.col("id") == F.col("dst"), "left").select(
            "id", (1 - damping + damping * F.coalesce("got", F.lit(0.0))).alias("rank")
        )
        if checkpoint:
            state = state.localCheckpoint()
        state.agg(F.sum("rank")).collect()
    links.unpersist()
    return state


def once(spark, vertices, edges):
    edges.groupBy("src").count().collect()


def broken(spark, vertices, edges):
    return 1 / 0


def missing(spark, vertices, edges):
    return edges.select("nowhere")


def framed(graph):
    return graph.degrees


def two(edges, vertices):
    pass


def mapped(spark, vertices, edges):
    twice = F.udf(doubled, "long")
    for number in (1, 2, 3):
        spark.sparkContext.setJobGroup(f"mapped/superstep/{number}", "")
        vertices.select(F.sum(twice("id"))).collect()
    return vertices.select(twice("id"))


def doubled(number):
    return 2 * number
"""


@pytest.fixture
def job_file(written):
    return written(JOB, "my_jobs.py")


GRAPH = check_graph("rmat:scale=8,edge_factor=6,seed=3")


def test_options_are_read_as_their_defaults_are(job_file):
    given = {"rounds": "7", "checkpoint": "false", "damping": "0.5", "limit": "5"}
    job = FunctionAlgorithm(f"{job_file}:ranks", given)
    assert job.parameters == {"rounds": 7, "checkpoint": False, "damping": 0.5, "limit": 5}
    assert (job.name, job.graph_frame) == ("ranks", False)
    assert FunctionAlgorithm(f"{job_file}:framed").graph_frame


def test_wrong_requests(job_file):
    def make(function, **parameters):
        FunctionAlgorithm(f"{job_file}:{function}", parameters)

    own = FunctionAlgorithm
    refused("function 'jobs.txt:f'; accepted: FILE.py:FUNCTION", own, "jobs.txt:f", {})
    refused("the file .*nowhere.py cannot be loaded: No such file", own, "nowhere.py:f", {})
    refused("has no function 'rank'; accepted: ranks, once", make, "rank")
    refused("has no function 'F'", make, "F")
    refused(r"two\(edges, vertices\) does not take a graph", make, "two")
    refused("ranks has no option 'steps'; accepted: rounds, checkpoint", make, "ranks", steps="3")
    refused("rounds of ranks is 'x'; accepted: a whole number", make, "ranks", rounds="x")
    refused("is 'x'; accepted: true or false", make, "ranks", checkpoint="x")


class TestOnSpark:
    def test_every_iteration_is_found(self, local_session, job_file):
        profile = FunctionAlgorithm(f"{job_file}:ranks", {"rounds": 4}).run_in(local_session, GRAPH)
        assert profile.iterations == profile.to_dict()["iterations"] == 4
        assert profile.algorithm == "ranks"
        assert list(profile.table.columns) == [*TABLE_COLUMNS, *EXECUTOR_COLUMNS, "storage_bytes"]
        assert set(profile.phases) == set(PHASES)
        assert min(profile.phases.values()) >= 0 < profile.phases["read"]
        assert np.isnan(profile.convergence).all()
        assert profile.answer.sentence.endswith(": 4 iterations")
        sent = profile.table["shuffle_read_records"]
        assert (sent > 0).all()
        assert (profile.table["local_messages"] + profile.table["remote_messages"] == sent).all()

    def test_a_function_of_the_file_reaches_python_workers(self, local_session, job_file):
        profile = FunctionAlgorithm(f"{job_file}:mapped").run_in(local_session, GRAPH)
        assert (profile.iterations, profile.phases["write"] > 0.02) == (3, True)
        assert (profile.result["by"], profile.result["certainty"]) == ("names", "certain")

    def test_nothing_repeats(self, local_session, job_file):
        said = "once: no supersteps found"
        refused(said, FunctionAlgorithm(f"{job_file}:once").run_in, local_session, GRAPH)

    def test_the_job_fails(self, local_session, job_file):
        where = r"'broken' failed \(my_jobs.py, line 27\): ZeroDivisionError"
        failed(where, FunctionAlgorithm(f"{job_file}:broken").run_in, local_session, GRAPH)
        said = r"missing failed: .*nowhere"
        failed(said, FunctionAlgorithm(f"{job_file}:missing").run_in, local_session, GRAPH)
