"""Bytes that supersteps of GraphX read, made here as Spark makes them."""

import numpy as np
import pytest

from predict_graph.engines import FULL, FixedPurse
from predict_graph.engines.spark.library.algorithm import exchanges_of, rounds_of
from predict_graph.engines.spark.library.layout import layout_of
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function
from predict_graph.prediction.seconds.cluster import encoded_exchanges
from predict_graph.prediction.seconds.cluster.encoded_exchanges import exchanged_bytes

GRAPH = check_graph("rmat:scale=9,edge_factor=8,seed=1")
CASES = [
    ("pageRank", {"numIter": 4}),
    ("pageRank", {"tol": 0.01}),
    ("personalizedPageRank", {"numIter": 4}),
    ("personalizedPageRank", {"tol": 0.0001}),
    ("connectedComponents", {}),
    ("labelPropagation", {"maxSteps": 3}),
    ("shortestPaths", {"landmarks": "1,5,300"}),
]


def told(name, parameters, graph=GRAPH, purse=FULL, partitions=2):
    algorithm = check_function(f"graphx:{name}", parameters).on(graph)
    rounds = rounds_of(algorithm, graph, partitions)
    return exchanged_bytes(algorithm, graph, partitions, rounds, purse)


def test_a_stream_has_what_its_partitions_have_to_do_with_each_other():
    layout = layout_of(GRAPH, 3)
    own = slice(layout.starts[1], layout.starts[2])
    edges = list(zip(layout.sources[own].tolist(), layout.targets[own].tolist(), strict=True))
    stream = encoded_exchanges._Stream.of(GRAPH, 3, 1)
    found = zip(stream.edges.sources.tolist(), stream.edges.targets.tolist(), strict=True)
    assert list(found) == edges
    named = dict.fromkeys(v for edge in edges for v in edge)  # a dict keeps the order
    assert stream.named.tolist() == [v for v in named if v % 3 == 2]
    assert sorted(stream.routed.tolist()) == sorted(stream.named.tolist())
    leaving = {v for v, _ in edges if v % 3 == 2}
    assert set(stream.shipped(both_ends=False).tolist()) == leaving


def test_ids_are_hashed_as_guava_does_it():
    """Of 0 and 1: ``Hashing.murmur3_32().hashInt``, whose seed is 0."""
    found = encoded_exchanges._hashes(np.array([0, 1]))
    assert [hex(each) for each in found.tolist()] == ["0x2362f9de", "0xfbf1402a"]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_each_superstep_reads_something(name, parameters):
    assert (told(name, parameters) > 0).all()


def test_what_is_not_known_is_left_to_samples():
    assert told("stronglyConnectedComponents", {"numIter": 3}) is None
    assert told("triangleCount", {}) is None


def test_nothing_is_encoded_that_the_budget_does_not_afford():
    class Until(FixedPurse):
        def affords(self, seconds):
            asked.append(seconds)
            return len(asked) <= most

    asked, most = [], 0
    assert told("connectedComponents", {}, purse=Until(full=True)) is None
    assert len(asked) == 2  # of both partitions, and of one alone
    assert asked[1] == pytest.approx(asked[0] / 2)
    asked, most = [], 1
    few = told("connectedComponents", {}, purse=Until(full=True))
    assert len(asked) == 2  # the first two supersteps are paid for, and no other
    all_ = told("connectedComponents", {})
    assert np.array_equal(few[:2], all_[:2])
    assert not np.array_equal(few[2:], all_[2:])


def test_a_part_of_a_long_stream_tells_as_much_as_all(monkeypatch):
    graph = check_graph("rmat:scale=12,edge_factor=16,seed=3")
    whole = told("labelPropagation", {"maxSteps": 2}, graph)
    monkeypatch.setattr(encoded_exchanges, "_WRITTEN_BLOCKS", 5)
    part = told("labelPropagation", {"maxSteps": 2}, graph)
    assert not np.array_equal(part, whole)
    assert part == pytest.approx(whole, rel=0.05)


def test_states_are_kept_of_ever_fewer_supersteps():
    algorithm = check_function("graphx:connectedComponents")
    graph = check_graph("path:n=40")
    kept = exchanges_of(algorithm, graph, 2).kept
    assert list(kept) == [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32]


@pytest.mark.spark
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_bytes_are_those_that_spark_reads(local_spark, name, parameters):
    """The first superstep reads where vertices are twice if two of its tasks are at it at once."""
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=4", directed=True)
    algorithm = check_function(f"graphx:{name}", parameters).on(graph)
    ran = local_spark.run(algorithm, graph)
    sums = ran.table.groupby("iteration")[["local_message_bytes", "remote_message_bytes"]].sum()
    read = sums.sum(axis=1).to_numpy()
    found = told(name, parameters, graph, partitions=local_spark.settings.partitions)
    assert found[1:].sum() == pytest.approx(read[1:].sum(), rel=0.04)
    assert 0.8 * read[0] < found[0] < 1.02 * read[0]
