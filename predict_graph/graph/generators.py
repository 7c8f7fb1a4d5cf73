"""Graphs made by name: ``rmat:scale=18,edge_factor=16,seed=1``.

A generator is a function whose keyword parameters, with their annotations, are what the text may
set. Other packages register theirs in the entry-point group ``predict_graph.generators``.

The classic random graphs are those of networkx; the shapes are built directly. All are undirected
unless `directed` is true: then a shape has its edges from the lower to the higher vertex only (a
cycle is closed by an edge to vertex 0).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from predict_graph.arrays import IntArray
from predict_graph.errors import RequestError, explained
from predict_graph.graph.build import as_asked, from_edges
from predict_graph.graph.csr import Graph
from predict_graph.limits import beyond, check_size, limits
from predict_graph.plugins import Registry
from predict_graph.texts import named_values

Generator = Callable[..., Graph]

_CLASSICS = (
    *("barabasi-albert", "erdos-renyi", "watts-strogatz", "powerlaw-cluster"),
    *("star", "path", "cycle", "grid"),
)
GENERATORS: Registry[Generator] = Registry(
    "generator",
    "predict_graph.generators",
    {
        "rmat": "predict_graph.graph.rmat:rmat",
        **{name: f"predict_graph.graph.generators:{name.replace('-', '_')}" for name in _CLASSICS},
    },
)


def parse_generator(text: str) -> tuple[str, dict[str, str]]:
    """Split ``name:key=value,...`` into the name and the texts of the parameters.

    Raises
    ------
    RequestError
        If a parameter is not ``key=value`` or comes twice.

    Examples
    --------
    >>> parse_generator("rmat:scale=18,seed=1")
    ('rmat', {'scale': '18', 'seed': '1'})
    """
    name, _, rest = text.partition(":")
    parameters = filter(str.strip, rest.split(","))
    return name.strip(), named_values(parameters, f"{text!r}: the parameter", "NAME=VALUE")


def generate(
    text: str, *, directed: bool | None = None, name: str | None = None, seed: Any = None
) -> Graph:
    """Make the graph that a text describes.

    Parameters
    ----------
    text : str
        ``name`` or ``name:key=value,...``.
    directed : bool, optional
        None: as the generator does by itself.
    name : str, optional
        The text itself when it is not given.
    seed : int or numpy.random.Generator, optional
        Used when the text sets no seed.

    Raises
    ------
    RequestError
        If the generator or a parameter is unknown, or a value is wrong.

    Examples
    --------
    >>> generate("star:n=5")
    Graph('star:n=5', 5 vertices, 4 undirected edges)
    """
    kind, texts = parse_generator(text)
    make = GENERATORS.get(kind)
    declared = inspect.signature(make).parameters
    values = _values(kind, declared, texts)
    for key, value in (("seed", seed), ("directed", directed)):
        if value is not None and key in declared:
            values.setdefault(key, value)
    with explained(f"the graph {text!r} cannot be made"):
        graph = make(**values)
    if not isinstance(graph, Graph):
        raise RequestError(f"the generator {kind!r} returned {type(graph).__name__}, not a Graph")
    return as_asked(graph, directed, name or text)


def _values(
    kind: str, declared: Mapping[str, inspect.Parameter], texts: dict[str, str]
) -> dict[str, Any]:
    """Convert the texts to the types that the generator's parameters are annotated with."""
    values: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in declared:
            raise RequestError(
                f"the generator {kind!r} has no parameter {key!r}; accepted: {', '.join(declared)}"
            )
        annotation = declared[key].annotation  # a text in modules that postpone them
        known = getattr(annotation, "__name__", str(annotation))
        values[key] = _converted(f"{key} of {kind}", text, key if key == "seed" else known)
    empty = inspect.Parameter.empty
    missing = [key for key in declared if declared[key].default is empty and key not in values]
    if missing:
        raise RequestError(f"the generator {kind!r} needs {', '.join(f'{m}=…' for m in missing)}")
    return values


_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
# For each annotation: what converts a text, what is accepted, and the values that are.
_KINDS: dict[str, tuple[Callable[[str], Any], str, Callable[[Any], bool]]] = {
    "bool": (lambda text: _TRUTH.get(text.lower()), "true, false", lambda value: value is not None),
    "float": (float, "finite numbers", math.isfinite),
    "int": (int, "an integer", lambda value: True),
    "seed": (int, "integers from 0 on", lambda value: value >= 0),
}


def _converted(what: str, text: str, kind: str) -> Any:
    convert, accepted, fits = _KINDS.get(kind, _KINDS["int"])
    with suppress(ValueError):
        value = convert(text)
        if fits(value):
            return value
    raise RequestError(f"{what} is {text!r}; accepted: {accepted}")


Seed = int | np.random.Generator


def barabasi_albert(n: int, m: int = 4, seed: int = 1, *, directed: bool = False) -> Graph:
    """Return a preferential-attachment graph: each new vertex brings `m` edges."""
    return _networkx("barabasi_albert_graph", n, n * m, directed, n, m, seed=seed)


def erdos_renyi(n: int, p: float, seed: int = 1, *, directed: bool = False) -> Graph:
    """Return a graph in which each edge exists with probability `p`."""
    if not 0 <= p <= 1:
        raise RequestError(f"p of erdos-renyi is {p}; accepted: 0 to 1")
    edges = int(p * n * n / (1 if directed else 2))
    options = {"seed": seed, "directed": directed}
    return _networkx("fast_gnp_random_graph", n, edges, directed, n, p, **options)


def watts_strogatz(
    n: int, k: int = 4, p: float = 0.1, seed: int = 1, *, directed: bool = False
) -> Graph:
    """Return a small-world graph: a ring of `k` neighbours, rewired with probability `p`."""
    return _networkx("watts_strogatz_graph", n, n * k // 2, directed, n, k, p, seed=seed)


def powerlaw_cluster(
    n: int, m: int = 4, p: float = 0.1, seed: int = 1, *, directed: bool = False
) -> Graph:
    """Return a Holme-Kim graph: preferential attachment, triangles closed with probability `p`."""
    return _networkx("powerlaw_cluster_graph", n, n * m, directed, n, m, p, seed=seed)


def star(n: int, *, directed: bool = False) -> Graph:
    """Return a star: vertex 0 and its n - 1 neighbours."""
    others = _vertices("star", n=n)[1:]
    return from_edges(np.zeros_like(others), others, vertices=n, directed=directed)


def path(n: int, *, directed: bool = False) -> Graph:
    """Return a path of n vertices."""
    vertices = _vertices("path", n=n)
    return from_edges(vertices[:-1], vertices[1:], vertices=n, directed=directed)


def cycle(n: int, *, directed: bool = False) -> Graph:
    """Return a cycle of n vertices."""
    vertices = _vertices("cycle", n=n)
    return from_edges(vertices, np.roll(vertices, -1), vertices=n, directed=directed)


def grid(rows: int, columns: int, *, directed: bool = False) -> Graph:
    """Return a grid in which each vertex is joined to those beside and below it."""
    at = _vertices("grid", rows=rows, columns=columns).reshape(rows, columns)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    targets = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return from_edges(sources, targets, vertices=at.size, directed=directed)


def _vertices(kind: str, **sizes: int) -> IntArray:
    """Return the vertices of a shape of these sizes, if they are not too many."""
    for what, value in sizes.items():
        if not 1 <= value < 2**31:
            raise RequestError(f"{what} of {kind} is {value}; accepted: 1 to {2**31 - 1}")
    vertices = math.prod(sizes.values())
    check_size(f"the {kind}", vertices=vertices, edges=2 * vertices)
    return np.arange(vertices)


def _networkx(
    maker: str, n: int, edges: int, directed: bool, /, *arguments: float, seed: Seed, **options: Any
) -> Graph:
    """Return what networkx makes, unless that would take hours and all memory.

    An edge takes some 300 bytes in networkx, and 12 in our rows (measured).
    """
    import networkx as nx

    for name, size in (("vertices", n), ("edges", edges)):
        most = getattr(limits(), name) // 25
        if size > most:
            raise RequestError(
                f"the graph would have {size:,} {name}; accepted of networkx: up to {most:,}, "
                f"a 25th of {beyond(name)}"
            )
    if isinstance(seed, int) and not 0 <= seed < 2**32:  # networkx takes 32 bits
        seed = np.random.default_rng(seed)
    made = getattr(nx, maker)(*arguments, seed=seed, **options)
    ends = np.array(made.edges(), dtype=np.int64).reshape(-1, 2)
    return from_edges(ends[:, 0], ends[:, 1], vertices=len(made), directed=directed)
