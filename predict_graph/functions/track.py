"""Running a function with a bar, the time that remains, and how sure that is.

A thread looks at the frames of the running function some times a second. The function runs where it
was called, on the graph as it is: its vertices are not shuffled, so the pace of the last rounds
counts more than that of the first, and the work of each is estimated by degrees and reach.
"""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from predict_graph.clock import Moment, closing_words, remaining_of
from predict_graph.clock.display import Display
from predict_graph.clock.loops import outlasted, with_first
from predict_graph.durations import readable_seconds
from predict_graph.functions.child import consumed, drawn
from predict_graph.functions.growth import Point, extrapolate
from predict_graph.functions.naming import GraphFunction, check_function
from predict_graph.functions.reported import reporter, silenced
from predict_graph.functions.shipped import shipped_points
from predict_graph.functions.watch import REPORTED, LoopWatch, Seen, reported
from predict_graph.functions.works import (
    SECONDS_OF_ONE,
    changing_rounds,
    light_graph,
    size_of,
    works_of,
)
from predict_graph.graph import Graph
from predict_graph.history import History, check_history
from predict_graph.intervals import QUANTILE
from predict_graph.intervals import Interval as Figure
from predict_graph.timing import clock

__all__ = ["Tracked", "run_tracked", "track"]

_EVERY = 0.1  # a choice, in seconds: a look takes 50 microseconds and a switch of threads
_FEWEST_ROUNDS = 5.0  # judgement: docs/studies/functions.md has the errors
_LOOKED_AT_AFTER = 1.0  # seconds of a run from which the graph is looked at; a choice
_LOOKING = 0.01  # of the run until then that looking at the graph may take; a choice
_OTHERS_AFTER = 8.0  # seconds of a run of which timing this machine for others is 1%; measured
_COST = 0.015  # of a run that looking at it may take; a choice: the bar is 2%
_LONGEST = 0.25  # seconds between two looks; a choice: the bar in the terminal is to move
_LEFT = 3  # looks outside of a loop after which it is over; a choice: half a second of a long run
_MOST_POINTS = (
    400  # of a trail, then every other one goes; a choice: what remains is worked out of it
)
_WORTH_KEEPING = 1.0  # seconds of a run from which it is kept in the history; a choice


@dataclass
class Tracked:
    """A run that was tracked.

    Parameters
    ----------
    result : object
        What the function returned.
    seconds, processor_seconds : float
    said : list of Moment
        What was predicted on the way.
    first : float
        The first prediction of the whole, seconds; 0 where there was none.
    generator : bool
        Whether the result was an iterator; now a list, or how many elements it had.
    looking : float
        Processor seconds that looking at the run has taken, which are among its own.
    """

    result: Any = field(repr=False)
    seconds: float
    processor_seconds: float
    said: list[Moment] = field(repr=False)
    first: float = 0.0
    generator: bool = False
    looking: float = 0.0

    @property
    def sentence(self) -> str:
        """How long it took, and how good the first prediction was."""
        return closing_words(self.seconds, self.first)


def track(
    function: str | Callable[..., Any],
    graph: Any,
    *positional: Any,
    history: History | str | bool | None = None,
    graph_form: str | None = None,
    **keywords: Any,
) -> Any:
    """Run a function on a graph under a bar with the time that remains; return its result.

    In a terminal and in a notebook; where nobody watches, nothing is shown but the last line. A run
    of a second or more is kept in the history, from which later predictions of the function learn.
    What a function of igraph says of its progress is read by igraph's progress handler, which is
    none afterwards.

    Parameters
    ----------
    function : str or callable
        See :func:`~predict_graph.functions.naming.check_function`.
    graph : object
        The graph as the function takes it, or what :func:`~predict_graph.predict` takes.
    *positional, **keywords
        Other arguments of the function.
    history : History, path, 'none' or None
    graph_form : str, optional

    Raises
    ------
    RequestError
        If the function or its arguments cannot be used. What the function raises is not touched.
    KeyboardInterrupt
        At Ctrl-C; its text says how far the run was, and is shown without a traceback.

    Examples
    --------
    >>> import networkx
    >>> len(track(networkx.betweenness_centrality, networkx.path_graph(30), history="none"))
    30
    """
    from predict_graph.functions.forms import as_graph, build
    from predict_graph.functions.naming import form_of

    try:
        checked = check_function(function, positional, keywords, form=graph_form, graph=graph)
        own = None
        if form_of(graph) != checked.form:
            own = as_graph(graph, checked, directed=None, ids=None, seed=0)
            graph = build(own, checked.form)
        tracked = run_tracked(checked, graph, source=own, history=check_history(history))
    except KeyboardInterrupt as interrupt:
        interrupt.args = interrupt.args or ("interrupted before the function was called",)
        _shown_in_a_sentence(interrupt)
        raise
    return tracked.result


def _shown_in_a_sentence(interrupt: KeyboardInterrupt) -> None:
    """Let an interrupt that nothing handles be shown by its text, without a traceback."""
    interrupt._render_traceback_ = lambda: [str(interrupt)]  # type: ignore[attr-defined] # IPython
    usual = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt) and hasattr(error, "_render_traceback_"):
            print(error, file=sys.stderr)
        else:
            usual(kind, error, trace)

    if usual.__qualname__ != show.__qualname__:
        sys.excepthook = show


def run_tracked(
    function: GraphFunction,
    graph: Any,
    *,
    source: Any = None,
    history: History | None = None,
    show: bool = True,
    convert_seconds: float = 0.0,
    keep: bool = True,
    expected: Figure | None = None,
) -> Tracked:
    """Run a checked function on a graph of its library, tracked.

    Parameters
    ----------
    function : GraphFunction
    graph : object
    source : Graph, optional
        The same graph as ours, for the history; made of `graph` if need be.
    history : History, optional
    show : bool
        Whether to show a bar where someone watches, and the last line.
    convert_seconds : float
        What building `graph` has taken, for the history.
    keep : bool
        Whether an iterator becomes a list; else it is drawn to its end, and the result is how many
        elements it had.
    expected : Figure, optional
        Seconds of the call that were predicted; by default what earlier runs of the history say.
    """
    expected = expected or _expected(function, graph, source, history)
    watcher = _Watcher(threading.get_ident(), function, source or graph, expected, show)
    report = reporter(function.form)
    began = clock.processor()
    started = clock.wall()
    watcher.start()
    try:
        if report is not None:
            report(watcher.reported)
        with _spared():
            result, lazy = _watched_call(function, graph, keep)
    except KeyboardInterrupt as interrupt:
        interrupt.args = (watcher.interrupted(),)
        raise
    finally:
        seconds = clock.wall() - started
        if report is not None:
            silenced(function.form)
        watcher.finish()
    spent = clock.processor() - began
    first = watcher.first
    tracked = Tracked(result, seconds, spent, watcher.said, first, lazy, watcher.looking)
    if show:
        print(f"{function.name} {tracked.sentence}", file=sys.stderr)
    if history is not None and spent >= _WORTH_KEEPING:
        _keep(history, function, graph, source, spent, convert_seconds)
    return tracked


@contextlib.contextmanager
def _spared() -> Iterator[None]:
    """Spare the garbage collector what there is already.

    It goes through all objects again and again while a function makes many. The modules of this
    package are among them, and made such functions half as slow again as without it. Samples run
    without them too (:mod:`~predict_graph.functions.child`).
    """
    if gc.get_freeze_count():  # someone else's, whom it would be taken from afterwards
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _watched_call(function: GraphFunction, graph: Any, keep: bool) -> tuple[Any, bool]:
    """Call the function; its frames are those inside this one."""
    result = function(graph)
    if not hasattr(result, "__next__"):
        consumed(result)
        return result, False
    return (list(result) if keep else drawn(result)), True


class _Watcher(threading.Thread):
    """Looks at a thread that runs a function, and shows how far it is."""

    def __init__(
        self,
        watched: int,
        function: GraphFunction,
        graph: Any,
        expected: Figure | None,
        show: bool,
    ) -> None:
        super().__init__(name="predict-graph track", daemon=True)
        self._watched = watched
        self._watch = LoopWatch(_watched_call.__code__, _COST)
        self._ended = threading.Event()
        self._began = clock.wall()
        self._processor = clock.processor(children=False)
        self._trail: list[tuple[float, float, float]] = []  # seconds, done, total
        self._loop = ""
        self._uses_up = False  # whether that is a while, which uses something up
        self._elsewhere = 0  # looks since the last one inside that loop
        self._function, self._graph = function, graph
        self._works: dict[str, Any] | None = None
        self._light: Graph | None = None
        self._size: int | None = None
        self._report: tuple[float, list[Seen]] | None = None  # seconds, and what was said then
        self._expected = expected
        self._display = _display() if show else None
        self.said: list[Moment] = []
        self.first = 0.0 if expected is None else expected.predicted
        self.looking = 0.0

    def run(self) -> None:
        while not clock.wait(self._ended, self._pause()):
            frame = sys._current_frames().get(self._watched)
            elapsed = clock.wall() - self._began
            try:
                seen = self._watch.look(frame)
            except Exception:  # the frames moved on in the middle of a look
                continue
            del frame
            if seen or self._report is None:
                self._take(elapsed, seen)
            else:
                self._take(*self._report)
            self._look_at_graph()
            self._look_at_others()
            remaining = self._remaining(elapsed)
            if remaining is not None:
                self.said.append(remaining)
                self.first = self.first or remaining.total or 0.0
            if self._display is not None:
                self._display.show(remaining or Moment(elapsed, 0))
            self.looking = clock.thread()

    def reported(self, percent: float) -> None:
        """Take what a library says of its progress, in the thread that runs the function."""
        seen = reported(percent)
        self._report = clock.wall() - self._began, [seen]

    @property
    def _spent(self) -> float:
        """Processor seconds of the run: on a busy machine the clock goes on without it."""
        return clock.processor(children=False) - self._processor

    def _pause(self) -> float:
        """Return the seconds until the next look, so that all of them stay a small part."""
        owed = self.looking / _COST - self._spent
        return min(max(_EVERY, owed), _LONGEST)

    def interrupted(self) -> str:
        """Say how far the run was when it was interrupted."""
        far = f", in {self.said[-1].progress('round')}" if self.said and self._trail else ""
        after = readable_seconds(clock.wall() - self._began)
        return f"{self._function.name} was interrupted after {after}{far}"

    def finish(self) -> None:
        """End, and take the bar away."""
        self._ended.set()
        self.join()
        if self._display is not None:
            self._display.close()

    def _take(self, elapsed: float, seen: Sequence[Seen]) -> None:
        outer = seen[0] if seen else None
        self._elsewhere = (
            0 if outer is not None and outer.loop == self._loop else self._elsewhere + 1
        )
        if self._elsewhere >= _LEFT:  # its end was not that of the function
            self._trail, self._loop = [], ""
        if outer is None or not outer.bounded or outer.early or not outer.total:
            return
        again = bool(self._trail) and outer.done < self._trail[-1][1] - 1.0
        if outer.loop != self._loop or again:
            self._trail, self._loop = [], outer.loop
            self._uses_up = not outer.counted and outer.loop != REPORTED
        if len(self._trail) >= _MOST_POINTS:
            del self._trail[1::2]
        self._trail.append((elapsed, outer.done, outer.total))

    def _look_at_graph(self) -> None:
        """Guess the work of each vertex, once that is worth it."""
        if self._works is not None or self._spent < _LOOKED_AT_AFTER:
            return
        if self._size is None:
            self._size = size_of(self._graph)
        if self._size * SECONDS_OF_ONE > _LOOKING * self._spent:
            return
        self._works = {}
        if not self._size:
            return
        try:
            self._light = light_graph(self._graph)
            self._works = works_of(self._light)
        except Exception:  # the function changes the graph, or its vertices are not hashable
            return

    def _look_at_others(self) -> None:
        """Guess the whole run by those that are shipped, if nothing has, once it is worth it."""
        if self._light is None or self._spent < _OTHERS_AFTER:
            return
        light, self._light = self._light, None
        if self._expected is None:
            with contextlib.suppress(Exception):  # the run goes on, whatever is wrong here
                self._expected = _by(shipped_points(self._function), light)

    def _remaining(self, elapsed: float) -> Moment | None:
        if self._trail and self._trail[-1][1] - self._trail[0][1] >= _FEWEST_ROUNDS:
            moment = remaining_of(self._trail, elapsed, self._estimates())
            return moment if self._expected is None else with_first(moment, self._expected)
        if self._expected is None:
            return None
        return Moment(elapsed, 0, remaining=outlasted(self._expected, elapsed))

    def _estimates(self) -> dict[str, Any]:
        """Return estimates of the work that is done after each round."""
        works = self._works or {}
        return works | changing_rounds(int(self._trail[-1][2])) if self._uses_up else works


def _display() -> Display:
    from rich.console import Console

    return Display(Console(stderr=True), what="round", lines=False)


def _expected(
    function: GraphFunction, graph: Any, source: Any, history: History | None
) -> Figure | None:
    """Return what earlier runs on other graphs predict; None without any."""
    if history is None or not len(history.runs(algorithm=function.name, kind="run", limit=1)):
        return None
    from predict_graph.functions.forms import as_graph
    from predict_graph.functions.records import earlier_points

    whole = source or as_graph(graph, function, directed=None, ids=None, seed=0)
    return _by(earlier_points(history, function, whole), whole)


def _by(points: Sequence[Point], graph: Graph) -> Figure | None:
    """Return what runs on other graphs extrapolate, if that is worth saying."""
    import numpy as np

    from predict_graph.functions.drivers import drivers_of

    if not points:
        return None
    found = extrapolate(points, drivers_of(graph, np.random.default_rng(0)), "")
    if found is None or found.log_std * QUANTILE > math.log(10.0):
        return None
    return Figure.spread(found.cost, found.log_std)


def _keep(
    history: History,
    function: GraphFunction,
    graph: Any,
    source: Any,
    seconds: float,
    convert_seconds: float,
) -> None:
    import numpy as np

    from predict_graph.functions.drivers import drivers_of
    from predict_graph.functions.forms import as_graph
    from predict_graph.functions.records import keep_run

    whole = source or as_graph(graph, function, directed=None, ids=None, seed=0)
    drivers = drivers_of(whole, np.random.default_rng(0))
    keep_run(history, function, whole, drivers, seconds=seconds, convert_seconds=convert_seconds)
