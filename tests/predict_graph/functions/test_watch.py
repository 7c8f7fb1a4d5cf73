"""The place of a loop, read from outside, for loops of many kinds."""

from __future__ import annotations

import itertools
import linecache
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import pytest

from predict_graph.functions.child import TICK_SECONDS, ChildRun, Limits, Look, run_in_child
from predict_graph.functions.evidence import Gathered
from predict_graph.functions.growth import Growth, Point
from predict_graph.functions.loops import enclosing_loops
from predict_graph.functions.naming import check_function
from predict_graph.functions.prefix import LoopShape, loop_shape, read_prefix
from predict_graph.functions.track import run_tracked
from predict_graph.functions.watch import REPORTED, LoopWatch, Seen, reported
from tests.steps import OF_ONE, counted

pytestmark = pytest.mark.slow  # starts processes


def work(calls: int = 100) -> int:
    """Take two steps a call: two hundredths of a millisecond."""
    for number in range(calls):
        abs(number)
    return calls


def over_range(graph: Any) -> None:
    for _place in range(300):
        work()


def over_a_range_bound_again(graph: Any) -> None:
    for _ in range(300):
        work()
        for _, near in ((7, 8), (9, 10)):
            work(near)


def over_a_view_bound_again(graph: nx.Graph) -> None:
    for vertex in graph:
        work()
        vertex = 7
        work(vertex)


def over_a_range_with_a_comprehension(graph: Any) -> None:
    for _ in range(300):
        work(40 + max(7 for _ in range(3)))
        work(60)


def over_the_graph(graph: nx.Graph) -> None:
    for _vertex in graph:
        work()


def over_a_sorted_list(graph: nx.Graph) -> None:
    for _vertex in sorted(graph):
        work()


def over_enumerate(graph: nx.Graph) -> None:
    for _place, _vertex in enumerate(graph.nodes(), start=5):
        work()


def over_pairs(graph: nx.Graph) -> None:
    for _vertex, near in graph.adj.items():  # noqa: PERF102
        near = set(near)
        work()


def over_combinations(graph: nx.Graph) -> None:
    few = list(graph)[:25]
    for _one, _other in itertools.combinations(few, 2):
        work()


def over_a_generator(graph: nx.Graph) -> None:
    def drawn() -> Iterator[int]:
        for vertex in graph:
            work()
            yield vertex

    for _vertex in drawn():
        pass


def in_a_comprehension(graph: nx.Graph) -> int:
    return sum(work() for vertex in graph)


def a_generator(graph: nx.Graph) -> Iterator[int]:
    for vertex in graph:
        work()
        yield vertex


def a_while(graph: nx.Graph) -> None:
    changes, left = True, 300
    while changes:
        work()
        left -= 1
        changes = left > 0


ROUNDS = 6


def a_while_around_a_loop(graph: nx.Graph) -> None:
    done = 0
    while keeps_going(done):
        for _vertex in graph:
            work(40)
        done += 1


def a_while_that_shuffles(graph: nx.Graph) -> None:
    done, rng = 0, random.Random(1)
    while keeps_going(done):
        vertices = list(graph)
        rng.shuffle(vertices)
        for _vertex in vertices:
            work(40)
        done += 1


def a_while_that_shuffles_in_place(graph: nx.Graph) -> None:
    done, rng, vertices = 0, random.Random(1), list(graph)
    while keeps_going(done):
        rng.shuffle(vertices)
        for _vertex in vertices:
            work(40)
        done += 1


def a_while_around_several_loops(graph: nx.Graph) -> None:
    done = 0
    while keeps_going(done):
        for _vertex in graph:
            work(25)
        for _vertex in graph:
            work(25)
        done += 1


def keeps_going(done: int) -> bool:
    return done < ROUNDS


def a_while_that_counts_up(graph: nx.Graph) -> None:
    place, going = 0, True
    while going and place < len(graph):
        work()
        place += 1


def a_while_over_a_set(graph: nx.Graph) -> None:
    waiting = set(graph)
    while waiting:
        waiting.pop()
        work()


def a_generator_with_a_while(graph: nx.Graph) -> Iterator[int]:
    waiting = list(graph)
    while len(waiting) > 0:
        work()
        yield waiting.pop()


def a_while_whose_rounds_grow(graph: nx.Graph) -> None:
    waiting = set(graph)
    while waiting:
        waiting.pop()
        work(4 + (len(graph) - len(waiting)) * 2 // 3)


def ends_early(graph: nx.Graph) -> None:
    for place in range(10_000):
        if place == 300:
            break
        work()


def run(function: Callable[[Any], Any], graph: Any = None, **limits: float) -> ChildRun:
    """Run a function whose calls are counted instead of its seconds."""
    with counted():
        return run_in_child(lambda: graph or nx.path_graph(300), function, Limits(**limits))


@pytest.mark.parametrize(
    "function",
    [
        over_range,
        over_a_range_bound_again,
        over_a_view_bound_again,
        over_a_range_with_a_comprehension,
        over_the_graph,
        over_a_sorted_list,
        over_enumerate,
        over_pairs,
        over_combinations,
        over_a_generator,
        in_a_comprehension,
        a_generator,
    ],
)
def test_the_first_part_of_a_loop_tells_the_whole(function: Callable[[Any], Any]) -> None:
    whole = run(function)
    assert whole.done
    shape = loop_shape(whole.looks, whole.seconds)
    assert shape.loop, shape.reason
    places = [look.loops[0].done for look in whole.looks if look.loops and look.loops[0].total]
    assert places == sorted(places)
    part = run(function, share=0.3)
    assert part.state == "stopped"
    assert part.seconds < 0.7 * whole.seconds
    said = read_prefix(part.looks, part.seconds, shape)
    assert said is not None
    assert said.total == 300
    assert 0.5 * whole.seconds < said.seconds < 2.0 * whole.seconds


def test_a_while_says_nothing_and_is_known() -> None:
    whole = run(a_while)
    shape = loop_shape(whole.looks, whole.seconds)
    assert not shape.loop
    assert "while" in shape.reason


@pytest.mark.parametrize(
    "function",
    [
        a_while_that_counts_up,
        a_while_over_a_set,
        a_generator_with_a_while,
        a_while_whose_rounds_grow,
    ],
)
def test_the_first_part_of_a_while_that_uses_something_up_tells_the_whole(
    function: Callable[[Any], Any],
) -> None:
    whole = run(function)
    shape = loop_shape(whole.looks, whole.seconds)
    assert shape.loop, shape.reason
    assert not shape.counted
    part = run(function, share=0.3 ** (1.0 / shape.power))
    assert part.state == "stopped"
    said = read_prefix(part.looks, part.seconds, shape, shapes=[shape, shape])
    assert said is not None
    assert 0.6 * whole.seconds < said.seconds < 1.6 * whole.seconds


@pytest.mark.parametrize(
    "function", [a_while_around_a_loop, a_while_that_shuffles, a_while_that_shuffles_in_place]
)
def test_rounds_of_a_while_are_those_of_the_loop_inside(function: Callable[[Any], Any]) -> None:
    whole = run(function)
    shape = loop_shape(whole.looks, whole.seconds)
    assert shape.loop, shape.reason
    assert shape.rounds == ROUNDS
    part = run(function, seconds=0.2 * whole.seconds)
    assert part.state == "stopped"
    assert read_prefix(part.looks, part.seconds, shape) is None  # nobody says how many there are
    said = read_prefix(part.looks, part.seconds, shape, lambda done: Growth(ROUNDS, 0.02, []))
    assert said is not None
    assert said.estimated
    assert said.rounds < 0.5 * ROUNDS
    assert 0.6 * whole.seconds < said.seconds < 1.6 * whole.seconds


@pytest.mark.parametrize("part", [0.06, 0.24, 0.48, 0.76, 0.98, 1.02, 2.0])
def test_rounds_as_long_as_the_time_between_looks_are_not_taken_for_longer_ones(
    part: float,
) -> None:
    def turns(graph: nx.Graph) -> None:
        left, going = 300, True
        while going:
            work(int(part * TICK_SECONDS / (2.0 * OF_ONE)))
            left -= 1
            going = left > 0

    whole = run(turns)
    shape = loop_shape(whole.looks, whole.seconds)
    assert not shape.loop
    assert "too short to count" in shape.reason


def test_rounds_of_a_while_around_several_loops_are_not_told() -> None:
    whole = run(a_while_around_several_loops)
    shape = loop_shape(whole.looks, whole.seconds)
    assert not shape.loop
    assert "several loops" in shape.reason


def test_what_remains_of_a_while_is_predicted() -> None:
    with counted():
        tracked = run_tracked(check_function(a_while_over_a_set), nx.path_graph(900), show=False)
    late = [each for each in tracked.said if 0.5 < each.elapsed / tracked.seconds < 0.9]
    assert late
    wrong = [abs((each.total or 0.0) / tracked.seconds - 1.0) for each in late]
    assert sum(wrong) / len(wrong) < 0.25


def test_how_curves_differ_between_samples_says_how_sure_they_are() -> None:
    looks = [Look(0.01 * k, [Seen("loop", 2.0 * k, 1000.0, True, False, False)]) for k in range(60)]
    steep, straight = (LoopShape("loop", power=power, counted=False) for power in (1.8, 1.0))
    alike = read_prefix(looks, 0.6, steep, shapes=[steep, steep])
    unlike = read_prefix(looks, 0.6, steep, shapes=[straight, steep, straight])
    assert alike is not None
    assert unlike is not None
    assert alike.seconds == unlike.seconds
    assert unlike.log_std > alike.log_std


def test_of_a_loop_that_ends_early_a_part_and_the_rounds_of_samples_tell() -> None:
    whole = run(ends_early)
    shape = loop_shape(whole.looks, whole.seconds)
    assert 290 < shape.rounds <= 301
    part = run(ends_early, share=0.3, rounds=310.0)
    assert part.state == "stopped"
    assert part.seconds < 0.7 * whole.seconds
    assert read_prefix(part.looks, part.seconds, shape) is None  # of 10,000 rounds, for all it says
    rounds = iterations({100: 290, 200: 310, 300: 300}, 300.0)
    said = read_prefix(part.looks, part.seconds, shape, lambda done: rounds)
    assert said is not None
    assert said.estimated
    assert 0.5 * whole.seconds < said.seconds < 2.0 * whole.seconds
    assert said.log_std > 0.1


@pytest.mark.parametrize(
    ("percent", "steady"),
    [
        (lambda time: 100.0 * time, True),
        (lambda time: 100.0 * time ** (1.0 / 3.0), True),
        (lambda time: 100.0 * (time if time > 0.6 else time**4), False),
    ],
)
def test_what_a_library_reports_counts_where_it_grows_steadily(percent: Any, steady: bool) -> None:
    times = [0.02 * number for number in range(51)]
    looks = [Look(each, [reported(percent(each))]) for each in times]
    shape = loop_shape(looks, 1.0)
    assert (shape.loop == REPORTED) == steady
    assert ("progress" in shape.reason) == (not steady)
    assert not loop_shape(looks[:6], 0.1).loop


def iterations(samples: dict[float, float], vertices: float) -> Growth | None:
    """Return the iterations on a graph of so many vertices, from those on samples."""
    gathered = Gathered({"vertices": vertices}, "g", [])
    for size, rounds in samples.items():
        gathered.add(Point({"vertices": size}, 1.0, "rj", "g", rounds, early=True))
    return gathered.rounds()


def test_rounds_that_grow_with_the_samples_go_on_growing_a_little() -> None:
    steady = iterations({100: 20, 1000: 20, 10_000: 20}, 1e6)
    growing = iterations({100: 20, 1000: 28, 10_000: 40}, 1e6)
    assert steady is not None
    assert growing is not None
    assert steady.cost == pytest.approx(20.0, rel=0.1)
    assert 35 < growing.cost < 110
    assert growing.log_std > 0.18


@pytest.mark.parametrize(("rounds", "least"), [(400, 4), (20, 0)])
def test_a_first_part_has_the_few_rounds_that_say_something_if_they_are_few(
    rounds: int, least: int
) -> None:
    def slowly(graph: Any, times: int = rounds) -> None:
        for _ in range(times):
            work(2500)

    part = run(slowly, seconds=0.02, share=0.05, floor=0.02)
    assert part.state == "stopped"
    done = max((look.loops[0].done for look in part.looks if look.loops), default=0)
    assert done >= least
    assert done <= 0.1 * rounds  # and it stops


def test_a_run_that_is_stopped_takes_no_longer() -> None:
    stopped = run(lambda graph: [work() for _ in range(10**9)], seconds=0.2)
    assert stopped.state == "stopped"
    assert stopped.seconds == pytest.approx(0.2, abs=TICK_SECONDS)


def test_loops_of_networkx_are_found() -> None:
    graph = nx.barabasi_albert_graph(150, 4, seed=1)
    for function in (
        nx.betweenness_centrality,
        nx.closeness_centrality,
        nx.global_efficiency,
        nx.average_shortest_path_length,
        nx.all_pairs_shortest_path_length,
    ):
        done = run(function, graph)
        shape = loop_shape(done.looks, done.seconds)
        assert shape.loop, (function, shape.reason)
        seen = [look.loops[0] for look in done.looks if look.loops]
        totals = [each.total for each in seen if each.loop == shape.loop and each.total]
        assert totals[-1] == 150


@pytest.mark.parametrize("kind", [itertools.combinations, itertools.permutations])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_place_among_combinations_is_how_many_came_before(kind: Any, length: int) -> None:
    pool = ["a", "b", "c", "d", "e"]

    def through() -> list[tuple[float, float]]:
        found = []
        for _chosen in kind(pool, length):
            seen = watch.look(sys._getframe())
            found.append((seen[0].done, seen[0].total))
        return found

    def entry() -> list[tuple[float, float]]:
        return through()

    watch = LoopWatch(entry.__code__)
    places = entry()
    count = len(list(kind(pool, length)))
    assert places[1:] == [(place, count) for place in range(1, count)]  # the first only sights it


def test_what_a_module_does_while_it_is_imported_is_not_parsed(tmp_path: Any) -> None:
    file = tmp_path / "imported.py"
    file.write_text("for place in range(3):\n    pass\n")
    assert linecache.getlines(str(file))
    assert enclosing_loops(compile(file.read_text(), str(file), "exec"), 1) == []


def test_a_function_is_parsed_where_it_is(tmp_path: Any) -> None:
    file = tmp_path / "inside.py"
    file.write_text(
        "class Outer:\n"
        "    @staticmethod\n"
        "    def through(graph):\n"
        '        """Its text\nbegins anywhere.\n        """\n'
        "        for vertex in graph:\n"
        "            pass\n"
        "\n"
        "not python at all: (\n"
    )
    lines = file.read_text().splitlines()
    names: dict[str, Any] = {}
    exec(compile("\n".join(lines[:8]), str(file), "exec"), names)
    (loop,) = enclosing_loops(names["Outer"].through.__code__, 8)
    assert (loop.header, loop.first, loop.last, loop.is_while) == (7, 8, 8, False)


def test_the_progress_that_igraph_reports_is_read() -> None:
    igraph = pytest.importorskip("igraph")
    from predict_graph.functions.reported import reporter

    def through(**limits: float) -> ChildRun:
        with counted():
            return run_in_child(
                lambda: igraph.Graph.Barabasi(1000, 4),
                igraph.Graph.betweenness,
                Limits(**limits),
                progress=reporter("igraph"),
            )

    whole = through()
    assert loop_shape(whole.looks, whole.seconds).loop == REPORTED
    part = through(seconds=0.05, share=0.6)
    assert part.state == "stopped"
    assert part.seconds > 0.5 * whole.seconds > 0.05


def test_a_look_at_the_very_end_takes_nothing_back() -> None:
    seen = [Seen("loop", 10.0 * n, 100.0, bounded=True, early=False) for n in range(1, 10)]
    through = Seen("loop", 0.0, 0.0, bounded=True, early=False)
    looks = [Look(0.1 * n, [each]) for n, each in enumerate([*seen, through])]
    assert loop_shape(looks, 1.0).loop == "loop"
    assert not loop_shape([Look(look.seconds, [through]) for look in looks], 1.0).loop
