"""Supersteps in event logs: of GraphX, of our own engine, and of made-up jobs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.log.logfiles import lines_of
from predict_graph.engines.spark.recognition import supersteps
from predict_graph.engines.spark.recognition.units import Unit, _located
from predict_graph.graph import check_graph


@given(
    st.lists(st.integers(10, 19), unique=True, max_size=4),
    st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True),
    st.integers(2, 9),
    st.lists(st.integers(20, 29), unique=True, max_size=4),
)
def test_a_loop_is_found_between_what_comes_before_and_after(before, block, times, after):
    symbols = [*before, *(block * times), *after]
    found = supersteps.longest_repetition(symbols, [1.0] * len(symbols))
    assert (found.start, found.period) == (len(before), len(block))
    assert found.stop == len(before) + len(block) * times
    assert len(supersteps.loop_starts(symbols, found)) == times


def test_the_heavier_of_two_loops():
    found = supersteps.longest_repetition("ababab" + "x" + "cccc", [1] * 7 + [9] * 4)
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


LOOPS = [
    # A checkpoint every other iteration is part of it.
    ("raacaacaacw", {}, [(1,), (2, 3), (4,), (5, 6), (7,), (8, 9)], "certain"),
    ("rabababaw", {}, [(1, 2), (3, 4), (5, 6), (7,)], "certain"),  # the last one stops half way
    ("raaaaw", {"shapes": "rxaaaw"}, [(1,), (2,), (3,), (4,)], "certain"),  # the first differs
    # Where the log names no line of the program, another shape is another thing.
    ("raaaaw", {"shapes": "rxaaaw", "located": False}, [(2,), (3,), (4,)], "likely"),
    ("raaw", {}, [(1,), (2,)], "doubtful"),
]


@pytest.mark.parametrize(("text", "kinds", "expected", "certainty"), LOOPS)
def test_iterations_of_a_loop(text, kinds, expected, certainty):
    found = supersteps._loop(units(text, **kinds), "jobs")
    assert [step.jobs for step in found.supersteps] == expected
    assert found.certainty == certainty


def test_a_second_look_at_the_same_result_is_no_iteration():
    joined = supersteps._joined(units("raaaa", wrote="01110", skipped=3))
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


GRAPH = check_graph("rmat:scale=7,edge_factor=4,seed=5")


class TestOnSpark:
    def test_a_loop_without_actions_is_found_in_the_stages(self, local_session):
        def chained(spark, vertices, edges):
            pairs = spark.sparkContext.parallelize([(n % 50, n % 7) for n in range(500)], 2)
            ranks = pairs.mapValues(float)
            for _ in range(5):
                ranks = ranks.map(lambda pair: (pair[0] * 3 % 50, pair[1])).reduceByKey(max, 2)
            ranks.collect()

        profile = FunctionAlgorithm(chained).run_in(local_session, GRAPH)
        assert profile.result["by"] == "stages"
        assert profile.iterations == 5

    def test_a_log_as_spark_compresses_it(self, local_session, tmp_path):
        path = tmp_path / "app-1.zstd"
        content = local_session.event_log.read_bytes()[:400_000]
        jvm = local_session.spark._jvm
        conf = local_session.spark.sparkContext._jsc.sc().conf()
        file = jvm.java.io.FileOutputStream(str(path))
        stream = jvm.org.apache.spark.io.ZStdCompressionCodec(conf).compressedOutputStream(file)
        stream.write(content)
        stream.close()
        assert len(path.read_bytes()) < len(content) / 2
        assert b"".join(lines_of(path)) == content
