import threading
import time

import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.algorithms import ConnectedComponents, PageRank, TopKRanking, TriangleCount
from predict_graph.engines import OUT_EDGES, critical_worker
from predict_graph.engines.local import LocalEngine, Superstep
from predict_graph.engines.local.engine import write_values
from predict_graph.engines.local.observed import PROBED_SUPERSTEPS
from predict_graph.engines.local.tally import Tally, worker_of
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from tests.refusals import refused

GRAPH = check_graph("erdos-renyi:n=300,p=0.017,directed=true,seed=1")


def test_an_interrupt_between_iterations_ends_the_run_and_its_threads():
    threads = threading.active_count()

    def stop(iteration, value):
        if iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=3).run(PageRank(), GRAPH, progress=stop)
    assert threading.active_count() == threads


def test_wrong_settings_and_requests_are_named():
    refused("workers is 0; accepted: 1 to 65536", LocalEngine, workers=0)
    refused("workers is 2.5", LocalEngine, workers=2.5)
    refused("threads is 0", LocalEngine, threads=0)
    refused("threads is 100000", LocalEngine, threads=100_000)
    run, job = LocalEngine().run, PageRank()
    own = {"prior": ConnectedComponents(), "on": lambda self, graph: self}
    after = type("After", (PageRank,), own)()
    nothing = Graph(np.array([0]), np.array([], dtype=np.int32), name="nothing")
    for start, options in ((run, {}), (predict_graph.predict, {"budget": 0})):
        refused("'nothing' has no vertices", start, job, nothing, **options)
        refused("nents ignores the direction", start, after, GRAPH, **options)
    refused("threshold is nan", run, job, GRAPH, threshold=float("nan"))
    refused("max_iterations is 0", run, job, GRAPH, max_iterations=0)


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


@pytest.mark.parametrize(("job", "ended"), [(PageRank(), 0), (TriangleCount(), 1)])
def test_a_superstep_that_a_limit_stops_is_timed_by_the_blocks_that_ended(monkeypatch, job, ended):
    graph = check_graph("rmat:scale=17,edge_factor=16", seed=1, directed=False)
    engine = LocalEngine(threads=1)
    _, whole = engine.survey(job, graph)
    clock = (float(n * n) for n in range(10**9))  # each look at the clock takes longer
    monkeypatch.setattr("predict_graph.engines.local.team.time.perf_counter", lambda: next(clock))
    _, part = engine.survey(job, graph, seconds=500.0 + 3_500.0 * ended)
    monkeypatch.undo()
    assert len(whole.seconds) > 1
    assert len(part.seconds) == ended + 1
    assert len(part.rows) == ended
    assert part.seconds[-1] > 500.0


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


# Output


READ = {".csv": pd.read_csv, ".tsv": pd.read_table, ".parquet": pd.read_parquet}


def path_graph(labels=None, directed=False):
    """0 - 1 - 2, and 3 alone."""
    return from_edges(
        np.array([0, 1]), np.array([1, 2]), vertices=4, directed=directed, labels=labels
    )


NUMBERS = np.array([70, 50, 90, 10])
WORDS = np.array(["ada", "bob", "cleo", "dan"])


# On a directed path ranks grow from its beginning to its end.
RUNS = [
    (ConnectedComponents(), False, [[0], [0], [0], [3]]),
    (TopKRanking(k=2, tau=1e-9), True, [[0, None], [1, 0], [2, 1], [3, None]]),
]


@pytest.mark.parametrize(("algorithm", "directed", "values"), RUNS)
@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("labels", [None, NUMBERS, WORDS], ids=["none", "numbers", "words"])
def test_values_that_are_vertices_are_written_as_original_ids(
    tmp_path, suffix, labels, algorithm, directed, values
):
    path = tmp_path / f"values{suffix}"
    LocalEngine().run(algorithm, path_graph(labels, directed=directed), write_to=path)
    ids = range(4) if labels is None else labels.tolist()
    table = READ[suffix](path)
    names = ["value"] if len(values[0]) == 1 else ["value_1", "value_2"]
    assert list(table.columns) == ["vertex", *names]
    named = [[None if each is None else ids[each] for each in row] for row in values]
    rows = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    assert rows == [[ids[v], *row] for v, row in enumerate(named)]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_several_numbers_a_vertex_have_a_column_each(tmp_path):
    path = tmp_path / "numbers.tsv"
    values = np.array([[1.5, -1.0], [2.5, 0.0], [3.5, 1.0], [4.5, 2.0]])
    write_values(path, path_graph(WORDS), values)
    table = pd.read_table(path)
    assert table["vertex"].tolist() == WORDS.tolist()
    assert table[["value_1", "value_2"]].to_numpy().tolist() == values.tolist()
