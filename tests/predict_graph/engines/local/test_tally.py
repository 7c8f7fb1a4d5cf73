import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.engines import COUNTERS, OUT_EDGES, TABLE_COLUMNS, critical_worker
from predict_graph.engines.local import Superstep
from predict_graph.engines.local.partition import worker_of
from predict_graph.engines.local.tally import Tally
from predict_graph.graph.build import from_edges


def expected(graph, workers, senders, sizes):
    """Counters of each worker, edge by edge."""
    worker = [int(worker_of(v, workers)) for v in range(graph.vertices)]
    counts = {name: [0] * workers for name in COUNTERS}
    for v in range(graph.vertices):
        if not senders[v]:
            continue
        counts["active_vertices"][worker[v]] += 1
        for w in graph.neighbors(v).tolist():
            where = "local" if worker[w] == worker[v] else "remote"
            counts[f"{where}_messages"][worker[v]] += 1
            counts[f"{where}_message_bytes"][worker[v]] += sizes[v]
    return counts


@given(data=st.data(), n=st.integers(1, 30), workers=st.integers(1, 7))
def test_counters_are_those_of_a_count_edge_by_edge(data, n, workers):
    vertex = st.integers(0, n - 1)
    edges = np.array(
        data.draw(st.lists(st.tuples(vertex, vertex), max_size=90)), dtype=np.int64
    ).reshape(-1, 2)
    graph = from_edges(edges[:, 0], edges[:, 1], vertices=n)
    tally = Tally(graph, workers)
    steps = []
    for _ in range(data.draw(st.integers(1, 4))):
        senders = data.draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
        sizes = data.draw(st.integers(0, 99) | st.lists(st.integers(0, 99), min_size=n, max_size=n))
        tally.add(
            Superstep(
                0.5,
                sizes if isinstance(sizes, int) else np.array(sizes, np.int32),
                None if senders is None else np.array(senders),
            )
        )
        each = [sizes] * n if isinstance(sizes, int) else sizes
        steps.append(expected(graph, workers, senders or [True] * n, each))
    table = tally.table(np.full(len(steps), 0.5), np.ones(len(steps)), 7)
    assert tuple(table.columns) == (*TABLE_COLUMNS, OUT_EDGES)
    assert table["iteration"].tolist() == np.repeat(range(1, len(steps) + 1), workers).tolist()
    assert table["worker"].tolist() == list(range(workers)) * len(steps)
    held = np.bincount(worker_of(np.arange(n), workers), minlength=workers).tolist()
    assert table["total_vertices"].tolist() == held * len(steps)
    everyone = expected(graph, workers, [True] * n, [0] * n)
    edges = np.add(everyone["local_messages"], everyone["remote_messages"]).tolist()
    assert table[OUT_EDGES].tolist() == edges * len(steps)
    for name in COUNTERS:
        assert table[name].tolist() == [count for step in steps for count in step[name]], name
    messages = table["local_messages"] + table["remote_messages"]
    total = table["local_message_bytes"] + table["remote_message_bytes"]
    assert table["average_message_bytes"] * messages == pytest.approx(total)


def test_bytes_beyond_32_bits_are_counted():
    graph = from_edges(np.zeros(3, int), np.array([1, 2, 3]))
    tally = Tally(graph, 1)
    tally.add(Superstep(0.0, np.full(4, 2**31 - 1, np.int32)))
    assert tally.table(np.zeros(1), np.ones(1), 0)["local_message_bytes"].sum() == 3 * (2**31 - 1)


def test_the_critical_worker_holds_most_out_edges_whoever_sends_most():
    """PREDIcT, section 3.4: also when its vertices have fallen silent."""
    graph = from_edges(np.array([0, 0, 0, 1, 1]), np.array([1, 2, 3, 2, 3]))
    workers = 64
    first, second = (int(worker_of(v, workers)) for v in (0, 1))
    assert first != second
    tally = Tally(graph, workers)
    for senders in ([1, 1, 0, 0], *([[0, 1, 0, 0]] * 3)):
        tally.add(Superstep(0.5, 16, np.array(senders, np.uint8)))
    table = tally.table(np.full(4, 0.5), np.ones(4), 7)
    assert critical_worker(table) == first
    assert critical_worker(table.without(OUT_EDGES)) == second
    assert critical_worker(table.assign(out_edges=np.nan)) == second
