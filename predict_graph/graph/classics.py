"""Classic random graphs and small shapes, all undirected unless `directed` is true.

The random ones are those of networkx; the shapes are built directly. A directed shape has its
edges from the lower to the higher vertex only (a cycle is closed by an edge to vertex 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predict_graph.errors import RequestError
from predict_graph.graph.build import from_edges
from predict_graph.graph.csr import Graph
from predict_graph.limits import beyond, check_size, limits

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
    _check("star", "n", n)
    return from_edges(np.zeros(n - 1, np.int64), np.arange(1, n), vertices=n, directed=directed)


def path(n: int, *, directed: bool = False) -> Graph:
    """Return a path of n vertices."""
    _check("path", "n", n)
    vertices = np.arange(n)
    return from_edges(vertices[:-1], vertices[1:], vertices=n, directed=directed)


def cycle(n: int, *, directed: bool = False) -> Graph:
    """Return a cycle of n vertices."""
    _check("cycle", "n", n)
    vertices = np.arange(n)
    return from_edges(vertices, np.roll(vertices, -1), vertices=n, directed=directed)


def grid(rows: int, columns: int, *, directed: bool = False) -> Graph:
    """Return a grid in which each vertex is joined to those beside and below it."""
    _check("grid", "rows", rows)
    _check("grid", "columns", columns)
    check_size("the grid", vertices=rows * columns)
    at = np.arange(rows * columns).reshape(rows, columns)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    targets = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return from_edges(sources, targets, vertices=rows * columns, directed=directed)


def _check(kind: str, what: str, value: int) -> None:
    if not 1 <= value < 2**31:
        raise RequestError(f"{what} of {kind} is {value}; accepted: 1 to {2**31 - 1}")
    check_size(f"the {kind}", vertices=value, edges=2 * value)


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
