"""What would make a long call short: fewer of its own samples, measured; a compiled library.

Nothing is assumed of a parameter: on a sample of the graph, the function runs with an eighth of it,
and only if that takes less than half of the time is it worth a word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec

from predict_graph.durations import readable_seconds
from predict_graph.functions.naming import GraphFunction, signature_of

__all__ = ["LONG", "Trial", "alike", "fewer", "quantity", "size_parameter", "trial_of"]

LONG = 600.0
"""Seconds of a call from which fewer samples are worth measuring: patience, not tuned."""
_WORTH_A_WORD = 60.0  # seconds from which another library is worth naming; a choice
_SIZES = ("k", "nsamples", "n_samples", "num_samples", "samples")
_PART = 8  # of the vertices of a sample: the value that is tried; a choice
_EFFECT = 0.5  # of the time that it may take at most, to have an effect; a choice
_SHORTER = 20.0  # times, that the advice is for; a choice

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


@dataclass(frozen=True)
class Trial:
    """A parameter that says how many vertices a function takes, and the value to try on a sample.

    Parameters
    ----------
    name : str
    value : int
    """

    name: str
    value: int


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


def trial_of(function: GraphFunction, vertices: int) -> Trial | None:
    """Return what to try on a sample of so many vertices; None if there is nothing."""
    name = size_parameter(function)
    return Trial(name, vertices // _PART) if name is not None and vertices >= 2 * _PART else None


def fewer(
    trial: Trial, vertices: int, tried: float, whole: float, *, graph: int, seconds: float
) -> str:
    """Return in words what a smaller value would take; nothing if it has no effect.

    Parameters
    ----------
    trial : Trial
        On a sample of `vertices`, where it took `tried` seconds, and all of it `whole`.
    graph : int
        Vertices of the graph.
    seconds : float
        Of the call on the graph.

    Examples
    --------
    >>> fewer(Trial("k", 100), 800, 0.2, 1.6, graph=100_000, seconds=777_600.0)
    'k=5,000 would take about 10.8 h: on a sample of 800 vertices k=100 took 12% of the time'
    >>> fewer(Trial("k", 100), 800, 1.5, 1.6, graph=100_000, seconds=777_600.0)
    ''
    """
    part = tried / whole
    if not 0.0 < part < _EFFECT:
        return ""
    # Judgement: powers.
    power = min(max(math.log(part) / math.log(trial.value / vertices), 0.3), 1.2)
    value = graph * _SHORTER ** (-1.0 / power)
    digits = 10 ** math.floor(math.log10(max(value, 1.0)))
    value = max(round(value / digits) * digits, 1)
    predicted = readable_seconds(seconds * (value / graph) ** power)
    return (
        f"{trial.name}={value:,} would take about {predicted}: on a sample of {vertices:,} "
        f"vertices {trial.name}={trial.value:,} took {part:.0%} of the time"
    )


def alike(function: GraphFunction, seconds: float) -> str:
    """Return in words which installed library offers the same, compiled; nothing if none does.

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
