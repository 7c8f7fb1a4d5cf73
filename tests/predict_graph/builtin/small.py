"""Small graphs on which kernels are compared with slow programs, and what these share."""

import numpy as np

from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges


def edges(*pairs, n=None, directed=True, weights=None):
    """Return the graph with these edges."""
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    given = None if weights is None else np.array(weights, np.float64)
    return from_edges(*ends, vertices=n, directed=directed, weights=given)


BITS = 2**64 - 1


def splitmix64(v):
    x = (v + 1) * 0x9E3779B97F4A7C15 & BITS
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & BITS
    x = (x ^ x >> 27) * 0x94D049BB133111EB & BITS
    return x ^ x >> 31


def _shapes(directed):
    return {
        "one vertex": edges(n=1, directed=directed),
        "one vertex and its loop": edges((0, 0), directed=directed),
        "no edges": edges(n=5, directed=directed),
        "a pair, and one alone": edges((0, 1), n=3, directed=directed),
        "loops": edges(
            *((0, 0), (0, 1), (1, 1), (2, 2), (3, 3), (2, 3), (1, 3)), directed=directed
        ),
        "star": edges(*((9, leaf) for leaf in range(9)), directed=directed),
        "path": edges(*((v, v + 1) for v in range(11)), directed=directed),
        "cycle": edges(*((v, (v + 1) % 9) for v in range(9)), directed=directed),
        "grid": check_graph("grid:rows=4,columns=5", directed=directed),
        "scale-free": check_graph("rmat:scale=6,edge_factor=4,seed=2", directed=directed),
    }


UNDIRECTED = _shapes(directed=False)
DIRECTED = _shapes(directed=True) | {
    "star in": edges(*((leaf, 0) for leaf in range(1, 40))),
    "path, both ways": UNDIRECTED["path"],
}
