"""Peak memory of calls whose results grow with the square of the vertices."""

from itertools import permutations

import networkx as nx
import numpy as np
import pytest

from predict_graph.answers import readable_bytes
from predict_graph.functions.child import ChildRun
from predict_graph.functions.drivers import DRIVERS, drivers_of
from predict_graph.functions.memory import predict_memory
from predict_graph.graph import check_graph
from tests.steps import predict_call

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("done", [0.0, 0.05, 0.2, 0.6])
def test_results_that_are_quadratic_in_vertices(done):
    """As of ``dict(all_pairs_shortest_path_length(G))``: 40 bytes for each pair."""
    check_prediction(lambda n: 40.0 * n**2 + 1e5, done)


def test_a_leap_of_the_allocator_bends_nothing():
    check_prediction(lambda n: 4e5 + 2000.0 * n + 8e6 * (n == 240), 0.0)


def check_prediction(peak, done):
    """Predict the peak on a graph from those on samples and on a part of the run."""

    def drivers(n):
        graph = check_graph(f"barabasi-albert:n={n},m=3,seed=1")
        return drivers_of(graph, np.random.default_rng(0))

    runs = [(drivers(n), ChildRun("done", peak_bytes=peak(n))) for n in (60, 240, 550, 1200)]
    prefix = ChildRun("stopped", peak_bytes=done * peak(6000)) if done else None
    left = 1.0 / done if done else float("inf")
    said = predict_memory(runs, drivers(6000), None, prefix, converted=False, rounds_left=left)
    assert said.low < peak(6000) < said.high
    assert 0.5 * peak(6000) < said.predicted < 2.0 * peak(6000)


def test_results_that_are_quadratic_where_samples_are_not_connected():
    """As of the same on a grid: what the first part has taken refutes the samples."""
    grids = {n: drivers_of(check_graph(f"grid:rows={n},columns={n}"), RNG) for n in (8, 16, 30, 77)}
    runs = [(grids[n], ChildRun("done", peak_bytes=2e3 * n**2)) for n in (8, 16, 30)]
    prefix = ChildRun("stopped", peak_bytes=3e8)
    said = predict_memory(runs, grids[77], None, prefix, converted=False, rounds_left=5.0)
    assert said.low >= 3e8
    assert said.high > 15e8


@pytest.mark.parametrize(
    ("held", "least", "most"),
    [([(1.0, 5e7), (5.0, 6e7), (10.0, 6e7)], 6e7, 9e7), ([(5.0, 3e7), (10.0, 6e7)], 1e9, 1e10)],
)
def test_what_iterations_keep_is_seen_in_the_first_part(held, least, most):
    """Of 1,000 iterations ten ran: the last five took no more than the first, or as much again."""
    runs = [({**dict.fromkeys(DRIVERS, float(n)), "vertices": float(n)}, ran(n)) for n in (60, 240)]
    part = ChildRun("stopped", peak_bytes=6e7, held=held)
    target = dict.fromkeys(DRIVERS, 1e5)
    found = predict_memory(runs, target, None, part, converted=False, rounds_left=100.0)
    assert least <= found.high <= most + 1e8


def pairs(graph: nx.Graph):
    yield from permutations(graph, 2)


def test_the_answer_has_the_upper_end_and_says_that_items_are_not_kept():
    graph = nx.barabasi_albert_graph(100, 3, seed=1)
    drawn = predict_call(pairs, graph, history="none", seed=1)
    assert f"up to {readable_bytes(drawn.verdict.memory.peak.high)} of" in drawn.verdict.sentence
    assert "keeping none of its items" in drawn.verdict.sentence
    assert any("a list or dictionary of its items takes more" in text for text in drawn.warnings)
    kept = predict_call(lambda graph: list(pairs(graph)), graph, history="none", seed=1)
    assert "keeping none" not in kept.verdict.sentence


def test_a_first_part_that_shows_no_loop_leaves_the_memory_finite():
    runs = [({**dict.fromkeys(DRIVERS, float(n)), "vertices": float(n)}, ran(n)) for n in (60, 240)]
    target = dict.fromkeys(DRIVERS, 1000.0)
    stopped = ChildRun("stopped", peak_bytes=1e9)
    found = predict_memory(runs, target, None, stopped, converted=False)
    assert found.low == found.predicted == 1e9 <= found.high < 1e10


def ran(vertices):
    return ChildRun("done", peak_bytes=1e4 * vertices)
