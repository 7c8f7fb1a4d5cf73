"""What would make a long call short: fewer of its own samples, measured; a compiled library.

Nothing is assumed of a parameter: on a sample of the graph, the function runs with an eighth of it,
and only if that takes less than half of the time is it worth a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec

from predict_graph.durations import readable_seconds
from predict_graph.functions.naming import GraphFunction, signature_of

LONG = 600.0
"""Seconds of a call from which fewer samples are worth measuring: patience, not tuned."""
_WORTH_A_WORD = 60.0  # limits hints at another library to calls of so many seconds
_SIZES = ("k", "nsamples", "n_samples", "num_samples", "samples")
_PART = 8  # limits what is tried to an eighth of the vertices of a sample
_EFFECT = 0.5  # limits the time that this may take to have an effect, share
_SHORTER = 20.0  # limits the advice: so many times shorter

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


def size_parameter(function: GraphFunction) -> str | None:
    """Return the parameter by which a function takes a sample of the vertices, if it is not given.

    Examples
    --------
    >>> import networkx
    >>> from predict_graph.functions.naming import check_function
    >>> size_parameter(check_function("networkx:betweenness_centrality"))
    'k'
    >>> size_parameter(check_function("networkx:betweenness_centrality", keywords={"k": 9}))
    >>> size_parameter(check_function("networkx:k_core"))
    """
    try:
        parameters = signature_of(function.call).parameters
    except (TypeError, ValueError):
        return None
    given = {*function.keywords, *list(parameters)[1 : 1 + len(function.positional)]}
    for name in _SIZES:
        # Where None is the default, it stands for all vertices; k of a k-core has another meaning.
        if name in parameters and name not in given and parameters[name].default is None:
            return None if function.name.endswith("k_core") else name
    return None


def fewer(
    function: GraphFunction,
    vertices: int,
    whole: float,
    measured: Callable[[dict[str, int]], float],
    *,
    graph: int,
    seconds: float,
) -> str:
    """Return the advice of a smaller value of such a parameter; empty if it has no effect.

    On a sample of `vertices` the function took `whole` seconds, and takes those `measured` with
    other keywords; on the graph it takes `seconds`.

    Examples
    --------
    >>> from predict_graph.functions.naming import check_function
    >>> function = check_function("networkx:betweenness_centrality")
    >>> fewer(function, 800, 1.6, lambda k: 0.2, graph=100_000, seconds=777_600.0)
    'k=5,000 would take about 10.8 h: on a sample of 800 vertices k=100 took 12% of the time'
    >>> fewer(function, 800, 1.6, lambda k: 1.5, graph=100_000, seconds=777_600.0)
    ''
    """
    name, tried = size_parameter(function), vertices // _PART
    if name is None or tried < 2:
        return ""
    part = measured({name: tried}) / whole
    if not 0.0 < part < _EFFECT:
        return ""
    # Between the root of the value and a little more than the value: not tuned.
    power = min(max(math.log(part) / math.log(tried / vertices), 0.3), 1.2)
    value = graph * _SHORTER ** (-1.0 / power)
    digits = 10 ** math.floor(math.log10(max(value, 1.0)))
    value = max(round(value / digits) * digits, 1)
    predicted = readable_seconds(seconds * (value / graph) ** power)
    return (
        f"{name}={value:,} would take about {predicted}: on a sample of {vertices:,} "
        f"vertices {name}={tried:,} took {part:.0%} of the time"
    )


def alike(function: GraphFunction, seconds: float) -> str:
    """Return the advice of an installed library that offers the same, compiled; empty without one.

    With arguments it may be another thing: k vertices of betweenness are not all of them.
    """
    if {*function.keywords} - {"seed"} or function.positional:
        return ""
    library, _, name = function.name.partition(":")
    other = _ALIKE.get(name, "") if library == "networkx" else ""
    if not other or seconds < _WORTH_A_WORD or find_spec(other.partition(":")[0]) is None:
        return ""
    return f"{other} offers the same, compiled: compare-functions GRAPH {function.name} {other}"


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
