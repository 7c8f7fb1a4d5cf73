import threading
import time

import numpy as np
import pytest

from predict_graph.algorithms import PageRank
from predict_graph.engines import OUT_EDGES, critical_worker
from predict_graph.engines.local import LocalEngine, Superstep
from predict_graph.engines.local.observed import PROBED_SUPERSTEPS
from predict_graph.engines.local.tally import Tally, worker_of
from predict_graph.engines.local.team import Team
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    return from_edges(rng.integers(0, 300, 1500), rng.integers(0, 300, 1500), vertices=300)


def test_an_interrupt_between_iterations_ends_the_run_and_its_threads(graph):
    threads = threading.active_count()

    def stop(iteration, value):
        if iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=3).run(PageRank(), graph, progress=stop)
    assert threading.active_count() == threads


NOTHING = Graph(np.array([0]), np.array([], dtype=np.int32), name="nothing")


WRONG = [
    ({"workers": 0}, None, {}, "workers is 0; accepted: 1 to 65536"),
    ({"workers": 2.5}, None, {}, "workers is 2.5"),
    ({"threads": 0}, None, {}, "threads is 0"),
    ({"threads": 100_000}, None, {}, "threads is 100000"),
    ({}, NOTHING, {}, "'nothing' has no vertices"),
    ({}, None, {"threshold": float("nan")}, "threshold is nan"),
    ({}, None, {"max_iterations": 0}, "max_iterations is 0"),
]


@pytest.mark.parametrize(("settings", "given", "options", "text"), WRONG)
def test_wrong_settings_and_requests_are_named(graph, settings, given, options, text):
    with pytest.raises(RequestError, match=text):
        LocalEngine(**settings).run(PageRank(), given or graph, **options)


@pytest.mark.parametrize("edges", [0, 20_000])
def test_the_first_supersteps_have_the_rows_of_a_training_set(edges):
    rng = np.random.default_rng(0)
    graph = from_edges(rng.integers(0, 900, edges), rng.integers(0, 900, edges), vertices=900)
    _, found = LocalEngine(workers=4).survey(PageRank(), graph)
    assert 1 <= len(found.seconds) == len(found.rows) <= PROBED_SUPERSTEPS
    rows = found.rows
    assert (rows["local_messages"] + rows["remote_messages"] == graph.edges).all()
    assert (rows["remote_message_bytes"] == 16 * rows["remote_messages"]).all()
    assert (rows["seconds"] > 0).all()


def test_a_superstep_that_a_limit_stops_is_timed_by_the_blocks_that_ended(monkeypatch):
    graph = check_graph("rmat:scale=17,edge_factor=16", seed=1)
    engine = LocalEngine(threads=1)
    _, whole = engine.survey(PageRank(), graph)
    clock = iter(range(10**9))  # each look at the clock takes a second
    monkeypatch.setattr("predict_graph.engines.local.team.time.perf_counter", lambda: next(clock))
    _, part = engine.survey(PageRank(), graph, seconds=20.0)
    monkeypatch.undo()
    assert len(whole.seconds) > 1
    assert len(part.seconds) == 1
    assert len(part.rows) == 0
    assert part.seconds[0] > 0


# Counters; those of whole runs are in tests/predict_graph/builtin/test_supersteps.py.


def test_bytes_beyond_32_bits_and_of_other_sizes_are_counted():
    tally = Tally(from_edges(np.zeros(3, int), np.array([1, 2, 3])), 1)
    for size in (np.full(4, 2**31 - 1, np.int32), 1, 2):
        tally.add(Superstep(0.0, size))
    counted = tally.table(np.zeros(3), np.ones(3))["local_message_bytes"]
    assert counted.tolist() == [3 * (2**31 - 1), 3, 6]


def test_the_critical_worker_holds_most_out_edges_whoever_sends_most():
    """PREDIcT, section 3.4: also when its vertices have fallen silent."""
    graph = from_edges(np.array([0, 0, 0, 1, 1]), np.array([1, 2, 3, 2, 3]))
    workers = 64
    first, second = (int(worker_of(v, workers)) for v in (0, 1))
    assert first != second
    tally = Tally(graph, workers)
    for senders in ([1, 1, 0, 0], *([[0, 1, 0, 0]] * 3)):
        tally.add(Superstep(0.5, 16, np.array(senders, np.uint8)))
    table = tally.table(np.full(4, 0.5), np.ones(4))
    assert critical_worker(table) == first
    assert critical_worker(table.without(OUT_EDGES)) == second
    assert critical_worker(table.assign(out_edges=np.nan)) == second


# Threads


def test_a_thread_that_is_held_up_gets_less_to_do():
    slow, counts, half = threading.get_ident(), {}, threading.Event()

    def work(first, last):
        counts[threading.get_ident()] = counts.get(threading.get_ident(), 0) + last - first
        if threading.get_ident() == slow:
            half.wait(60)
        elif counts[threading.get_ident()] > 80:
            half.set()

    with Team(2) as team:
        team.share(work, 160)
    assert sum(counts.values()) == 160
    assert half.is_set()


def test_an_error_of_any_thread_is_raised():
    def work(first, last):
        time.sleep(0.01)
        if first >= 90:
            raise ZeroDivisionError

    with Team(3) as team, pytest.raises(ZeroDivisionError):
        team.share(work, 96)
