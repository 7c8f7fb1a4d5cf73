"""Time and peak memory of calls, predicted from those on samples."""

from functools import partial
from itertools import permutations

import networkx as nx
import numpy as np
import pytest

import predict_graph
from predict_graph.answers import readable_bytes
from predict_graph.functions import growth
from predict_graph.functions.child import ChildRun
from predict_graph.functions.growth import DRIVERS, Point, drivers_of, extrapolate
from predict_graph.functions.subject import WALKS, completed_sample, spread_order
from predict_graph.graph import check_graph
from predict_graph.iterations import draw_sample

RNG = np.random.default_rng(5)
memory_of = partial(growth.predict_memory, converted=False)
WHOLE = check_graph("powerlaw-cluster:n=6000,m=5,p=0.4,seed=3")


def points(driver, seconds, constant=0.0):
    """Runs of a made-up function that costs so much a unit of one driver."""
    found = []
    for size in (150, 400, 1000):
        samples = {"completed": completed_sample(WHOLE, size, RNG)}
        samples |= {each: draw_sample(WHOLE, each, size / 6000, RNG).graph for each in WALKS}
        for sampler, sample in samples.items():
            drivers = drivers_of(sample, RNG)
            found.append(Point(drivers, constant + seconds * drivers[driver], sampler, "g"))
    return found


COSTS = [
    ("edges", 1e-5, 0.0),
    ("vertices_squared", 1e-6, 0.0),
    ("reached_edges", 1e-7, 0.0),
    ("squares", 1e-6, 0.0),
    ("reached_edges", 1e-8, 0.02),
]


@pytest.mark.parametrize(("driver", "seconds", "constant"), COSTS)
def test_the_driver_that_a_cost_grows_with_is_found(driver, seconds, constant):
    target = drivers_of(WHOLE, RNG)
    found = extrapolate(points(driver, seconds, constant), target, "g")
    factor = 2.5 if constant else 1.6
    assert 1.0 / factor < found.cost / (seconds * target[driver]) < factor


def test_runs_on_other_graphs_make_it_surer():
    target = drivers_of(WHOLE, RNG)
    own = points("reached_edges", 1e-7)[:3]
    graphs = (check_graph(f"barabasi-albert:n={n},m=4,seed=1") for n in (3000, 5000, 9000))
    known = [drivers_of(graph, RNG) for graph in graphs]
    others = [Point(each, 1e-7 * each["reached_edges"], "", str(each)) for each in known]
    alone, together = extrapolate(own, target, "g"), extrapolate([*own, *others], target, "g")
    assert together.log_std < alone.log_std
    assert 0.6 < together.cost / (1e-7 * target["reached_edges"]) < 1.6


def test_every_beginning_of_the_order_is_like_the_whole():
    assert sorted(spread_order(WHOLE, RNG)) == list(range(WHOLE.vertices))
    work = np.log(growth.neighbour_work(WHOLE))
    spread = [work[spread_order(WHOLE, RNG)[:100]].mean() for _ in range(30)]
    random = [work[RNG.permutation(WHOLE.vertices)[:100]].mean() for _ in range(30)]
    assert np.std(spread) < 0.5 * np.std(random)


@pytest.mark.parametrize(("seconds", "surer"), [(1.0, True), (30.0, False)])
def test_a_run_that_outlasts_all_expectations_may_take_much_longer(seconds, surer):
    target = drivers_of(WHOLE, RNG)
    known = points("edges", 1.0 / target["edges"])  # about a second on the whole graph
    found = extrapolate(known, target, "g", stopped=[Point(target, seconds, "", "g")])
    assert seconds < found.cost < 5.0 * seconds
    assert (found.log_std < 1.0) == surer


def pairs_held(n):
    """Peak memory of ``dict(all_pairs_shortest_path_length(G))``: 40 bytes for each pair."""
    return 40.0 * n**2 + 1e5


def leap_of_the_allocator(n):
    return 4e5 + 2000.0 * n + 8e6 * (n == 240)


PEAKS = [(lambda n: 1e5 + n**2, 0.0), (leap_of_the_allocator, 0.0)]  # a byte for each pair
PEAKS += [(pairs_held, done) for done in (0.0, 0.05, 0.2, 0.6)]


@pytest.mark.parametrize(("peak", "done"), PEAKS)
def test_the_peak_is_predicted_from_samples_and_a_part_of_the_run(peak, done):
    def drivers(n):
        return drivers_of(check_graph(f"barabasi-albert:n={n},m=3,seed=1"), RNG)

    runs = [(drivers(n), ChildRun("done", peak_bytes=peak(n))) for n in (60, 240, 550, 1200, 2400)]
    prefix = ChildRun("stopped", peak_bytes=done * peak(6000)) if done else None
    left = 1.0 / done if done else float("inf")
    said = memory_of(runs, drivers(6000), None, prefix, rounds_left=left)
    assert said.low < peak(6000) < said.high
    assert 0.5 * peak(6000) < said.predicted < 2.0 * peak(6000)


def test_a_kind_of_graph_that_holds_little_bounds_no_other():
    points = [(dict.fromkeys(DRIVERS, n), 1e5 * n * part) for n in (1e2, 1e3) for part in (1, 9)]
    found = growth.grown_bytes(points, dict.fromkeys(DRIVERS, 1e4), kinds=["a", "b", "a", "b"])
    assert found.high > 2.0 * growth.grown_bytes(points, dict.fromkeys(DRIVERS, 1e4)).high


def test_results_that_are_quadratic_where_samples_are_not_connected():
    """As of the same on a grid: what the first part has taken refutes the samples."""
    grids = {n: drivers_of(check_graph(f"grid:rows={n},columns={n}"), RNG) for n in (8, 16, 30, 77)}
    runs = [(grids[n], ChildRun("done", peak_bytes=2e3 * n**2)) for n in (8, 16, 30)]
    prefix = ChildRun("stopped", peak_bytes=3e8)
    said = memory_of(runs, grids[77], None, prefix, rounds_left=5.0)
    assert 3e8 <= said.low < 15e8 < said.high


FIRST_PARTS = [
    # Of 1,000 iterations ten ran: the last five took no more than the first, or as much again.
    ({"peak_bytes": 6e7, "held": [(1.0, 5e7), (5.0, 6e7), (10.0, 6e7)]}, 100.0, 1e5, 6e7, 2e8),
    ({"peak_bytes": 6e7, "held": [(5.0, 3e7), (10.0, 6e7)]}, 100.0, 1e5, 1e9, 1.1e10),
    ({"peak_bytes": 1e9}, float("inf"), 1e3, 1e9, 1e10),  # no loop
]


@pytest.mark.parametrize(("part", "rounds_left", "drivers", "least", "most"), FIRST_PARTS)
def test_what_iterations_keep_is_seen_in_the_first_part(part, rounds_left, drivers, least, most):
    runs = [
        (dict.fromkeys(DRIVERS, n), ChildRun("done", peak_bytes=1e4 * n)) for n in (60.0, 240.0)
    ]
    stopped, target = ChildRun("stopped", **part), dict.fromkeys(DRIVERS, drivers)
    found = memory_of(runs, target, None, stopped, rounds_left=rounds_left)
    assert stopped.peak_bytes <= found.low <= found.predicted
    assert least <= found.high <= most


def pairs(graph: nx.Graph):
    yield from permutations(graph, 2)


def test_the_answer_has_the_upper_end_and_says_that_items_are_not_kept():
    graph = nx.barabasi_albert_graph(100, 3, seed=1)
    drawn = predict_graph.predict(pairs, graph, seed=1)
    assert f"up to {readable_bytes(drawn.verdict.memory.peak.high)}, and" in drawn.verdict.sentence
    assert "keeping none of its items" in drawn.verdict.sentence
    assert any("a list or dictionary of its items takes more" in text for text in drawn.warnings)
    kept = predict_graph.predict(lambda graph: list(pairs(graph)), graph, seed=1)
    assert "keeping none" not in kept.verdict.sentence
