"""Functions of networkx that another library offers, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from predict_graph.durations import readable_seconds
from predict_graph.functions.atlas import atlas_points
from predict_graph.functions.growth import NOTHING, extrapolate
from predict_graph.functions.naming import GraphFunction, check_function, unusual_arguments

_ALIKE = {
    "average_shortest_path_length": "igraph:average_path_length",
    "betweenness_centrality": "igraph:betweenness",
    "closeness_centrality": "igraph:closeness",
    "clustering": "igraph:transitivity_local_undirected",
    "core_number": "igraph:coreness",
    "diameter": "igraph:diameter",
    "eccentricity": "igraph:eccentricity",
    "eigenvector_centrality": "igraph:eigenvector_centrality",
    "harmonic_centrality": "igraph:harmonic_centrality",
    "label_propagation_communities": "igraph:community_label_propagation",
    "louvain_communities": "igraph:community_multilevel",
    "pagerank": "igraph:pagerank",
}


def compiled_alternatives(
    function: GraphFunction, seconds: float, drivers: Mapping[str, float], least: float = 60.0
) -> list[str]:
    """Return the advice to try an installed library that offers the same, with its time.

    Of a call of `least` seconds or more. With arguments it may be another thing: k vertices of
    betweenness are not all of them.
    """
    if unusual_arguments(function).keys() - {"seed"}:
        return []
    library, _, name = function.name.partition(":")
    other = _ALIKE.get(name, "") if library == "networkx" else ""
    if not other or seconds < least or find_spec(other.partition(":")[0]) is None:
        return []
    known = atlas_points(check_function(other))
    found = extrapolate(known, drivers, "", names=(*drivers, NOTHING))
    time = "" if found is None else f" in about {readable_seconds(found.cost)}"
    both = f"compare-functions GRAPH {function.name} {other}"
    return [f"{other} computes the same{time}, compiled: {both}"]


def quantity(name: str) -> str:
    """Return what a function of a graph library computes, alike for all libraries; else its name.

    Examples
    --------
    >>> quantity("networkx:betweenness_centrality"), quantity("networkit:centrality.Betweenness")
    ('betweenness', 'betweenness')
    >>> quantity("networkx:core_number"), quantity("mine.py:betweenness")
    ('coreness', 'mine.py:betweenness')
    """
    library, _, own = name.partition(":")
    if library not in ("networkx", "igraph", "networkit"):
        return name
    other = _ALIKE.get(own, own) if library == "networkx" else own
    last = other.rpartition(":")[2].rpartition(".")[2]
    return last.lower().replace("_", "").removesuffix("centrality")
