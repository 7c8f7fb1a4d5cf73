"""Running a function with a bar, the time that remains, and how sure that is.

A thread looks at the frames of the running function some times a second. The function runs where it
was called, on the graph as it is: its vertices are not shuffled, so the pace of the last rounds
counts more than that of the first.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from predict_graph.durations import readable_seconds
from predict_graph.functions.child import consumed, processor_seconds
from predict_graph.functions.growth import foretell
from predict_graph.functions.naming import GraphFunction, check_function
from predict_graph.functions.prediction import QUANTILE, Figure
from predict_graph.functions.watch import LoopWatch, Seen
from predict_graph.history import History, check_history

__all__ = ["Remaining", "Tracked", "run_tracked", "track"]

_EVERY = 0.1  # seconds between looks: one takes about 50 microseconds and a switch of threads
_FEWEST_ROUNDS = 5.0
_RECENT = 0.5  # of the rounds done, whose pace is that of the rounds to come
_WORTH_KEEPING = 1.0  # seconds of a run from which it is kept in the history
_STD = 0.5  # of the logarithm of what remains, after the first round


@dataclass(frozen=True)
class Remaining:
    """What is known at one moment of a run.

    Parameters
    ----------
    elapsed : float
        Seconds by the clock.
    share : float
        Rounds of the outermost loop that are done / all.
    remaining : Figure
        Seconds.
    """

    elapsed: float
    share: float
    remaining: Figure

    @property
    def total(self) -> float:
        """Seconds of the whole run."""
        return self.elapsed + self.remaining.predicted


@dataclass
class Tracked:
    """A run that was tracked.

    Parameters
    ----------
    result : object
        What the function returned.
    seconds, processor_seconds : float
    said : list of Remaining
        What was foretold on the way.
    first : float
        The first prediction of the whole, seconds; 0 where there was none.
    generator : bool
        Whether the result was an iterator, now a list.
    """

    result: Any = field(repr=False)
    seconds: float
    processor_seconds: float
    said: list[Remaining] = field(repr=False)
    first: float = 0.0
    generator: bool = False

    @property
    def sentence(self) -> str:
        """How long it took, and how good the first prediction was."""
        took = f"took {readable_seconds(self.seconds)}"
        if not self.first:
            return f"{took}; nothing told how long it would"
        error = self.first / max(self.seconds, 1e-9) - 1.0
        return f"{took}; the first prediction was {readable_seconds(self.first)} ({error:+.0%})"


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

    Examples
    --------
    >>> import networkx
    >>> len(track(networkx.betweenness_centrality, networkx.path_graph(30), history="none"))
    30
    """
    from predict_graph.functions.forms import as_graph, build
    from predict_graph.functions.naming import form_of

    checked = check_function(function, positional, keywords, form=graph_form, graph=graph)
    own = None
    if form_of(graph) is None:
        own = as_graph(graph, directed=None, ids="integer", seed=0)
        graph = build(own, checked.form)
    tracked = run_tracked(checked, graph, source=own, history=check_history(history))
    return tracked.result


def run_tracked(
    function: GraphFunction,
    graph: Any,
    *,
    source: Any = None,
    history: History | None = None,
    show: bool = True,
    convert_seconds: float = 0.0,
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
    """
    expected = _expected(function, graph, source, history)
    watcher = _Watcher(threading.get_ident(), expected, show)
    began = processor_seconds()
    started = time.perf_counter()
    watcher.start()
    try:
        result, lazy = _watched_call(function, graph)
    finally:
        seconds = time.perf_counter() - started
        watcher.finish()
    spent = processor_seconds() - began
    first = watcher.first
    tracked = Tracked(result, seconds, spent, watcher.said, first, lazy)
    if show:
        print(f"{function.name} {tracked.sentence}", file=sys.stderr)
    if history is not None and spent >= _WORTH_KEEPING:
        _keep(history, function, graph, source, spent, convert_seconds)
    return tracked


def _watched_call(function: GraphFunction, graph: Any) -> tuple[Any, bool]:
    """Call the function; its frames are those inside this one."""
    result = function(graph)
    if not hasattr(result, "__next__"):
        consumed(result)
        return result, False
    return list(result), True


class _Watcher(threading.Thread):
    """Looks at a thread that runs a function, and shows how far it is."""

    def __init__(self, watched: int, expected: Figure | None, show: bool) -> None:
        super().__init__(name="predict-graph track", daemon=True)
        self._watched = watched
        self._watch = LoopWatch(_watched_call.__code__)
        self._ended = threading.Event()
        self._began = time.perf_counter()
        self._trail: list[tuple[float, float, float]] = []  # seconds, done, total
        self._loop = ""
        self._expected = expected
        self._bar = _Bar() if show else None
        self.said: list[Remaining] = []
        self.first = 0.0 if expected is None else expected.predicted

    def run(self) -> None:
        while not self._ended.wait(_EVERY):
            frame = sys._current_frames().get(self._watched)
            elapsed = time.perf_counter() - self._began
            try:
                seen = self._watch.look(frame)
            except Exception:  # the frames moved on in the middle of a look
                continue
            del frame
            self._take(elapsed, seen)
            remaining = self._remaining(elapsed)
            if remaining is not None:
                self.said.append(remaining)
                self.first = self.first or remaining.total
            if self._bar is not None:
                self._bar.show(elapsed, remaining)

    def finish(self) -> None:
        """End, and take the bar away."""
        self._ended.set()
        self.join()
        if self._bar is not None:
            self._bar.close()

    def _take(self, elapsed: float, seen: Sequence[Seen]) -> None:
        outer = seen[0] if seen else None
        if outer is None or not outer.bounded or outer.early or not outer.total:
            return
        again = bool(self._trail) and outer.done < self._trail[-1][1] - 1.0
        if outer.loop != self._loop or again:
            self._trail, self._loop = [], outer.loop
        self._trail.append((elapsed, outer.done, outer.total))

    def _remaining(self, elapsed: float) -> Remaining | None:
        if self._trail and self._trail[-1][1] - self._trail[0][1] >= _FEWEST_ROUNDS:
            return remaining_of(self._trail, elapsed)
        if self._expected is None:
            return None
        left = max(self._expected.predicted - elapsed, 0.05 * self._expected.predicted)
        share = min(elapsed / (elapsed + left), 0.99)
        return Remaining(elapsed, share, self._expected.scaled(left / self._expected.predicted))


def remaining_of(trail: Sequence[tuple[float, float, float]], elapsed: float) -> Remaining:
    """Return what remains of a loop, from seconds, rounds done and rounds in all at some moments.

    Examples
    --------
    >>> found = remaining_of([(1.0, 10.0, 100.0), (2.0, 20.0, 100.0)], 2.0)
    >>> round(found.remaining.predicted, 6), round(found.share, 6)
    (8.0, 0.2)
    """
    seconds, done, total = trail[-1]
    half = next(each for each in trail if each[1] >= (1.0 - _RECENT) * done)
    began = trail[0][0] - trail[0][1] * (seconds - trail[0][0]) / max(done - trail[0][1], 1.0)
    began = min(max(began, 0.0), trail[0][0])
    overall = (seconds - began) / max(done, 1.0)
    recent = (seconds - half[0]) / max(done - half[1], 1e-9) if done > half[1] else overall
    pace = 0.5 * (overall + recent)
    left = max(total - done, 0.0) * pace
    differ = abs(math.log(max(recent, 1e-9) / max(overall, 1e-9)))
    std = math.hypot(0.5 * differ, _STD / math.sqrt(max(done, 1.0)), 0.03)
    return Remaining(elapsed, done / total, Figure.spread(max(left, 0.0), std))


class _Bar:
    """A bar on standard error, or in a notebook; nothing where nobody watches."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        shown = console.is_terminal or console.is_jupyter
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            auto_refresh=False,
            disable=not shown,
        )
        self._task = self._progress.add_task("running", total=1.0, left="")
        self._shown = 0.0
        self._progress.start()

    def show(self, elapsed: float, remaining: Remaining | None) -> None:
        """Show what remains."""
        if remaining is None:
            self._progress.update(self._task, left="nothing tells yet how long")
        else:
            figure = remaining.remaining
            left = (
                f"{readable_seconds(figure.predicted)} left "
                f"({readable_seconds(figure.low)} to {readable_seconds(figure.high)})"
            )
            self._progress.update(self._task, completed=remaining.share, left=left)
        if elapsed - self._shown >= 0.5:
            self._shown = elapsed
            self._progress.refresh()

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()


def _expected(
    function: GraphFunction, graph: Any, source: Any, history: History | None
) -> Figure | None:
    """Return what earlier runs on other graphs foretell; None without any."""
    if history is None or not len(history.runs(algorithm=function.name, kind="run", limit=1)):
        return None
    import numpy as np

    from predict_graph.functions.drivers import drivers_of
    from predict_graph.functions.forms import as_graph
    from predict_graph.functions.records import earlier_points

    whole = source or as_graph(graph, directed=None, ids="integer", seed=0)
    points = earlier_points(history, function, whole)
    if not points:
        return None
    found = foretell(points, drivers_of(whole, np.random.default_rng(0)), whole.fingerprint)
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

    whole = source or as_graph(graph, directed=None, ids="integer", seed=0)
    drivers = drivers_of(whole, np.random.default_rng(0))
    keep_run(history, function, whole, drivers, seconds=seconds, convert_seconds=convert_seconds)
