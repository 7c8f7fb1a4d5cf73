"""A backend of networkx that predicts and watches long calls, and computes nothing itself.

Opt-in: ``nx.config.backend_priority = ["predict_graph"]``, or the environment variable
``NETWORKX_BACKEND_PRIORITY=predict_graph``. Each call is then made by networkx as ever. One that
lasts longer than a second is predicted from the atlas and watched, in a thread, which writes to the
log ``predict_graph`` (to standard error where no handler is set) if it takes longer than the
threshold: ``nx.config.backends.predict_graph.threshold``, 10 seconds by default.
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
_THRESHOLD = 10.0  # seconds: limits what is spoken of; a documented default
_PATIENCE = 1.0  # limits the cost: seconds of a call before anything is done about it
_SMALL = 1000  # limits the cost: vertices of graphs on which unknown functions are not watched
_BRIEF = 60.0  # limits the cost: units of the atlas, a third of a second, that are not watched
_FIRST_PAUSE, _LAST_PAUSE = 5.0, 60.0  # limits the output: seconds between lines
_EVERY = 0.25  # limits the cost: seconds between two observations
_log = logging.getLogger(NAME)
_inside = threading.local()


def get_info() -> dict[str, Any]:
    """Return what networkx wants to know before it loads the backend."""
    return {
        "backend_name": NAME,
        "short_summary": "predicts and watches long calls; networkx computes",
        "default_config": {"threshold": _THRESHOLD},
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
        """Whether a call may last; takes some microseconds."""
        graph: Any = args[0] if args else kwargs.get("G")
        if not hasattr(graph, "_adj"):
            return False
        vertices = len(graph)
        rows = islice(graph._adj.values(), 8)
        edges = vertices * max(map(len, rows), default=0)
        from predict_graph.functions.atlas_file import rough_runs

        known = rough_runs("networkx").get(name)
        if known is None:
            return vertices > _SMALL
        return not any(n >= vertices and m >= edges and u < _BRIEF for n, m, u in known)

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Return the graph itself."""
        return graph

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        """Return the result itself."""
        return result


backend = _Backend()


def _watched(algorithm: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Make a call that a thread watches."""
    graph = args[0] if args else kwargs.get("G")
    cache = getattr(graph, "__networkx_cache__", None) or {}
    cache.get("backends", {}).pop(NAME, None)  # nothing was converted
    call = _Call(algorithm, graph, args, kwargs)
    threading.Thread(target=call.watch, name="predict-graph backend", daemon=True).start()
    _inside.call = True
    try:
        return _called(algorithm.orig_func, *args, **kwargs)
    finally:
        _inside.call = False
        call.ended.set()


def _called(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the function; its frames are those inside this one."""
    return function(*args, **kwargs)


class _Call:
    """A call in progress, of the thread that makes it."""

    def __init__(
        self, algorithm: Any, graph: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self.ended = threading.Event()
        self._algorithm, self._graph, self._arguments = algorithm, graph, (args, kwargs)
        self._thread, self._began = threading.get_ident(), time.perf_counter()

    def watch(self) -> None:
        """Predict the call if it lasts, and say how far it is, until it ends."""
        try:
            if not self.ended.wait(_PATIENCE):
                self._watch()
        except Exception as error:  # the call goes on, whatever this makes of it
            _log.debug("%s is not watched: %r", self._algorithm.name, error)

    def _watch(self) -> None:
        import networkx

        from predict_graph.durations import readable_seconds
        from predict_graph.functions.track import Watcher

        threshold = float(networkx.config.backends.predict_graph.threshold)
        name, prediction = f"networkx:{self._algorithm.name}", self._predicted()
        expected = None if prediction is None else prediction.runtime_seconds
        if expected is not None and expected.predicted > threshold:
            advice = "".join(f"; {each}" for each in prediction.advice)
            _log.warning("%s: %s%s", name, prediction.verdict.sentence, advice)
        watcher = Watcher(self._thread, _called.__code__, expected, self._began)
        said = time.perf_counter()
        while not self.ended.wait(_EVERY):
            moment, now = watcher.observe(), time.perf_counter()
            pause = min(max(_FIRST_PAUSE, (now - self._began) / 3.0), _LAST_PAUSE)
            if moment is None or now - said < pause:
                continue
            said = now
            if (moment.total or moment.elapsed) > threshold:
                after = f"{readable_seconds(moment.elapsed)} elapsed{watcher.progress}"
                _log.warning("%s: %s", name, ", ".join(filter(None, (after, moment.left))))

    def _predicted(self) -> Any:
        """Return what the atlas says of the call; None where it does not have it."""
        from predict_graph.errors import PredictGraphError
        from predict_graph.functions.sizes import GraphSize, predict_by_size

        graph, (positional, keywords) = self._graph, self._arguments
        size = GraphSize(len(graph), graph.number_of_edges(), graph.is_directed())
        name = f"networkx:{self._algorithm.name}"
        others = {key: value for key, value in keywords.items() if value is not graph}
        try:
            return predict_by_size(name, size, arguments=positional[1:], keywords=others)
        except PredictGraphError:
            return None
