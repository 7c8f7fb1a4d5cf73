"""The atlas: runs of public functions on graphs of every kind, measured on another machine.

Their times are in units of :func:`measured_unit`, which each machine measures for itself. Of some
functions of networkx, the atlas has the same of a compiled library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.functions import naming
from predict_graph.functions.atlas_file import FILE, content
from predict_graph.functions.growth import NOTHING, Point, extrapolate
from predict_graph.timing import clock

MACHINE = "atlas"
"""Of the points of the atlas: what their machine differs in is shared by all of them."""


def measured_unit(
    vertices: int = 3000, degree: int = 8, searches: int = 4, repeats: int = 5
) -> float:
    """Return the CPU seconds of breadth-first searches in plain Python: the unit of the atlas."""
    ends = np.random.default_rng(0).integers(vertices, size=(vertices, degree)).tolist()
    rows = {vertex: dict.fromkeys(row) for vertex, row in enumerate(ends)}
    taken = []
    for start in range(repeats):
        began = clock.thread()
        for _ in range(searches):
            seen, level = {start}, [start]
            while level:
                following = []
                for vertex in level:
                    for other in rows[vertex]:
                        if other not in seen:
                            seen.add(other)
                            following.append(other)
                level = following
        taken.append(clock.thread() - began)
    return float(np.median(taken))


def atlas_points(function: naming.GraphFunction) -> list[Point]:
    """Return runs of a function with the same arguments, in seconds of this machine."""
    known, graphs = (content(FILE)[name] for name in ("functions", "graphs"))
    rows = known.get(key_of(function), [])
    unit = measured_unit() if rows else 0.0
    return [
        Point(drivers, units * unit, "", kind, machine=MACHINE, peak_bytes=2.0**20 * peak)
        for (kind, drivers), units, peak in ((graphs[place], *rest) for place, *rest in rows)
    ]


def key_of(function: naming.GraphFunction) -> str:
    """Return what calls of equal cost have in common: function and unusual arguments.

    Without seeds, and without vertices of the graph that a function requires; others are 0: one
    that is given may stand for all of them.

    Examples
    --------
    >>> key_of(naming.check_function("networkx:betweenness_centrality", (60,), {"seed": 1}))
    'networkx:betweenness_centrality {"k": 60}'
    >>> key_of(naming.check_function("networkx:shortest_path", keywords={"source": 7}))
    'networkx:shortest_path {"source": 0}'
    >>> key_of(naming.check_function("networkx:bfs_tree", keywords={"source": 7}))
    'networkx:bfs_tree'
    """
    known = function.parameters.items()
    optional = {name for name, each in known if each.default is not each.empty}
    vertices, arguments = naming.VERTEX_PARAMETERS, naming.unusual_arguments(function)
    arguments |= dict.fromkeys(vertices & arguments.keys(), 0)
    left_out = {"seed", *(vertices - optional)}
    kept = {name: value for name, value in sorted(arguments.items()) if name not in left_out}
    return f"{function.name} {json.dumps(kept)}" if kept else function.name


_ALIKE = {
    "networkx:average_shortest_path_length": "igraph:average_path_length",
    "networkx:betweenness_centrality": "igraph:betweenness",
    "networkx:closeness_centrality": "igraph:closeness",
    "networkx:clustering": "igraph:transitivity_local_undirected",
    "networkx:core_number": "igraph:coreness",
    "networkx:diameter": "igraph:diameter",
    "networkx:eccentricity": "igraph:eccentricity",
    "networkx:eigenvector_centrality": "igraph:eigenvector_centrality",
    "networkx:harmonic_centrality": "igraph:harmonic_centrality",
    "networkx:label_propagation_communities": "igraph:community_label_propagation",
    "networkx:louvain_communities": "igraph:community_multilevel",
    "networkx:pagerank": "igraph:pagerank",
}


def compiled_alternatives(
    function: naming.GraphFunction,
    seconds: float,
    drivers: Mapping[str, float],
    stretch: float = 1.0,
    least: float = 60.0,
) -> list[str]:
    """Return the advice to try an installed library that offers the same, with its time.

    Of a call of `least` seconds or more; `stretch` is how many of them a second of the CPU takes.
    With arguments it may be another thing: k vertices of betweenness are not all of them.
    """
    other, unusual = _ALIKE.get(function.name), naming.unusual_arguments(function).keys()
    if not other or unusual - {"seed"} or seconds < least or not find_spec(other.split(":")[0]):
        return []
    known = atlas_points(naming.check_function(other))
    found = extrapolate(known, drivers, "", names=(*drivers, NOTHING))
    taken = math.nan if found is None else stretch * found.cost
    if taken > 0.5 * seconds:
        return []  # not clearly faster
    takes = "is compiled" if found is None else f"takes about {readable_seconds(taken)}"
    both = f"compare-functions GRAPH {function.name} {other}"
    return [f"{other} (alike, perhaps scaled otherwise) {takes}; to compare times: {both}"]


def quantity(name: str) -> str:
    """Return what a function of a graph library computes, alike for all libraries; else its name.

    Examples
    --------
    >>> quantity("networkx:betweenness_centrality"), quantity("networkit:centrality.Betweenness")
    ('betweenness', 'betweenness')
    >>> quantity("networkx:core_number"), quantity("mine.py:betweenness")
    ('coreness', 'mine.py:betweenness')
    """
    if name.partition(":")[0] not in ("networkx", "igraph", "networkit"):
        return name
    last = _ALIKE.get(name, name).rpartition(":")[2].rpartition(".")[2]
    return last.lower().replace("_", "").removesuffix("centrality")
