"""The graphs of the study, read once, and what real runs on them do: the truth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph, check_graph

DIRECTED = ("web-NotreDame", "uk-2007-05@100000", "soc-Epinions1", "wiki-Vote", "p2p-Gnutella31")
UNDIRECTED = ("email-Enron", "musae_facebook", "musae_git", "deezer_HU")
RMAT = {
    "rmat 16": "rmat:scale=16,edge_factor=32,seed=1",
    "rmat 18": "rmat:scale=18,edge_factor=16,seed=1",
}
SCALE_FREE = (*DIRECTED, *UNDIRECTED, *RMAT)
MESH = "wing"
ALL = (*SCALE_FREE, MESH)
QUICK = ("wiki-Vote", "p2p-Gnutella31", MESH)

_truths: dict[tuple[str, str], RunProfile] = {}


def source(name: str) -> str:
    """What the library calls a graph of the study."""
    return RMAT.get(name, name)


def direction(name: str, algorithm: Algorithm) -> bool:
    """Whether the edges of a graph have a direction for an algorithm."""
    return not algorithm.undirected and (name in DIRECTED or name in RMAT)


@cache
def read(name: str, directed: bool) -> Graph:
    return check_graph(source(name), directed=directed)


def graph_for(algorithm: Algorithm, name: str) -> Graph:
    return read(name, direction(name, algorithm))


def truth(algorithm: Algorithm, name: str) -> RunProfile:
    """The real run of an algorithm on a graph, without its result."""
    key = (repr(algorithm), name)
    if key not in _truths:
        profile = LocalEngine().run(algorithm, graph_for(algorithm, name))
        _truths[key] = replace(profile, values=np.empty(0), prior=_light(profile.prior))
    return _truths[key]


def _light(profile: RunProfile | None) -> RunProfile | None:
    return None if profile is None else replace(profile, values=np.empty(0))
