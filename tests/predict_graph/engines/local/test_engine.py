import threading

import numpy as np
import pytest

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.probing import PROBED_SUPERSTEPS
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from tests.profiles import check_whole


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    return from_edges(rng.integers(0, 300, 1500), rng.integers(0, 300, 1500), vertices=300)


def test_the_table_has_a_row_per_iteration_and_worker(graph):
    profile = LocalEngine(workers=3).run(PageRank(), graph)
    table = profile.table
    check_whole(profile, graph.vertices, 3)
    first = table[table["iteration"] == 1]
    assert first["active_vertices"].sum() == graph.vertices
    assert first["local_messages"].sum() + first["remote_messages"].sum() == graph.edges
    assert (table["local_message_bytes"] == 16 * table["local_messages"]).all()
    assert (table["remote_message_bytes"] == 16 * table["remote_messages"]).all()
    assert (table["average_message_bytes"] == 16).all()
    assert (table["seconds"] > 0).all()
    assert (table["working_set_bytes"] == 8 * graph.vertices).all()
    assert profile.phases["superstep"] == pytest.approx(profile.iteration_seconds.sum())


def test_an_interrupt_between_iterations_ends_the_run_and_its_threads(graph):
    threads = threading.active_count()

    def stop(iteration, value):
        if iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=3).run(PageRank(), graph, progress=stop)
    assert threading.active_count() == threads


def test_a_result_that_cannot_be_written_is_refused_before_the_run(tmp_path, graph):
    heard = []
    for path, reason in [
        (tmp_path / "ranks.xls", "accepted"),
        (tmp_path / "missing" / "ranks.csv", "no folder"),
    ]:
        with pytest.raises(RequestError, match=reason):
            LocalEngine().run(
                PageRank(), graph, write_to=path, progress=lambda *step: heard.append(step)
            )
    assert heard == []


NOTHING = Graph(np.array([0]), np.array([], dtype=np.int32), name="nothing")


@pytest.mark.parametrize(
    ("settings", "given", "options", "text"),
    [
        ({"workers": 0}, None, {}, "workers is 0; accepted: 1 to 65536"),
        ({"workers": 2.5}, None, {}, "workers is 2.5"),
        ({"threads": 0}, None, {}, "threads is 0"),
        ({"threads": 100_000}, None, {}, "threads is 100000"),
        ({}, NOTHING, {}, "'nothing' has no vertices"),
        ({}, None, {"threshold": float("nan")}, "threshold is nan"),
        ({}, None, {"max_iterations": 0}, "max_iterations is 0"),
    ],
)
def test_wrong_settings_and_requests_are_named(graph, settings, given, options, text):
    with pytest.raises(RequestError, match=text):
        LocalEngine(**settings).run(PageRank(), given or graph, **options)


@pytest.mark.parametrize("edges", [0, 20_000])
def test_the_first_supersteps_have_the_rows_of_a_training_set(edges):
    rng = np.random.default_rng(0)
    graph = from_edges(rng.integers(0, 900, edges), rng.integers(0, 900, edges), vertices=900)
    _, found = LocalEngine(workers=4).survey(PageRank(), graph)
    assert found is not None
    assert 1 <= len(found.seconds) == len(found.rows) <= PROBED_SUPERSTEPS
    rows = found.rows
    messages = rows["local_messages"] + rows["remote_messages"]
    assert (messages == graph.edges).all()
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
