"""Bundled runs of common functions: a baseline for functions that never ran here.

Made by ``python -m benchmarks.function_priors``, on parts of public graphs and on generated ones.
Seconds are kept relative to a small workload of the same kind, a search of a graph in Python or in
compiled code, which is timed here as it was there.
"""

from __future__ import annotations

import json
import time
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from predict_graph.functions.drivers import DRIVERS, searches
from predict_graph.functions.growth import Point
from predict_graph.functions.naming import GraphFunction, signature_of

FILE = "shipped.json"
"""Where the runs are, beside this module."""

_TIMES = 5  # repetitions of a workload, whose least time is taken: limits the cost
_NODES = 2000  # vertices of the workload: limits the cost
_STEPS = (1, 17, 389)  # by definition of the file: a ring with chords, far apart in memory


def shipped_points(function: GraphFunction) -> list[Point]:
    """Return the bundled runs of a function with the same arguments.

    Examples
    --------
    >>> from predict_graph.functions.naming import check_function
    >>> len(shipped_points(check_function("networkx:closeness_centrality"))) > 5
    True
    >>> shipped_points(check_function("networkx:closeness_centrality", keywords={"u": 3}))
    []
    """
    found = _content()["functions"].get(function.name)
    if found is None or found["arguments"] != plain_arguments(function):
        return []
    graphs = _content()["graphs"]
    unit = probe_seconds(compiled=function.form != "networkx")
    points = []
    for key, cost in found["runs"]:
        drivers = dict(zip(DRIVERS, graphs[key], strict=True))
        points.append(Point(drivers, cost * unit, "", f"shipped: {graph_of(key)}", shipped=True))
    return points


def graph_of(key: str) -> str:
    """Return the graph whose part has this key.

    Examples
    --------
    >>> graph_of("small world 400"), graph_of("epinions, both ways 800")
    ('small world', 'epinions')
    """
    return key.rpartition(" ")[0].partition(",")[0]


def plain_arguments(function: GraphFunction) -> dict[str, Any]:
    """Return the arguments of a function that are neither a seed nor defaults.

    Examples
    --------
    >>> from predict_graph.functions.naming import check_function
    >>> given = {"seed": 1, "resolution": 1, "threshold": 0.1}
    >>> plain_arguments(check_function("networkx:louvain_communities", keywords=given))
    {'threshold': 0.1}
    """
    try:
        signature = signature_of(function.call)
        bound = signature.bind(None, *function.positional, **function.keywords).arguments
    except (TypeError, ValueError):
        return function.arguments
    parameters = signature.parameters
    own = list(bound.items())[1:]
    return {
        name: value
        for name, value in own
        if name != "seed" and not _same(value, parameters[name].default)
    }


def _same(value: Any, default: Any) -> bool:
    return value is default or bool(np.all(value == default))


@lru_cache(maxsize=2)
def probe_seconds(*, compiled: bool) -> float:
    """Return the seconds of a small search of a graph, in Python or in compiled code."""
    work = _compiled_work if compiled else _python_work
    work()
    return min(_timed(work) for _ in range(_TIMES))


def _timed(work: Any) -> float:
    began = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - began) * 1e-9


@lru_cache(maxsize=1)
def _ring() -> dict[int, dict[int, dict[str, Any]]]:
    """Return a graph as networkx holds one."""
    return {
        v: {(v + sign * step) % _NODES: {} for step in _STEPS for sign in (1, -1)}
        for v in range(_NODES)
    }


def _python_work() -> None:
    graph = _ring()
    for start in (0, 7, 70):
        seen, level = {start: 0}, [start]
        while level:
            following = []
            for v in level:
                for w in graph[v]:
                    if w not in seen:
                        seen[w] = seen[v] + 1
                        following.append(w)
            level = following


@lru_cache(maxsize=1)
def _compiled_ring() -> tuple[Any, Any]:
    """Return such a graph in compressed rows, forty times as large."""
    vertices = 40 * _NODES
    steps = np.array([sign * step for step in _STEPS for sign in (1, -1)])
    ends = (np.arange(vertices)[:, None] + steps) % vertices
    return np.arange(vertices + 1, dtype=np.int64) * len(steps), ends.astype(np.int32).ravel()


def _compiled_work() -> None:
    indptr, indices = _compiled_ring()
    searches(indptr, indices, np.arange(4, dtype=np.int64), 8 * len(indices))


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    text = files("predict_graph.functions").joinpath(FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
