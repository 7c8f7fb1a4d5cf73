"""The balance of vertices and edges over the workers of a Spark cluster, before the real run.

Spark assigns rows to partitions by a Murmur3 hash of their key, and partitions to executors in
turn. The hash is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import Graph


def largest_shares(graph: Graph, machines: int, partitions: int) -> tuple[float, float]:
    """Return the most vertices and the most edges of a machine, relative to all of the graph."""
    vertices, edges = _held(graph.out_degrees, partitions, machines)
    return vertices.max() / max(graph.vertices, 1), edges.max() / max(graph.edges, 1)


@njit(cache=True, nogil=True)
def _held(degrees: Any, partitions: Any, machines: Any) -> Any:
    """Count the vertices and edges of each machine."""
    vertices, edges = np.zeros(machines, np.int64), np.zeros(machines, np.int64)
    for v in range(len(degrees)):
        worker = partition_of(v, partitions) % machines
        vertices[worker] += 1
        edges[worker] += degrees[v]
    return vertices, edges


def combined_share(
    degrees_counted: tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]],
    active: npt.ArrayLike,
    partitions: int,
) -> npt.NDArray[np.float64]:
    """Return records relative to messages, one record for each vertex and partition.

    If a share a of the edges carries a message, a vertex with d edges gets ``P (1 - (1 - a/P)^d)``
    records from P partitions, with edges spread by a hash; a vertex that sends along all its edges
    sends as many with a = 1. `degrees_counted` are degrees, and how many vertices have each.

    Examples
    --------
    >>> combined_share(([1], [2]), [1.0], 4).round(3).tolist()
    [1.0]
    >>> combined_share(([8], [1]), [1.0], 2).tolist()
    [0.2490234375]
    """
    degrees, counts = (np.asarray(each) for each in degrees_counted)
    shares = np.atleast_1d(np.asarray(active, dtype=np.float64))
    edges = float((degrees * counts).sum())
    missed = (1.0 - shares[:, None] / partitions) ** degrees[None, :]
    records = partitions * ((1.0 - missed) * counts).sum(axis=1)
    result: npt.NDArray[np.float64] = records / np.maximum(shares * edges, 1e-300)
    return result
