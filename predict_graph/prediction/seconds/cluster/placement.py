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
_EDGES_TOLD = 1 << 19  # a choice: the share that stays is then right to 0.0007


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
    ids = np.ascontiguousarray(vertices, dtype=np.int64).ravel()
    found: npt.NDArray[np.int64] = _partitions(ids, partitions)
    return found.reshape(np.shape(vertices))


_32_BITS = np.uint64(0xFFFFFFFF)  # by definition; compiled code would widen products of 32 bits


@njit(cache=True)
def _times(mixed: Any, factor: int) -> Any:
    return (mixed * np.uint64(factor)) & _32_BITS


@njit(cache=True)
def _turned(mixed: Any, bits: int) -> Any:
    return ((mixed << np.uint64(bits)) | (mixed >> np.uint64(32 - bits))) & _32_BITS


@njit(cache=True)
def _stirred(mixed: Any, word: Any) -> Any:
    word = _times(_turned(_times(word, 0xCC9E2D51), 15), 0x1B873593)
    return (_times(_turned(mixed ^ word, 13), 5) + np.uint64(0xE6546B64)) & _32_BITS


@njit(cache=True, nogil=True)
def partition_of_one(vertex: Any, partitions: Any) -> Any:
    """Return the partition of one vertex."""
    word = np.uint64(vertex)
    mixed = _stirred(np.uint64(_SEED), word & _32_BITS)
    mixed = _stirred(mixed, word >> np.uint64(32)) ^ np.uint64(8)
    mixed = _times(mixed ^ (mixed >> np.uint64(16)), 0x85EBCA6B)
    mixed = _times(mixed ^ (mixed >> np.uint64(13)), 0xC2B2AE35)
    mixed = mixed ^ (mixed >> np.uint64(16))
    return np.int64(np.int32(mixed)) % partitions


@njit(cache=True, nogil=True)
def _partitions(vertices: Any, partitions: int) -> Any:
    found = np.empty(len(vertices), np.int64)
    for i in range(len(vertices)):
        found[i] = partition_of_one(vertices[i], partitions)
    return found


def placement_of(
    graph: AnyGraph, machines: int, partitions: int, *, executors: int | None = None
) -> Placement:
    """Return how a graph lies on a cluster; one pass over its vertices, and half a million edges.

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
    vertices, edges = _held(graph.out_degrees, partitions, machines)
    sources, targets = _some_edges(graph)
    together = _held_together(sources, targets, partitions, machines)
    return Placement(
        machines,
        partitions,
        float(vertices.max() / max(vertices.mean(), 1e-300)),
        float(edges.max() / max(edges.mean(), 1e-300)),
        together / max(len(sources), 1),
        1.0 - 1.0 / executors,
    )


def _some_edges(graph: AnyGraph) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    """Return both ends of all edges, or of so many, evenly spread over the rows, as tell a share.

    Of a graph that stays on a cluster they are those that are here.
    """
    if isinstance(graph, ClusterGraph):
        return graph.ends
    step = max(-(-graph.edges // _EDGES_TOLD), 1)
    positions = np.arange(0, graph.edges, step)
    return np.searchsorted(graph.indptr, positions, side="right") - 1, graph.indices[positions]


@njit(cache=True, nogil=True)
def _held(degrees: Any, partitions: int, machines: int) -> Any:
    """Return how many vertices and edges each machine holds."""
    vertices, edges = np.zeros(machines, np.int64), np.zeros(machines, np.int64)
    for v in range(len(degrees)):
        worker = partition_of_one(v, partitions) % machines
        vertices[worker] += 1
        edges[worker] += degrees[v]
    return vertices, edges


@njit(cache=True, nogil=True)
def _held_together(sources: Any, targets: Any, partitions: int, machines: int) -> int:
    """Return how many edges have both ends on the same machine."""
    together = 0
    for e in range(len(sources)):
        source, target = (
            partition_of_one(sources[e], partitions),
            partition_of_one(targets[e], partitions),
        )
        together += source % machines == target % machines
    return together


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
    counts = np.bincount(np.asarray(in_degrees))
    degrees = np.flatnonzero(counts)
    counts = counts[degrees]
    shares = np.atleast_1d(np.asarray(active, dtype=np.float64))
    edges = float((degrees * counts).sum())
    missed = (1.0 - shares[:, None] / partitions) ** degrees[None, :]
    records = partitions * ((1.0 - missed) * counts).sum(axis=1)
    result: npt.NDArray[np.float64] = records / np.maximum(shares * edges, 1e-300)
    return result
