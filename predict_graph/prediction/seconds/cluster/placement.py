"""The placement of vertices on the workers of a Spark cluster, and local and remote messages.

Spark assigns rows to partitions by a Murmur3 hash of their key, and partitions to executors in
turn. The hash is public, so the balance of the real run is known before it runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.engines.spark.tables.hashing import hash_of_one
from predict_graph.graph.on_cluster import AnyGraph, ClusterGraph

_BLOCK = 1024  # vertices whose hashes are held at once: limits memory to a cache
_EDGES_TOLD = 1 << 19  # edges sampled: limits the error of the local share to 0.0007


@dataclass(frozen=True)
class Placement:
    """The distribution of the vertices and edges of a graph over workers."""

    machines: int
    partitions: int
    vertex_skew: float
    edge_skew: float
    local_share: float
    remote_share: float


def placement_of(
    graph: AnyGraph,
    machines: int,
    partitions: int,
    *,
    executors: int | None = None,
    beside: Sequence[tuple[int, int]] = (),
) -> Placement:
    """Return the placement on a cluster; one pass over the vertices, and half a million edges.

    Results are cached on the graph, and one pass computes all clusters in `beside`.
    """
    known: dict[tuple[int, int], Placement] = vars(graph).setdefault("_placements", {})
    if (machines, partitions) not in known:
        wanted = [each for each in {(machines, partitions), *beside} if each not in known]
        known.update(zip(wanted, _placements(graph, wanted), strict=True))
    executors = machines if executors is None else executors
    return replace(known[machines, partitions], remote_share=1.0 - 1.0 / executors)


def _placements(graph: AnyGraph, wanted: Sequence[tuple[int, int]]) -> list[Placement]:
    """Return the placement of a graph on several clusters with one executor per machine."""
    machines, partitions = (np.array(each, np.int64) for each in zip(*wanted, strict=True))
    if isinstance(graph, ClusterGraph):
        ends = np.concatenate(([0], np.cumsum(graph.out_degrees, dtype=np.int64)))
    else:
        ends = graph.indptr
    parts = numba.get_num_threads()
    bounds = np.linspace(0, graph.vertices, parts + 1).astype(np.int64)
    held = np.zeros((parts, 2, len(wanted), int(machines.max(initial=1))), np.int64)

    def hold(part: int) -> None:
        _held(ends, bounds[part], bounds[part + 1], partitions, machines, *held[part])

    with ThreadPoolExecutor(parts) as pool:
        deque(pool.map(hold, range(parts)), maxlen=0)
    sources, targets = _some_edges(graph)
    together = _held_together(sources, targets, partitions, machines)
    found = []
    for number, (count, spread) in enumerate(wanted):
        vertices, edges = held.sum(axis=0)[:, number, :count]
        found.append(
            Placement(
                count,
                spread,
                float(vertices.max() / max(vertices.mean(), 1e-300)),
                float(edges.max() / max(edges.mean(), 1e-300)),
                int(together[number]) / max(len(sources), 1),
                1.0 - 1.0 / count,
            )
        )
    return found


def _some_edges(graph: AnyGraph) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    """Return both ends of all edges, or of an evenly spread sample.

    For a graph that stays on a cluster these are the edges at the driver.
    """
    if isinstance(graph, ClusterGraph):
        return graph.ends
    step = max(-(-graph.edges // _EDGES_TOLD), 1)
    positions = np.arange(0, graph.edges, step)
    return _owners(graph.indptr, positions), graph.indices[positions]


@njit(cache=True, nogil=True)
def _owners(indptr: Any, positions: Any) -> Any:
    """Return the vertices whose rows contain ascending positions, in one pass."""
    owners, v = np.empty(len(positions), np.int64), 0
    for i in range(len(positions)):
        while indptr[v + 1] <= positions[i]:
            v += 1
        owners[i] = v
    return owners


@njit(cache=True, nogil=True)
def _machine(hashed: Any, partitions: Any, machines: Any) -> Any:
    """Return the machine of a partition; one division where each machine has as many."""
    if partitions % machines:
        return np.int32(hashed % partitions) % machines
    return hashed % machines


@njit(cache=True, nogil=True)
def _held(
    ends: Any, first: int, last: int, partitions: Any, machines: Any, vertices: Any, edges: Any
) -> None:
    """Count the vertices and edges of each machine, for several machine counts.

    Block by block, so that hashes are computed once.
    """
    hashes = np.empty(_BLOCK, np.int32)
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        for v in range(start, stop):
            hashes[v - start] = hash_of_one(v)
        for k in range(len(machines)):
            many, count = np.int32(partitions[k]), np.int32(machines[k])
            for v in range(start, stop):
                worker = _machine(hashes[v - start], many, count)
                vertices[k, worker] += 1
                edges[k, worker] += ends[v + 1] - ends[v]


@njit(cache=True, nogil=True)
def _held_together(sources: Any, targets: Any, partitions: Any, machines: Any) -> Any:
    """Return how many edges have both ends on one machine, for several machine counts."""
    together = np.zeros(len(machines), np.int64)
    for e in range(len(sources)):
        source, target = hash_of_one(sources[e]), hash_of_one(targets[e])
        for k in range(len(machines)):
            many, count = np.int32(partitions[k]), np.int32(machines[k])
            together[k] += _machine(source, many, count) == _machine(target, many, count)
    return together


def combined_share(
    in_degrees: tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]],
    active: npt.ArrayLike,
    partitions: int,
) -> npt.NDArray[np.float64]:
    """Return the records after combining on the map side, relative to messages.

    A partition sends one record to each vertex that any of its vertices sends to. If a share a of
    the edges carries a message, a vertex with d edges gets ``P (1 - (1 - a / P)^d)`` records from P
    partitions, with edges spread by a hash.

    Examples
    --------
    >>> combined_share(([1], [2]), [1.0], 4).round(3).tolist()
    [1.0]
    >>> combined_share(([8], [1]), [1.0], 2).tolist()
    [0.2490234375]
    """
    degrees, counts = (np.asarray(each) for each in in_degrees)
    shares = np.atleast_1d(np.asarray(active, dtype=np.float64))
    edges = float((degrees * counts).sum())
    missed = (1.0 - shares[:, None] / partitions) ** degrees[None, :]
    records = partitions * ((1.0 - missed) * counts).sum(axis=1)
    result: npt.NDArray[np.float64] = records / np.maximum(shares * edges, 1e-300)
    return result
