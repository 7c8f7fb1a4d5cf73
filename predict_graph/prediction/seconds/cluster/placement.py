"""Which worker of a Spark cluster holds which vertex, and what that means for messages.

Spark spreads rows over partitions by a Murmur3 hash of their key, and partitions over executors in
turn. The hash is public, so how even the work of the real run will be is known before it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph

__all__ = ["Placement", "combined_share", "partition_of", "placement_of"]

_SEED = 42  # by definition of Spark: its hash partitioning


@dataclass(frozen=True)
class Placement:
    """How the vertices and edges of a graph lie on so many workers.

    Parameters
    ----------
    machines, partitions : int
    vertex_skew, edge_skew : float
        The most that one worker has, over the mean.
    local_share : float
        Edges whose ends are on the same worker, of all edges.
    remote_share : float
        Records that another executor reads, of all that are exchanged: 1 - 1/m, as a hash spreads
        them over the readers.
    """

    machines: int
    partitions: int
    vertex_skew: float
    edge_skew: float
    local_share: float
    remote_share: float


def partition_of(vertices: npt.ArrayLike, partitions: int) -> npt.NDArray[np.int64]:
    """Return the partition of each vertex: Spark's ``pmod(hash(id), partitions)`` of a bigint.

    References
    ----------
    A. Appleby: MurmurHash3, the 32-bit variant for x86, of the two halves of a long.

    Examples
    --------
    >>> partition_of([0, 1, 2, 3], 4).tolist()
    [1, 1, 0, 3]
    """
    ids = np.asarray(vertices).astype(np.uint64)
    low, high = ids.astype(np.uint32), (ids >> np.uint64(32)).astype(np.uint32)
    with np.errstate(over="ignore"):
        mixed = _stirred(np.full(ids.shape, _SEED, np.uint32), low)
        mixed = _stirred(mixed, high) ^ np.uint32(8)
        mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        mixed ^= mixed >> np.uint32(16)
    return mixed.view(np.int32).astype(np.int64) % partitions


def _stirred(mixed: npt.NDArray[np.uint32], word: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    word = word * np.uint32(0xCC9E2D51)
    word = (word << np.uint32(15) | word >> np.uint32(17)) * np.uint32(0x1B873593)
    mixed = mixed ^ word
    mixed = mixed << np.uint32(13) | mixed >> np.uint32(19)
    return mixed * np.uint32(5) + np.uint32(0xE6546B64)


def placement_of(
    graph: AnyGraph, machines: int, partitions: int, *, executors: int | None = None
) -> Placement:
    """Return how a graph lies on a cluster; one pass over the edges that are here.

    Parameters
    ----------
    graph : Graph
    machines : int
    partitions : int
        Of all machines together; the n-th is on machine n modulo `machines`.
    executors : int, optional
        Processes that exchange records; as many as machines by default.
    """
    executors = machines if executors is None else executors
    worker = (partition_of(np.arange(graph.vertices), partitions) % machines).astype(np.int32)
    degrees = graph.out_degrees
    vertices = np.bincount(worker, minlength=machines)
    edges = np.bincount(worker, weights=degrees, minlength=machines)
    local_share = _local_share(graph, worker)
    return Placement(
        machines,
        partitions,
        float(vertices.max() / max(vertices.mean(), 1e-300)),
        float(edges.max() / max(edges.mean(), 1e-300)),
        local_share,
        1.0 - 1.0 / executors,
    )


def _local_share(graph: AnyGraph, worker: npt.NDArray[np.int32]) -> float:
    """Return the share of edges with both ends on the same worker."""
    if isinstance(graph, ClusterGraph):
        sources, targets = graph.ends
        return float(np.mean(worker[sources] == worker[targets])) if len(sources) else 0.0
    return int(_edges_inside(graph.indptr, graph.indices, worker)) / max(graph.edges, 1)


@njit(cache=True, nogil=True)
def _edges_inside(indptr: Any, indices: Any, worker: Any) -> int:
    """Return how many edges of a checked graph have both ends on the same worker."""
    inside = 0
    for v in range(len(indptr) - 1):
        own = worker[v]
        for e in range(indptr[v], indptr[v + 1]):
            if worker[indices[e]] == own:
                inside += 1
    return inside


def combined_share(
    in_degrees: npt.NDArray[np.integer], active: npt.ArrayLike, partitions: int
) -> npt.NDArray[np.float64]:
    """Return records that leave the map side / messages, when messages to a vertex are combined.

    A partition sends one record to each vertex that any of its vertices sends to. If a share a of
    the edges carries a message, a vertex with d edges gets ``P (1 - (1 - a / P)^d)`` records from P
    partitions, as edges lie by a hash.

    Parameters
    ----------
    in_degrees : ndarray of int
    active : array_like of float, shape (k,)
        Shares of the edges that carry a message, in (0, 1].
    partitions : int

    Returns
    -------
    ndarray of float64, shape (k,)

    Examples
    --------
    >>> combined_share([1, 1], [1.0], 4).round(3).tolist(), combined_share([8], [1.0], 2).tolist()
    ([1.0], [0.2490234375])
    """
    degrees, counts = np.unique(np.asarray(in_degrees), return_counts=True)
    shares = np.atleast_1d(np.asarray(active, dtype=np.float64))
    edges = float((degrees * counts).sum())
    missed = (1.0 - shares[:, None] / partitions) ** degrees[None, :]
    records = partitions * ((1.0 - missed) * counts).sum(axis=1)
    result: npt.NDArray[np.float64] = records / np.maximum(shares * edges, 1e-300)
    return result
