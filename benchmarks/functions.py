"""Public functions of graph libraries, and graphs of every kind to run them on."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Iterator
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Any

import igraph
import networkit
import networkx
import numpy as np
from scipy.sparse import csgraph
from scipy.sparse.csgraph import breadth_first_order

from predict_graph.functions.naming import GraphFunction, check_function, signature_of, with_seed
from predict_graph.functions.subject import connected_vertices
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges, symmetric

SHARED = {
    "enron": "email-Enron.txt.gz",
    "notredame": "web-NotreDame.txt.gz",
    "road": "road-sf.txt.gz",
    "wiki-vote": "wiki-Vote.txt.gz",
    "mesh": "mesh-fe_body.txt.gz",
    "facebook": "musae_facebook_edges.csv.gz",
    "gnutella": "p2p-Gnutella31.txt.gz",
    "protein": "protein-human.txt.gz",
    "brightkite": "loc-brightkite.txt.gz",
    "epinions": "soc-Epinions1.txt.gz",
    "github": "musae_git_edges.csv.gz",
    "deezer": "gemsec_deezer_HU_edges.csv.gz",
    "twitch": "twitch-de.txt.gz",
    "check-ins": "checkins-nyc.txt.gz",
    "wing": "wing.graph.gz",
    "words": "kg-wn18rr.txt.gz",
}
DIRECTED = ("epinions", "wiki-vote", "gnutella", "notredame")
GENERATED = {
    "preferential": "barabasi-albert:n={n},m=5,seed=5",
    "small world": "watts-strogatz:n={n},k=8,p=0.05,seed=5",
    "clustered": "powerlaw-cluster:n={n},m=6,p=0.5,seed=5",
    "grid": "grid:rows={root},columns={root}",
    "tree": "barabasi-albert:n={n},m=1,seed=5",
    "random": "erdos-renyi:n={n},p={p},seed=9",
}
_VERTICES = {"source": 0, "s": 0, "u": 0, "root": 0, "node": 0, "start": 0, "v": 1, "target": 1}
_VALUES = {**_VERTICES, "t": 1, "k": 3, "n": 3, "number_of_nodes": 100, "sources": [0, 1, 2]}
_LEFT_OUT = ("draw", "write", "save", "add_", "delete_", "rewire", "permute", "to_", "layout_auto")
# Functions of igraph that change or copy a graph, or say what it holds.
_PLAIN = (
    *("attributes", "edge_attributes", "vertex_attributes", "clear", "copy", "summary", "vcount"),
    *("ecount", "is_directed", "is_named", "is_weighted", "layout", "has_multiple"),
)

_NETWORKIT = ("centrality", "clique", "coloring", "community", "components", "distance")


def functions() -> Iterator[GraphFunction]:
    """Yield the public functions of the libraries whose arguments are known."""
    homes = (
        ("networkx", networkx),
        ("networkx", networkx.algorithms.community),
        ("networkx.approximation", networkx.approximation),
        ("scipy.sparse.csgraph", csgraph),
    )
    seen: set[str] = set()
    for place, home in homes:
        for name, found in sorted(vars(home).items()):
            module = getattr(found, "__module__", "") or ""
            inside = ("networkx.algorithms", "networkx.linalg", "networkx.drawing.layout", "scipy")
            if name.startswith("_") or inspect.isclass(found) or not module.startswith(inside):
                continue
            if callable(found) and not name.startswith(_LEFT_OUT):
                yield from _checked(f"{place}:{name}", found, seen, ("G", "graph", "csgraph"))
    for name in sorted(dir(igraph.Graph)):
        if name.startswith("_") or name.startswith(_LEFT_OUT) or name in _PLAIN:
            continue
        kind = inspect.getattr_static(igraph.Graph, name)
        if name[0].islower() and not isinstance(kind, classmethod | staticmethod | property):
            yield from _checked(f"igraph:{name}", getattr(igraph.Graph, name), seen)
    for place in (*_NETWORKIT, "matching", "sparsification"):
        for name, found in sorted(vars(getattr(networkit, place)).items()):
            # Classes in C have no signature; their documentation begins with one.
            text = (getattr(found, "__doc__", None) or "").strip().partition("\n")[0]
            first, *others = text.removeprefix(f"{name}(").removesuffix(")").split(",")
            if hasattr(found, "run") and first == "G" and all("=" in other for other in others):
                yield with_seed(check_function(f"networkit:{place}.{name}"), 1)


def _checked(
    text: str, found: Callable[..., Any], seen: set[str], names: tuple[str, ...] = ()
) -> Iterator[GraphFunction]:
    """Yield a function with values for the arguments that it requires, if they are known."""
    try:
        first, *rest = signature_of(found).parameters.values()
    except (TypeError, ValueError):
        return
    if names and first.name not in names:
        return
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    required = [each.name for each in rest if each.default is each.empty and each.kind in named]
    if not set(required) <= _VALUES.keys():
        return
    function = with_seed(check_function(text, (), {name: _VALUES[name] for name in required}), 1)
    if function.name not in seen:
        seen.add(function.name)
        yield function


def graph_of(kind: str, size: int) -> Graph | None:
    """Return a connected graph of a kind; None where the kind has none so large.

    Of a shared graph it is a ball of a breadth-first search, which no sampler here draws.
    """
    if kind == "citations":
        made = check_graph(f"barabasi-albert:n={size},m=4,seed=6")
        sources = np.repeat(np.arange(made.vertices), made.out_degrees)
        older = sources > made.indices
        ends = sources[older], made.indices[older]
        return from_edges(*ends, vertices=size, directed=True, name=kind)
    if kind in GENERATED:
        root = max(int(size**0.5), 2)
        text = GENERATED[kind].format(n=size, root=root, p=min(8.0 / size, 1.0))
        return connected(check_graph(text))
    graph = whole(kind)
    if size > 1.5 * graph.vertices:
        return None
    return connected(graph.subgraph(np.sort(_ball(kind)[:size])))


def connected(graph: Graph) -> Graph:
    """Return the largest weakly connected part."""
    return graph.subgraph(connected_vertices(graph, "weak"))


@cache
def whole(name: str) -> Graph:
    """Read a shared graph; kept, because parts of many sizes are made of it."""
    path = Path(os.environ["PREDICT_GRAPH_DATA"]) / "graphs" / SHARED[name]
    return check_graph(path, directed=name in DIRECTED)


@cache
def _ball(name: str) -> Any:
    """Return the vertices in the order of a breadth-first search that ignores directions."""
    graph = whole(name)
    both = symmetric(graph) if graph.directed else graph
    largest = connected_vertices(both, "weak")
    start = int(np.random.default_rng(seed_of(name)).choice(largest))
    return breadth_first_order(both.to_scipy(), start, return_predecessors=False)


def seed_of(*parts: Any) -> int:
    """Return a seed that is the same in every run."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=4).digest(), "big")
