"""Supersteps in event logs: of GraphX, of our own engine, and of made-up jobs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.engines.spark.functions.running import run_spark_function, spark_function
from predict_graph.engines.spark.log.logfiles import log_lines
from predict_graph.engines.spark.recognition.observed import observed_table
from predict_graph.engines.spark.recognition.repetition import longest_repetition, loop_starts
from predict_graph.engines.spark.recognition.supersteps import _joined, _loop, recognise
from predict_graph.engines.spark.recognition.units import Unit, _located
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph


@given(
    st.lists(st.integers(10, 19), unique=True, max_size=4),
    st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True),
    st.integers(2, 9),
    st.lists(st.integers(20, 29), unique=True, max_size=4),
)
def test_a_loop_is_found_between_what_comes_before_and_after(before, block, times, after):
    symbols = [*before, *(block * times), *after]
    found = longest_repetition(symbols, [1.0] * len(symbols))
    assert found is not None
    assert (found.start, found.period) == (len(before), len(block))
    assert found.stop == len(before) + len(block) * times
    assert len(loop_starts(symbols, found)) == times


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_nothing_repeats_where_all_are_different(symbols):
    assert longest_repetition(symbols, [1.0] * len(symbols)) is None


def test_the_heavier_of_two_loops():
    found = longest_repetition("ababab" + "x" + "cccc", [1] * 7 + [9] * 4)
    assert (found.start, found.stop) == (7, 11)


def units(text, *, shapes="", wrote="", skipped=0, located=True):
    """One unit a letter, which says where it comes from, of a second each."""
    shapes, wrote = shapes or text, wrote or "1" * len(text)
    return [
        Unit(
            site=letter,
            located=located,
            shape=frozenset(shapes[at]),
            started=float(at),
            finished=at + 1.0,
            jobs=(at,),
            stages=(at,),
            skipped=skipped,
            wrote=int(wrote[at]),
        )
        for at, letter in enumerate(text)
    ]


def iterations(found):
    return [step.jobs for step in found.supersteps]


def test_a_checkpoint_every_other_iteration_is_part_of_it():
    found = _loop(units("raacaacaacw"), "jobs")
    assert iterations(found) == [(1,), (2, 3), (4,), (5, 6), (7,), (8, 9)]
    assert found.certainty == "certain"


def test_the_last_iteration_may_stop_half_way():
    assert iterations(_loop(units("rabababaw"), "jobs")) == [(1, 2), (3, 4), (5, 6), (7,)]


def test_the_first_iteration_may_look_different():
    found = _loop(units("raaaaw", shapes="rxaaaw"), "jobs")
    assert iterations(found) == [(1,), (2,), (3,), (4,)]
    # Where the log names no line of the program, another shape is another thing.
    found = _loop(units("raaaaw", shapes="rxaaaw", located=False), "jobs")
    assert iterations(found) == [(2,), (3,), (4,)]
    assert found.certainty == "likely"


def test_two_are_doubtful():
    assert _loop(units("raaw"), "jobs").certainty == "doubtful"


def test_a_second_look_at_the_same_result_is_no_iteration():
    joined = _joined(units("raaaa", wrote="01110", skipped=3))
    assert [unit.jobs for unit in joined] == [(0,), (1,), (2,), (3, 4)]


def test_the_line_of_a_library_is_found_in_the_calls():
    calls = """org.apache.spark.sql.classic.Dataset.isEmpty(Dataset.scala:559)
org.graphframes.lib.Pregel.run(Pregel.scala:312)
java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
py4j.Gateway.invoke(Gateway.java:282)"""
    nothing = "isEmpty at NativeMethodAccessorImpl.java:0"
    assert _located(nothing, nothing, calls) == "run at Pregel.scala:312"
    assert _located(nothing, nothing, calls.splitlines()[0]) == nothing
    assert _located("my own words", "count at a.py:3", calls) == "count at a.py:3"


# GraphX: what GraphFrames' built-in algorithms run. Its loops, in numpy, say how many supersteps.

RESET = 0.15


@pytest.fixture(scope="module")
def graph():
    return check_graph("rmat:scale=7,edge_factor=4,seed=5")


@pytest.fixture(scope="module")
def edges(graph):
    return np.repeat(np.arange(graph.vertices), graph.out_degrees), np.asarray(graph.indices)


@pytest.fixture(scope="module")
def edge_file(edges, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "edges.txt"
    np.savetxt(path, np.column_stack(edges), fmt="%d")
    return path


def graphx(path, call):
    """Return a job that runs an algorithm of GraphX on a file of edges."""

    def job(spark, vertices, edges):
        jvm = spark._jvm
        level = jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        loader = jvm.org.apache.spark.graphx.GraphLoader
        context = spark.sparkContext._jsc.sc()
        loaded = loader.edgeListFile(context, str(path), False, 2, level, level)
        kind = jvm.scala.reflect.ClassTag.Int()
        call(jvm.org.apache.spark.graphx.lib, loaded, kind).vertices().count()

    return spark_function(job, name="graphx")


@pytest.mark.spark
class TestOnSpark:
    def test_pagerank_of_so_many_iterations(self, local_session, graph, edge_file):
        job = graphx(edge_file, lambda lib, g, kind: lib.PageRank.run(g, 5, RESET, kind, kind))
        profile = run_spark_function(job, local_session, graph)
        assert profile.iterations == 5
        assert profile.result["certainty"] == "certain"
        assert "PageRank.scala" in profile.result["reason"]
        assert (profile.per_iteration()["local_messages"] > 0).all()

    def test_a_loop_without_actions_is_found_in_the_stages(self, local_session, graph):
        def chained(spark, vertices, edges):
            pairs = spark.sparkContext.parallelize([(n % 50, n % 7) for n in range(500)], 2)
            ranks = pairs.mapValues(float)
            for _ in range(5):
                ranks = ranks.map(lambda pair: (pair[0] * 3 % 50, pair[1])).reduceByKey(max, 2)
            ranks.collect()

        profile = run_spark_function(spark_function(chained), local_session, graph)
        assert profile.result["by"] == "stages"
        assert profile.iterations == 5

    def test_job_groups_name_the_supersteps(self, local_session, graph):
        logged = local_session.log_from_now()
        for number in range(1, 4):
            local_session.group(f"mine-0123abcd/superstep/{number}")
            rows = local_session.spark.range(100).selectExpr("id % 5 as k").groupBy("k")
            rows.count().collect()
            rows.max().collect()
        local_session.flush()
        log = logged.read()
        found = recognise(log)
        assert (found.iterations, found.by, found.certainty) == (3, "names", "certain")
        assert found.name == "mine-0123abcd"
        table = observed_table(log, found, vertices=100)
        assert len(table) == 3
        read = log.tasks.loc[log.tasks["group"].notna(), "shuffle_read_records"].sum()
        assert table["shuffle_read_records"].sum() == read > 0
        with pytest.raises(RequestError, match="no run 'other'; accepted: mine-0123abcd"):
            recognise(log, run="other")

    @pytest.mark.parametrize("codec", ["lz4", "snappy", "zstd"])
    def test_logs_as_spark_compresses_them(self, local_session, tmp_path, codec):
        path = tmp_path / f"app-1.{codec}"
        content = local_session.event_log.read_bytes()[:400_000]
        jvm = local_session.spark._jvm
        conf = local_session.spark.sparkContext._jsc.sc().conf()
        codecs = getattr(jvm.org.apache.spark.io, "CompressionCodec$").__getattr__("MODULE$")
        file = jvm.java.io.FileOutputStream(str(path))
        stream = codecs.createCodec(conf, codec).compressedOutputStream(file)
        stream.write(content)
        stream.close()
        assert len(path.read_bytes()) < len(content) / 2
        assert b"".join(line.rstrip(b"\n") for line in log_lines(path)) == content.replace(
            b"\n", b""
        )
