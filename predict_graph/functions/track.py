"""Run a function with a progress bar, the remaining time and its interval.

A thread observes the frames of the running function some times a second. The function runs where it
was called, on the graph as it is: its vertices are not shuffled, and where the first have more
edges than the others, the iterations of a loop over them are weighted.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import CodeType
from typing import Any

import numpy as np
from rich.console import Console

from predict_graph.arrays import FloatArray
from predict_graph.clock.display import Display
from predict_graph.clock.loops import remaining_after, remaining_of, with_prediction
from predict_graph.clock.moment import Moment, closing_words
from predict_graph.durations import readable_seconds
from predict_graph.errors import PredictGraphError
from predict_graph.functions import loops
from predict_graph.functions.child import ChildRun, called
from predict_graph.functions.growth import drivers_of, extrapolate
from predict_graph.functions.naming import GraphFunction, check_function, form_of
from predict_graph.functions.records import earlier_records, points_of, record_of_call
from predict_graph.functions.subject import Case, Subject, as_graph
from predict_graph.graph import Graph
from predict_graph.history import History, check_history
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.stopwatch import imported
from predict_graph.timing import CallTimer, clock


@dataclass
class Tracked:
    """A tracked run.

    Parameters
    ----------
    result : object
    seconds, processor_seconds : float
    said : list of Moment
        Predictions during the run.
    first : float
        The first prediction of the whole, by earlier runs or after 5% of it, seconds; 0 without.
    generator : bool
        Whether the result was an iterator; now a list, or the number of its elements.
    convert : float
        Seconds of building the library's graph before.
    """

    result: Any = field(repr=False)
    seconds: float
    processor_seconds: float
    said: list[Moment] = field(repr=False)
    first: float
    generator: bool
    convert: float


def track(
    function: str | Callable[..., Any],
    graph: Any,
    /,
    *positional: Any,
    history: History | str | bool | None = None,
    graph_form: str | None = None,
    **keywords: Any,
) -> Any:
    """Run a function on a graph under a bar with the time that remains; return its result.

    An iterator, such as that of a generator function, is drawn to its end and returned as a list.
    In a terminal and in a notebook; elsewhere only the last line is shown. A run of a second or
    more is kept in the history, and used in later predictions of the function. The progress of
    functions of igraph is read by igraph's progress handler, which is none afterwards.

    Parameters
    ----------
    function : str or callable
        See :func:`~predict_graph.functions.naming.check_function`.
    graph : object
        The graph as the function takes it, or what :func:`~predict_graph.predict` takes.
    *positional, **keywords
        Other arguments of the function: also one called ``function`` or ``graph``, but ``history``
        and ``graph_form`` by position alone.
    history : History, path, 'none' or None
    graph_form : str, optional

    Raises
    ------
    RequestError
        If the function or its arguments cannot be used. Errors of the function come through.
    KeyboardInterrupt
        At Ctrl-C; its text has the progress of the run.

    Examples
    --------
    >>> import networkx
    >>> len(track(networkx.betweenness_centrality, networkx.path_graph(30), history="none"))
    30
    >>> track(networkx.core_number, [(5, 7), (7, 9)], history="none")
    {5: 1, 7: 1, 9: 1}
    """
    checked = check_function(function, positional, keywords, form=graph_form, graph=graph)
    if form_of(graph) != checked.form:
        whole = graph = Subject(checked, graph, seed=0).whole()
        ids = [] if whole.graph.labels is None else whole.graph.labels.tolist()
        if checked.form == "networkx" and ids and len(set(ids)) == len(ids):
            named = partial(imported("networkx").relabel_nodes, mapping=dict(enumerate(ids)))
            graph = replace(whole, build=lambda: named(whole.build()), call=checked)
    return run_tracked(checked, graph, history=check_history(history)).result


def run_tracked(
    function: GraphFunction,
    graph: Any,
    *,
    history: History | None = None,
    show: bool = True,
    keep: bool = True,
    expected: Interval | None = None,
) -> Tracked:
    """Run a checked function on a graph of its library, or on a case that is built first, tracked.

    An iterator becomes a list if `keep`; else it is drawn to its end, and the result is
    the number of its elements. `expected` are predicted seconds of the call, by default from the
    runs in the history. `show` shows a bar in a terminal, and the last line unless the result is
    only counted: who asks for that prints the sentence.
    """
    source, call, timer = None, function, CallTimer()
    if isinstance(graph, Case):
        source, call, graph = graph.graph, graph.call, graph.build()
    converted, convert = timer.seconds, timer.wall
    expected = expected or _expected(function, graph, source, history)
    counts = (getattr(graph, name, None) for name in ("number_of_edges", "ecount", "numberOfEdges"))
    # Counted only for the history: networkx visits all vertices.
    edges = int if source or history is None else next(filter(callable, counts), int)
    before = edges()
    here = os.getpid()
    watcher = Watcher(threading.get_ident(), called.__code__, expected, clock.wall(), graph)
    ended, timer = threading.Event(), CallTimer()
    with Display(Console(stderr=True), what="iteration", lines=False, quiet=not show) as display:
        given = watcher, display, ended
        watching = threading.Thread(target=_watch, args=given, daemon=True)
        watching.start()
        try:
            loops.report_progress(function.form, watcher.watch.report)
            result, lazy = called(call, graph, keep=keep)
        except KeyboardInterrupt as interrupt:
            after = f"{readable_seconds(watcher.elapsed)}{watcher.progress}"
            interrupt.args = (f"{function.name} was interrupted after {after}",)
            raise
        finally:
            seconds = timer.wall
            loops.report_progress(function.form, None)
            ended.set()
            watching.join()
    if os.getpid() != here:  # forked by the function
        show, history = False, None
    spent = timer.seconds
    # The pace of less than a twentieth of a run says little.
    later = (each.total for each in watcher.said if each.total and each.elapsed > 0.05 * seconds)
    first = expected.predicted if expected else next(later, 0.0)
    if show and keep:
        print(f"{function.name} {closing_words(seconds, first)}", file=sys.stderr)
    # Shorter ones would only fill it, and what is left of a graph was not what the call was about.
    if history is not None and spent >= 1.0 and edges() == before:
        run = ChildRun("done", spent, seconds, converted)
        with suppress(PredictGraphError):  # a graph that ours cannot describe, such as one emptied
            whole = _described(function, graph, source)
            history.keep([record_of_call(function, *whole, run, converted=source is not None)])
    return Tracked(result, seconds, spent, watcher.said, first, lazy, convert)


class Watcher:
    """Observes a thread that runs a function, and says what remains.

    Parameters
    ----------
    watched : int
        The thread.
    entry : code
        Frames inside the frame of this code are observed.
    expected : Interval, optional
        Seconds of the call.
    began : float
        Reading of the clock at its start.
    graph : object
        What the function is called on.
    """

    def __init__(
        self, watched: int, entry: CodeType, expected: Interval | None, began: float, graph: Any
    ) -> None:
        self._watched, self._began = watched, began
        self.watch = loops.LoopWatch(entry, lambda: self.elapsed)
        self._trail: list[tuple[float, float, float]] = []  # seconds, done, total
        self._loop = ""
        self._unsteady: set[str] = set()
        self._elsewhere = 0  # observations since the last one inside that loop
        self._expected = expected
        self._graph, self._vertices = graph, len(graph) if hasattr(graph, "adj") else 0
        self.said: list[Moment] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return clock.wall() - self._began

    def observe(self) -> Moment | None:
        """Return how far the run is; what remains is unknown where there is no such loop."""
        frame = sys._current_frames().get(self._watched)
        try:
            seen = self.watch.observe(frame)
        except Exception:  # the frames moved on during the observation
            return None
        del frame
        self._take(seen)
        elapsed = self.elapsed
        remaining = self._remaining(elapsed)
        if remaining is not None:
            if len(self.said) > 1 and elapsed < 1.001 * self.said[-2].elapsed:
                self.said.pop()  # limits the memory
            self.said.append(remaining)
        return remaining or Moment(elapsed, 0)

    @property
    def progress(self) -> str:
        """How far the run is, in words; empty where that is unknown."""
        return f", in {self.said[-1].progress('iteration')}" if self.said and self._trail else ""

    def _take(self, seen: loops.Observation) -> None:
        """Add an observation to the trail of its loop; that of a loop that is over goes."""
        self._elsewhere = 0 if seen.loop and seen.loop == self._loop else self._elsewhere + 1
        if self._elsewhere > 2:  # its end was not that of the function
            self._trail, self._loop = [], ""
        if seen.early or not seen.total:
            return
        last = self._trail[-1] if self._trail and seen.loop == self._loop else None
        steady = last is None or (seen.done >= last[1] and seen.total == last[2])
        if not (steady or seen.counted or seen.loop == loops.REPORTED):
            self._unsteady.add(seen.loop)  # such as a queue, which grows again
        if seen.loop in self._unsteady:
            self._trail, self._loop = [], ""
            return
        again = bool(self._trail) and seen.done < self._trail[-1][1] - 1.0
        if seen.loop != self._loop or again:
            self._trail, self._loop = [], seen.loop
        if self._trail and seen.done <= self._trail[-1][1]:
            return  # the first observation of an iteration shows when it started
        if len(self._trail) > 1 and seen.done < self._trail[-2][1] + seen.total / 400.0:
            self._trail.pop()  # limits the trail
        self._trail.append((seen.seconds, seen.done, seen.total))

    def _remaining(self, elapsed: float) -> Moment | None:
        if self._trail and self._trail[-1][1] - self._trail[0][1] >= loops.FEW_ROUNDS:
            over_vertices = self._trail[-1][2] == self._vertices
            moment = remaining_of(self._trail, elapsed, self._work if over_vertices else None)
            return moment if self._expected is None else with_prediction(moment, self._expected)
        if self._expected is None:
            return None
        return Moment(elapsed, 0, remaining=remaining_after(self._expected, elapsed))

    @cached_property
    def _work(self) -> FloatArray | None:
        """The share of all paths of two edges that start before each vertex, in networkx.

        The time of loops over vertices that look at the edges of neighbours grows with these.
        """
        with suppress(Exception):  # the function changes its graph
            degrees = dict(self._graph.degree)
            paths = [sum(map(degrees.__getitem__, self._graph.adj[vertex])) for vertex in degrees]
            return np.asarray(np.cumsum([0, *paths]) / max(sum(paths), 1))
        return None


def _watch(watcher: Watcher, display: Display, ended: threading.Event, every: float = 0.1) -> None:
    """Observe a run until it ends, and show what is seen."""
    while not clock.wait(ended, every):
        if (moment := watcher.observe()) is not None:
            display.show(moment)


def _expected(
    function: GraphFunction, graph: Any, source: Any, history: History | None
) -> Interval | None:
    """Extrapolate earlier runs; None where the runtime is known to no factor of ten."""
    points = points_of(earlier_records(history, function, ("run", "sample")))
    with suppress(PredictGraphError):  # which keeps no function from running
        if points:
            whole, drivers = _described(function, graph, source)
            found = extrapolate(points, drivers, whole.fingerprint)
            if found is not None and found.log_std * QUANTILE <= math.log(10.0):
                return Interval.spread(found.cost, found.log_std)
    return None


def _described(
    function: GraphFunction, graph: Any, source: Graph | None
) -> tuple[Graph, dict[str, float]]:
    """Return the graph of a run as ours, and its drivers."""
    whole = source or as_graph(graph, function, seed=0)
    return whole, drivers_of(whole, np.random.default_rng(0))
