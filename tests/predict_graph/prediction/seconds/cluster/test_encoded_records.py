"""Bytes of records, made here as Spark makes them."""

import numpy as np
import pytest

from predict_graph.algorithms import check_algorithm
from predict_graph.engines import FixedPurse
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.programs import program_of
from predict_graph.engines.spark.superstep import Carried
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster import encoded_records
from predict_graph.prediction.seconds.cluster.encoded_records import encoded, record_factors

GRAPH = check_graph("rmat:scale=9,edge_factor=8,seed=1")


@pytest.mark.parametrize("combine", ["add", "min", None])
@pytest.mark.parametrize("some", [False, True])
def test_a_stream_has_the_messages_of_its_partitions(combine, some):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 1000, GRAPH.vertices)
    sending = rng.random(GRAPH.vertices) < 0.5 if some else np.ones(1, np.bool_)
    sources = np.repeat(np.arange(GRAPH.vertices), GRAPH.out_degrees)
    here = (partition_of(sources, 3) == 0) & (partition_of(GRAPH.indices, 3) == 1)
    here &= sending[sources] if some else True
    messages = list(zip(GRAPH.indices[here].tolist(), values[sources[here]].tolist(), strict=True))
    expected = messages
    if combine is not None:
        inbox = {}
        for receiver, value in messages:  # a dict keeps the order in which receivers come
            inbox.setdefault(receiver, []).append(value)
        one = sum if combine == "add" else min
        expected = [(receiver, one(heard)) for receiver, heard in inbox.items()]
    how = {None: 0, "add": 1, "min": 2}[combine]
    whole = np.array([0]), np.array([GRAPH.vertices])
    found = encoded_records._stream(
        GRAPH.indptr, GRAPH.indices, values, sending, 3, 0, 1, how, 1, *whole
    )
    assert list(zip(*(each.tolist() for each in found), strict=True)) == expected


def test_the_same_numbers_are_shorter_than_different_ones():
    n = GRAPH.vertices
    sizes = [
        encoded(GRAPH, 2, Carried(values, "add")).bytes
        for values in (np.zeros(n), np.random.default_rng(1).random(n))
    ]
    assert sizes[0] < 0.7 * sizes[1]
    # A row is a length, bits for nulls, a receiver and a number; no block is longer than that.
    assert sizes[1] < 28.0 + 1.0


def test_nothing_is_encoded_that_the_budget_does_not_afford():
    algorithm, course = check_algorithm("pagerank"), np.linspace(10.0, 20.0, 8)

    class Until(FixedPurse):
        def affords(self, seconds):
            return seconds < most

    def factors():
        return record_factors(GRAPH, algorithm, 2, course, np.ones_like, Until(full=True))

    most = 0.0
    assert np.all(np.array(factors()) == 1.0)
    most = 1.01 * encoded_records._look_seconds(GRAPH, 2)  # the first messages and no superstep
    _, level = factors()
    assert np.ptp(level) == 0.0
    assert level[0] != 1.0
    most = 60.0
    records, lengths = factors()
    assert np.ptp(lengths) > 0.0
    assert records.max() < 0.9  # that messages are combined was left to be found


@pytest.mark.spark
@pytest.mark.parametrize("name", ["pagerank", "connected-components", "label-propagation"])
def test_records_are_as_long_as_those_that_spark_writes(local_spark, name):
    algorithm = check_algorithm(name)
    undirected = False if algorithm.undirected else None
    graph = check_graph("rmat:scale=13,edge_factor=12,seed=4", directed=undirected)
    ran = local_spark.run(algorithm, graph, threshold=0.0, max_iterations=3)
    columns = ["shuffle_write_records", "shuffle_write_bytes"]
    sums = ran.table.groupby("iteration")[columns].sum()
    written = (sums["shuffle_write_bytes"] / sums["shuffle_write_records"]).to_numpy()
    states = [
        LocalEngine().run(algorithm, graph, threshold=0.0, max_iterations=done).values
        for done in (2, 1)
    ]
    program, partitions = program_of(algorithm), local_spark.settings.partitions
    for superstep, known in ((1, ()), (3, states)):
        found = encoded(graph, partitions, program.carried(algorithm, graph, *known))
        assert found.bytes == pytest.approx(written[superstep - 1], rel=0.06)
        counted = sums["shuffle_write_records"].iloc[superstep - 1]
        assert found.records == pytest.approx(counted, rel=0.03)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["neighborhood", "topk-ranking"])
def test_rows_are_as_long_as_those_that_spark_writes(local_spark, name):
    graph = check_graph("rmat:scale=11,edge_factor=8,seed=4")
    algorithm = check_algorithm(name).on(graph)
    ran = local_spark.run(algorithm, graph, threshold=0.0, max_iterations=3)
    columns = ["shuffle_write_records", "shuffle_write_bytes"]
    sums = ran.table.groupby("iteration")[columns].sum()
    written = (sums["shuffle_write_bytes"] / sums["shuffle_write_records"]).to_numpy()
    partitions = local_spark.settings.partitions
    found = dict(encoded_records._encoded_rows(graph, algorithm, partitions, 3, lambda _: True))
    assert list(found) == [0, 2]
    for done, each in found.items():
        assert each.bytes == pytest.approx(written[done], rel=0.06)
        counted = sums["shuffle_write_records"].iloc[done]
        assert each.records == pytest.approx(counted, rel=0.03)


@pytest.mark.parametrize("name", ["pagerank", "connected-components", "label-propagation"])
def test_supersteps_are_run_once_and_the_state_before_is_that_before(monkeypatch, name):
    algorithm = check_algorithm(name)
    graph = check_graph("grid:rows=40,columns=40", directed=not algorithm.undirected)
    given, steps = [], []
    program, states = program_of(algorithm), LocalEngine.states
    carried = program.carried

    def counted(self, *arguments):
        for state in states(self, *arguments):
            steps.append(1)
            yield state

    monkeypatch.setattr(LocalEngine, "states", counted)
    monkeypatch.setattr(
        program,
        "carried",
        staticmethod(
            lambda *parts: (
                given.append([np.copy(each) for each in parts[2:] if each is not None])
                or carried(*parts)
            )
        ),
    )
    list(encoded_records._encoded_numbers(graph, algorithm, 2, 20, lambda seconds: True))
    assert len(steps) == 14  # not one run for each state
    assert [len(each) for each in given] == [0, 2, 2, 2]
    for states_given, done in zip(given[1:], (2, 6, 14), strict=True):
        for state, after in zip(states_given, (done, done - 1), strict=True):
            run = LocalEngine().run(algorithm, graph, threshold=0.0, max_iterations=after)
            assert np.array_equal(state, run.values)


def test_looking_at_streams_costs_their_part_of_the_edges():
    look = [encoded_records._look_seconds(GRAPH, count) for count in (1, 4, 16, 64)]
    assert look[0] >= 4e-8 * GRAPH.edges
    assert look[3] < 0.5 * look[1]


def test_what_few_messages_hold_tells_nothing_of_many():
    at, values = [0, 2, 6], np.array([1.0, 0.5, 8.0])
    ends = np.array([100.0, 100.0, 100.0, 99.0, 90.0, 10.0, 1.0])
    by_number = encoded_records.between(at, values, 7, None)
    assert by_number[[0, 2, 4, 6]] == pytest.approx([1.0, 0.5, 2.0, 8.0])
    found = encoded_records.between(at, values, 7, ends)
    assert found[[0, 2, 6]] == pytest.approx([1.0, 0.5, 8.0])
    assert found[4] < 0.6
    assert found[5] == pytest.approx(2.0)
    steady = encoded_records.between(at, values, 7, np.full(7, 100.0))
    assert steady == pytest.approx(by_number)
