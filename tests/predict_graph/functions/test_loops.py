"""The progress of a loop, read from outside, and what the first part of a run says of the whole."""

import itertools
import math
import sys
from textwrap import indent

import networkx as nx
import pytest

from predict_graph.budget import Budget
from predict_graph.functions.child import TICK_SECONDS, Limits, run_in_child
from predict_graph.functions.evidence import loop_shape, read_prefix, rounds_of
from predict_graph.functions.growth import Point
from predict_graph.functions.loops import REPORTED, LoopWatch, Observation
from predict_graph.functions.naming import check_function
from predict_graph.functions.track import run_tracked
from tests.steps import counted

pytestmark = pytest.mark.slow  # starts processes

HEAD = """from itertools import combinations

pairs = type("combinations", (combinations,), {})  # made as those of Python 3.12 are

def work(calls=100):
    for number in range(calls):
        abs(number)
    return calls

def f(graph):
"""
FOR = {
    "a range": "for place in range(300):\n    work()",
    "a comprehension": "for _ in range(300):\n    work(max(47 for _ in range(3)))\n    work(60)",
    "the graph": "for vertex in graph:\n    work()",
    "a sorted list": "for vertex in sorted(graph):\n    work()",
    "enumerate": "for place, vertex in enumerate(graph.nodes(), start=5):\n    work()",
    "pairs": "for vertex, near in graph.adj.items():\n    near = set(near)\n    work()",
    "combinations": "few = list(graph)[:25]\nfor one, other in combinations(few, 2):\n    work()",
    "a generator": "def g():\n  for v in graph:\n    work()\n    yield v\nfor v in g():\n  pass",
    "shrinking rounds": "for place in range(300):\n    work(200 - 2 * place // 3)",
    "in a loop of one": "for _ in range(1):\n    for vertex in graph:\n        work()",
    "in a comprehension": "return sum(work() for vertex in graph)",
    "pairs in a comprehension": "return sum(work() for _ in pairs([*graph][:25], 2))",
    "in a generator": "for vertex in graph:\n    work()\n    yield vertex",
}
OVER_A_SET = "waiting = set(graph)\nwhile waiting:\n    waiting.pop()\n    "
WHILE = {
    "counts up": "place = 0\nwhile place < len(graph):\n    work()\n    place += 1",
    "over a set": OVER_A_SET + "work()",
    "in a generator": "left = [*graph]\nwhile len(left) > 0:\n    work()\n    yield left.pop()",
    "grows": OVER_A_SET + "work(4 + (len(graph) - len(waiting)) * 2 // 3)",
}
UNKNOWN = {
    "of unknown length": "going, left = True, 300\nwhile going:\n    work()\n    left -= 1\n"
    "    going = left > 0",
    "around a loop": "going, left = True, 6\nwhile going:\n    for vertex in graph:\n"
    "        work(40)\n    left -= 1\n    going = left > 0",
}
EARLY = {
    "broken off": "for place in range(10_000):\n    if place == 300:\n        break\n    work()",
    "converged": "place, change = 0, 1.0\nwhile change > 0.01 and place < 10_000:\n    work()\n"
    "    place += 1\n    change = 1.0 if place < 300 else 0.0",
}


def own(written, body):
    """Return a function of a file of the user's own."""
    file = written(HEAD + indent(body, "    ") + "\n", "own.py")
    return check_function(f"{file}:f", form="networkx").call


def run(function, graph=None, **limits):
    """Run a function whose calls are counted instead of its seconds."""
    with counted():
        return run_in_child(lambda: graph or nx.path_graph(300), function, Limits(**limits))


def shape_of(whole):
    """Return the loop of a run that has finished."""
    return loop_shape(whole.observations, whole.seconds)


def predicted(part, *more):
    """Return what the first part of a run says of the whole."""
    return read_prefix(part.observations, part.seconds, *more)


BODIES = [*((body, True) for body in FOR.values()), *((body, False) for body in WHILE.values())]


@pytest.mark.parametrize(("body", "counted"), BODIES, ids=[*FOR, *WHILE])
def test_the_first_part_of_a_loop_predicts_the_whole(written, body, counted):
    function = own(written, body)
    whole = run(function)
    shape = shape_of(whole)
    assert shape.loop, shape.reason
    assert shape.counted == counted
    places = [each.done for each in whole.observations if each.total]
    assert places == sorted(places) or not counted
    part = run(function, budget=Budget(share=shape.curve.place(0.3)), loop=shape.loop)
    assert part.state == "stopped"
    assert part.seconds < 0.7 * whole.seconds
    found, _ = predicted(part, shape)
    assert "of 300 iterations" in found.detail or not counted
    assert 0.6 * whole.seconds < found.seconds < 1.6 * whole.seconds


def test_the_progress_of_a_condition_does_not_prolong_a_run_by_itself(written):
    """One that no sample has shown to be steady may be far off."""
    function = own(written, WHILE["over a set"])
    whole, limits = run(function), {"seconds": 0.02, "budget": Budget(share=0.5)}
    assert run(function, **limits).seconds < 0.1 * whole.seconds
    assert run(function, **limits, loop=shape_of(whole).loop).seconds > 0.3 * whole.seconds


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN)
def test_a_while_of_unknown_length_is_named(written, body):
    shape = shape_of(run(own(written, body)))
    assert not shape.loop
    assert "the length of its outermost loop is unknown" in shape.reason


def totals_after(share, function, graph):
    """Return the totals predicted from a share of a run to nine tenths, beside its seconds."""
    with counted():
        tracked = run_tracked(check_function(function, form="networkx"), graph, show=False)
    late = [each for each in tracked.said if share < each.elapsed / tracked.seconds < 0.9]
    assert late
    return [(each.total or 0.0) / tracked.seconds for each in late]


def test_the_remaining_time_of_a_while_is_predicted(written):
    totals = totals_after(0.5, own(written, WHILE["over a set"]), nx.path_graph(900))
    assert sum(abs(total - 1.0) for total in totals) / len(totals) < 0.25


def test_a_loop_whose_first_vertices_are_hubs_is_weighted(written):
    body = "for vertex in graph:\n    work(sum(graph.degree[near] for near in graph.adj[vertex]))"
    totals = totals_after(0.2, own(written, body), nx.barabasi_albert_graph(2000, 4, seed=1))
    # By equal iterations, 3.4 times the total is predicted at a fifth of the run.
    assert 0.8 < min(totals) <= max(totals) < 1.2


OWN = """from collections import abc
class Own(dict):
    used = 0
    def __iter__(self, key=None):
        self.used += 1
        return iter(range(300))
    def __getattr__(self, name):
        self.used += 1
        return range(300) if name == "any" else super().__getattr__(name)
    __getitem__, some = __iter__, property(__iter__)
own, key = Own.fromkeys(range(300)), 0
v = abc.KeysView(own)
"""


@pytest.mark.parametrize("iterable", ["own", "own[key]", "own.some", "own.any", "v", "sorted(own)"])
def test_an_observation_calls_nothing_that_may_change_something(written, iterable):
    function = own(written, f"{OWN}for _ in {iterable}:\n    work()\nreturn own.used")
    with counted():
        assert run_tracked(check_function(function, form="networkx"), "", show=False).result == 1


@pytest.mark.parametrize("body", EARLY.values(), ids=EARLY)
def test_a_loop_that_ends_early_has_the_rounds_of_samples(written, body):
    function = own(written, body)
    whole = run(function)
    shape = shape_of(whole)
    assert 285 < shape.rounds <= 301
    part = run(function, budget=Budget(share=0.3), rounds=310.0)
    assert part.state == "stopped"
    assert part.seconds < 0.7 * whole.seconds
    assert predicted(part, shape) is None  # of 10,000 rounds, at most
    seen = ((100, 290), (200, 310), (300, 300))
    points = [Point({"vertices": n}, 1.0, "rj", "g", rounds, early=True) for n, rounds in seen]
    found, _ = predicted(part, shape, lambda done: rounds_of(points, {"vertices": 300.0}, "g"))
    assert "which ends when it has converged" in found.detail
    assert 0.5 * whole.seconds < found.seconds < 2.0 * whole.seconds
    assert found.log_std > 0.1


REPORTS = [
    (lambda time: 100.0 * time, True),
    (lambda time: 100.0 * time ** (1.0 / 3.0), True),
    (lambda time: 100.0 * (time if time > 0.6 else time**4), False),
]


@pytest.mark.parametrize(("percent", "steady"), REPORTS)
def test_what_a_library_reports_counts_where_it_grows_steadily(percent, steady):
    times = [0.02 * number for number in range(51)]
    observations = [
        Observation(each, REPORTED, 10.0 * percent(each), 1000.0, counted=False) for each in times
    ]
    shape = loop_shape(observations, 1.0)
    assert (shape.loop == REPORTED) == steady
    assert ("progress" in shape.reason) == (not steady)
    assert not loop_shape(observations[:6], 0.1).loop


def test_the_progress_that_igraph_reports_is_read():
    igraph = pytest.importorskip("igraph")

    def betweenness(**limits):
        graph, call = igraph.Graph.Barabasi, igraph.Graph.betweenness
        with counted(2.5e-4):
            return run_in_child(lambda: graph(1000, 4), call, Limits(**limits), form="igraph")

    whole = betweenness()
    assert shape_of(whole).loop == REPORTED
    part = betweenness(seconds=0.05, budget=Budget(share=0.6), loop=REPORTED)
    assert part.state == "stopped"
    assert part.seconds > 0.5 * whole.seconds > 0.05


@pytest.mark.parametrize(("rounds", "least"), [(400, 4), (20, 0)])
def test_a_first_part_has_four_rounds_if_they_are_a_small_part(written, rounds, least):
    slowly = own(written, f"for _ in range({rounds}):\n    work(2500)")
    part = run(slowly, seconds=0.02, budget=Budget(share=0.05, least_seconds=0.02))
    assert part.state == "stopped"
    assert least <= max((each.done for each in part.observations), default=0) <= 0.1 * rounds


def test_a_run_that_is_stopped_takes_no_longer(written):
    stopped = run(own(written, "return [work() for _ in range(10**9)]"), seconds=0.2)
    assert stopped.state == "stopped"
    assert stopped.seconds == pytest.approx(0.2, abs=TICK_SECONDS)


OF_NETWORKX = ["betweenness_centrality", "global_efficiency", "average_shortest_path_length"]


@pytest.mark.parametrize("name", OF_NETWORKX)
def test_loops_of_networkx_are_found(name):
    done = run(getattr(nx, name), nx.barabasi_albert_graph(150, 4, seed=1))
    shape = shape_of(done)
    assert shape.loop, shape.reason
    totals = [each.total for each in done.observations if each.loop == shape.loop and each.total]
    assert totals[-1] == 150


@pytest.mark.parametrize("length", [1, 3])
def test_a_place_among_combinations_is_how_many_came_before(length):
    pool, found = ["a", "b", "c", "d", "e"], []

    def through():
        for _chosen in itertools.combinations(pool, length):
            found.append(watch.observe(sys._getframe()))  # noqa: PERF401

    entry = lambda: through()  # noqa: E731, PLW0108
    watch = LoopWatch(entry.__code__, lambda: 0.0)
    entry()
    places, count = [(seen.done, seen.total) for seen in found], math.comb(5, length)
    assert places[1:] == [(place, count) for place in range(1, count)]  # the first only sights it
