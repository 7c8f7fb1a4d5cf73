"""A backend of networkx that predicts and watches long calls, and computes nothing itself.

Opt-in: ``nx.config.backend_priority = ["predict_graph"]``, or the environment variable
``NETWORKX_BACKEND_PRIORITY=predict_graph``. Each call is then made by networkx as ever. One that
lasts longer than a second is predicted from the atlas and watched, in a thread,
which writes to the log ``predict_graph`` (to standard error where no handler is set) if it takes
longer than the threshold: ``nx.config.backends.predict_graph.threshold``, 10 seconds by default.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

NAME = "predict_graph"
_log = logging.getLogger(NAME)
_inside = threading.local()
# Limits of what is watched: vertices of a graph, and units of the atlas, a third of a second.
_SMALL, _BRIEF = 1000, 60.0


def get_info() -> dict[str, Any]:
    """Return what networkx wants to know before it loads the backend."""
    return {
        "backend_name": NAME,
        "short_summary": "predicts and watches long calls; networkx computes",
        "default_config": {"threshold": 10.0},
    }


class _Backend:
    """Has every function of networkx, for graphs of networkx."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from networkx.utils.backends import _registered_algorithms

        if name not in _registered_algorithms:
            raise AttributeError(name)
        return partial(_watched, _registered_algorithms[name])

    @staticmethod
    def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether a call is one of the user's own, and not one inside another."""
        return not getattr(_inside, "call", False)

    @staticmethod
    def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether a call may last; takes some microseconds.

        Unknown functions do not on small graphs, nor known ones that were brief on larger ones.
        """
        graph: Any = args[0] if args else kwargs.get("G")
        if not hasattr(graph, "_adj"):
            return False
        vertices = len(graph)
        rows = islice(graph._adj.values(), 8)
        edges = vertices * max(map(len, rows), default=0)
        from predict_graph.functions.atlas_file import rough_runs

        known = rough_runs().get(f"networkx:{name}")
        if known is None:
            return vertices > _SMALL
        return not any(n >= vertices and m >= edges and u < _BRIEF for n, m, u in known)

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Return the graph, or the result, itself."""
        return graph

    convert_to_nx = convert_from_nx


backend = _Backend()


def _watched(algorithm: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Make a call that a thread watches."""
    for each in (*args, *kwargs.values()):
        cache = getattr(each, "__networkx_cache__", None) or {}
        cache.get("backends", {}).pop(NAME, None)  # nothing was converted
    call, ended = partial(algorithm, *args, **kwargs), threading.Event()
    given = call, ended, threading.get_ident(), time.perf_counter()
    threading.Thread(target=_watch, args=given, name="predict-graph backend", daemon=True).start()
    _inside.call = True
    try:
        return algorithm.orig_func(*args, **kwargs)
    finally:
        _inside.call = False
        ended.set()


def _watch(call: Any, *given: Any) -> None:
    try:
        _report(call, *given)
    except Exception as error:  # the call goes on, whatever this makes of it
        _log.debug("%s is not watched: %r", call.func.name, error)


def _report(call: Any, ended: threading.Event, thread: int, began: float) -> None:
    """Predict a call of a thread if it lasts, and say how far it is, until it ends.

    It lasts from a tenth of the threshold on, or a second. A line is logged every five seconds, or
    half a threshold, at first, and every minute at last.
    """
    import networkx

    threshold = float(networkx.config.backends.predict_graph.threshold)
    if ended.wait(min(max(threshold / 10.0, 0.1), 1.0)):
        return
    from predict_graph.durations import readable_seconds
    from predict_graph.functions.track import Watcher

    name, prediction = f"networkx:{call.func.name}", predicted(call)
    expected = None if prediction is None else prediction.runtime_seconds
    if expected is not None and expected.predicted > threshold:
        advice = "".join(f"; {each}" for each in prediction.advice)
        _log.warning("%s: %s%s", name, prediction.verdict.sentence, advice)
    watcher = Watcher(thread, _watched.__code__, expected, began, _graph_of(call))
    said = time.perf_counter()
    first = min(max(threshold / 2.0, 0.5), 5.0)
    while not ended.wait(first / 20.0):
        moment, now = watcher.observe(), time.perf_counter()
        pause = min(max(first, (now - began) / 3.0), 60.0)
        if moment is None or now - said < pause:
            continue
        said = now
        if (moment.total or moment.elapsed) > threshold:
            after = f"{readable_seconds(moment.elapsed)} elapsed{watcher.progress}"
            _log.warning("%s: %s", name, ", ".join(filter(None, (after, moment.left))))


def _graph_of(call: Any) -> Any:
    """Return what a call is about: its first argument."""
    return call.args[0] if call.args else call.keywords.get("G")


def predicted(call: Any) -> Any:
    """Return what the atlas says of a call; None where it does not have it."""
    from predict_graph.errors import PredictGraphError
    from predict_graph.functions.naming import check_function
    from predict_graph.functions.sizes import GraphSize, predict_by_size

    graph = _graph_of(call)
    others = {key: value for key, value in call.keywords.items() if value is not graph}
    name = f"networkx:{call.func.name}"
    try:
        size = GraphSize(len(graph), graph.number_of_edges(), graph.is_directed())
        return predict_by_size(check_function(name, call.args[1:], others), size)
    except PredictGraphError:
        return None
