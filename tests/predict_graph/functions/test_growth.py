import numpy as np
import pytest

from predict_graph.functions.growth import Point, drivers_of, extrapolate, neighbour_work
from predict_graph.functions.subject import WALKS, completed_sample, spread_order
from predict_graph.graph import check_graph
from predict_graph.iterations import draw_sample

RNG = np.random.default_rng(5)
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
    others = []
    for n in (3000, 5000, 9000):
        drivers = drivers_of(check_graph(f"barabasi-albert:n={n},m=4,seed=1"), RNG)
        others.append(Point(drivers, 1e-7 * drivers["reached_edges"], "", str(n)))
    alone, together = extrapolate(own, target, "g"), extrapolate([*own, *others], target, "g")
    assert together.log_std < alone.log_std
    assert 0.6 < together.cost / (1e-7 * target["reached_edges"]) < 1.6


def test_every_beginning_of_the_order_is_like_the_whole():
    assert sorted(spread_order(WHOLE, RNG)) == list(range(WHOLE.vertices))
    work = np.log(neighbour_work(WHOLE))
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
