from __future__ import annotations

import numpy as np
import pytest

from predict_graph.functions.child import ChildRun
from predict_graph.functions.drivers import drivers_of, neighbour_work
from predict_graph.functions.growth import Point, extrapolate
from predict_graph.functions.memory import predict_memory
from predict_graph.functions.sampling import draw, spread_order
from predict_graph.graph import check_graph

RNG = np.random.default_rng(5)
WHOLE = check_graph("powerlaw-cluster:n=6000,m=5,p=0.4,seed=3")


def points(driver: str, seconds: float, constant: float = 0.0) -> list[Point]:
    """Runs of a made-up function that costs so much a unit of one driver."""
    found = []
    for size in (150, 400, 1000):
        for sampler in ("completed", "mhrw", "rj"):
            drivers = drivers_of(draw(WHOLE, sampler, size, RNG), RNG)
            found.append(Point(drivers, constant + seconds * drivers[driver], sampler, "g"))
    return found


@pytest.mark.parametrize(
    ("driver", "seconds"),
    [("edges", 1e-5), ("vertices_squared", 1e-6), ("reached_edges", 1e-7), ("squares", 1e-6)],
)
def test_the_driver_that_a_cost_grows_with_is_found(driver: str, seconds: float) -> None:
    target = drivers_of(WHOLE, RNG)
    found = extrapolate(points(driver, seconds), target, "g")
    assert found is not None
    truth = seconds * target[driver]
    assert 0.6 < found.cost / truth < 1.6
    assert abs(np.log(found.cost / truth)) < 2.0 * found.log_std


def test_a_part_that_does_not_grow_is_told_from_what_grows() -> None:
    target = drivers_of(WHOLE, RNG)
    found = extrapolate(points("reached_edges", 1e-8, constant=0.02), target, "g")
    assert found is not None
    assert 0.4 < found.cost / (1e-8 * target["reached_edges"]) < 2.5


def test_runs_on_other_graphs_make_it_surer() -> None:
    target = drivers_of(WHOLE, RNG)
    own = points("reached_edges", 1e-7)[:3]
    others = []
    for n in (3000, 5000, 9000):
        drivers = drivers_of(check_graph(f"barabasi-albert:n={n},m=4,seed=1"), RNG)
        others.append(Point(drivers, 1e-7 * drivers["reached_edges"], "", str(n)))
    alone, together = extrapolate(own, target, "g"), extrapolate([*own, *others], target, "g")
    assert alone is not None
    assert together is not None
    assert together.log_std < alone.log_std
    assert 0.6 < together.cost / (1e-7 * target["reached_edges"]) < 1.6


def test_memory_grows_with_what_it_has_grown_with() -> None:
    target = drivers_of(WHOLE, RNG)
    runs = []
    for size in (500, 1000, 2000):
        drivers = drivers_of(draw(WHOLE, "completed", size, RNG), RNG)
        runs.append((drivers, ChildRun("done", peak_bytes=40.0 * drivers["vertices_squared"])))
    said = predict_memory(runs, target, None, None, converted=False)
    truth = 40.0 * target["vertices_squared"]
    assert 0.5 < said.predicted / truth < 2.0
    assert said.low < truth < said.high


def test_the_first_part_of_a_run_bounds_its_memory() -> None:
    runs = [(drivers_of(draw(WHOLE, "rj", 100, RNG), RNG), ChildRun("done", peak_bytes=3e6))]
    part = ChildRun("stopped", peak_bytes=5e7)
    said = predict_memory(
        runs, drivers_of(WHOLE, RNG), None, part, converted=False, rounds_left=4.0
    )
    assert 5e7 <= said.predicted <= 2e8
    assert said.low >= 5e7 or said.low == said.predicted
    assert said.high <= 2e8 + 2 * 2**20


def test_a_completed_sample_has_the_density_and_the_degrees_of_the_graph() -> None:
    for graph in (WHOLE, check_graph("rmat:scale=12,edge_factor=8,seed=1")):
        sample = draw(graph, "completed", graph.vertices // 4, RNG)
        assert sample.directed == graph.directed
        dense = sample.edges / sample.vertices / (graph.edges / graph.vertices)
        assert 0.7 < dense < 1.1


def test_every_beginning_of_the_order_is_like_the_whole() -> None:
    order = spread_order(WHOLE, RNG)
    assert sorted(order) == list(range(WHOLE.vertices))
    work = np.log(neighbour_work(WHOLE))
    spread = [work[spread_order(WHOLE, RNG)[:100]].mean() for _ in range(30)]
    random = [work[RNG.permutation(WHOLE.vertices)[:100]].mean() for _ in range(30)]
    assert np.std(spread) < 0.5 * np.std(random)


def test_a_leap_of_the_allocator_does_not_bend_what_memory_grows_with() -> None:
    target = drivers_of(WHOLE, RNG)
    runs = []
    for size in (250, 500, 500, 1000, 1000, 2000):
        drivers = drivers_of(draw(WHOLE, "completed", size, RNG), RNG)
        leap = 8e6 if len(runs) == 1 else 0.0
        peak = 4e5 + 2000.0 * drivers["vertices"] + leap
        runs.append((drivers, ChildRun("done", peak_bytes=peak)))
    said = predict_memory(runs, target, None, None, converted=False)
    truth = 4e5 + 2000.0 * target["vertices"]
    assert 0.6 < said.predicted / truth < 1.7
