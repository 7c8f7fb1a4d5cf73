"""Classic random graphs and small shapes, all undirected unless `directed` is true.

The random ones are those of networkx; the shapes are built directly. A directed shape has its
edges from the lower to the higher vertex only (a cycle is closed by an edge to vertex 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.build import from_edges
from predict_graph.graph.csr import Graph
from predict_graph.limits import beyond, check_size, limits


def barabasi_albert(
    n: int, m: int = 4, seed: int = 1, *, directed: bool = False, name: str = "barabasi-albert"
) -> Graph:
    """Return a preferential-attachment graph: each new vertex brings `m` edges."""
    import networkx as nx

    _check_networkx(n, n * m)
    return _of_networkx(nx.barabasi_albert_graph(n, m, _seed(seed)), directed, name)


def erdos_renyi(
    n: int, p: float, seed: int = 1, *, directed: bool = False, name: str = "erdos-renyi"
) -> Graph:
    """Return a graph in which each edge exists with probability `p`."""
    import networkx as nx

    if not 0 <= p <= 1:
        raise RequestError(f"p of erdos-renyi is {p}; accepted: 0 to 1")
    _check_networkx(n, int(p * n * n / (1 if directed else 2)))
    made = nx.fast_gnp_random_graph(n, p, seed=_seed(seed), directed=directed)
    return _of_networkx(made, directed, name)


def watts_strogatz(
    n: int,
    k: int = 4,
    p: float = 0.1,
    seed: int = 1,
    *,
    directed: bool = False,
    name: str = "watts-strogatz",
) -> Graph:
    """Return a small-world graph: a ring of `k` neighbours, rewired with probability `p`."""
    import networkx as nx

    _check_networkx(n, n * k // 2)
    return _of_networkx(nx.watts_strogatz_graph(n, k, p, seed=_seed(seed)), directed, name)


def powerlaw_cluster(
    n: int,
    m: int = 4,
    p: float = 0.1,
    seed: int = 1,
    *,
    directed: bool = False,
    name: str = "powerlaw-cluster",
) -> Graph:
    """Return a Holme-Kim graph: preferential attachment, triangles closed with probability `p`."""
    import networkx as nx

    _check_networkx(n, n * m)
    return _of_networkx(nx.powerlaw_cluster_graph(n, m, p, seed=_seed(seed)), directed, name)


def star(n: int, *, directed: bool = False, name: str = "star") -> Graph:
    """Return a star: vertex 0 and its n - 1 neighbours."""
    _check("star", "n", n)
    leaves = np.arange(1, n)
    return _shape(np.zeros(n - 1, np.int64), leaves, n, directed, name)


def path(n: int, *, directed: bool = False, name: str = "path") -> Graph:
    """Return a path of n vertices."""
    _check("path", "n", n)
    vertices = np.arange(n)
    return _shape(vertices[:-1], vertices[1:], n, directed, name)


def cycle(n: int, *, directed: bool = False, name: str = "cycle") -> Graph:
    """Return a cycle of n vertices."""
    _check("cycle", "n", n)
    vertices = np.arange(n)
    return _shape(vertices, np.roll(vertices, -1), n, directed, name)


def grid(rows: int, columns: int, *, directed: bool = False, name: str = "grid") -> Graph:
    """Return a grid in which each vertex is joined to those beside and below it."""
    _check("grid", "rows", rows)
    _check("grid", "columns", columns)
    check_size("the grid", vertices=rows * columns)
    at = np.arange(rows * columns).reshape(rows, columns)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    targets = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return _shape(sources, targets, rows * columns, directed, name)


def _check(kind: str, what: str, value: int) -> None:
    if not 1 <= value < 2**31:
        raise RequestError(f"{what} of {kind} is {value}; accepted: 1 to {2**31 - 1}")
    check_size(f"the {kind}", vertices=value, edges=2 * value)


def _check_networkx(n: int, edges: int) -> None:
    """Refuse what networkx would take hours and all memory for, before it begins."""
    for name, size in (("vertices", n), ("edges", edges)):
        most = getattr(limits(), name) // _NETWORKX
        if size > most:
            raise RequestError(
                f"the graph would have {size:,} {name}; accepted of networkx: up to {most:,}, "
                f"a {_NETWORKX}th of {beyond(name)}"
            )


# Bytes of an edge in networkx over those in our rows: some 300 to 12.
_NETWORKX = 25  # judgement, of the two


def _seed(seed: int | np.random.Generator) -> int | np.random.Generator:
    """Networkx takes seeds of 32 bits only; longer ones become a generator."""
    if isinstance(seed, np.random.Generator) or 0 <= seed < 2**32:
        return seed
    return np.random.default_rng(seed)


def _shape(
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    n: int,
    directed: bool,
    name: str,
) -> Graph:
    return from_edges(sources, targets, vertices=n, directed=directed, name=name)


def _of_networkx(made: Any, directed: bool, name: str) -> Graph:
    edges = np.array(made.edges(), dtype=np.int64).reshape(-1, 2)
    n = made.number_of_nodes()
    return _shape(edges[:, 0], edges[:, 1], n, directed, name)
