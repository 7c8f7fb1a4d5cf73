"""The walk that Random Jump, Biased Random Jump and random walk with restart have in common.

They differ in one thing only: where a walk begins anew. So one kernel serves all three.

How it always ends. Each step that meets no new vertex counts as fruitless. After `patience`
fruitless steps in a row the walk is stalled: it goes on from an unvisited vertex drawn uniformly,
which the sample counts as `unreached`. Each stall halves the patience (down to 10 steps) and each
vertex that the walk finds by itself gives an eighth back, so that a graph of isolated vertices
costs about 10 steps a vertex, and no graph costs more than `patience` steps a vertex.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers._random import State, below, chance_threshold, happens
from samplers.base import Sampler, Visits, check_positive, check_share
from samplers.csr import CSRArrays

__all__ = [
    "PATIENCE",
    "IntArray",
    "Marks",
    "RestartWalk",
    "less_patience",
    "more_patience",
    "unvisited",
]

IntArray = npt.NDArray[np.integer]
Marks = npt.NDArray[np.uint8]

# Steps without a new vertex. No walk of docs/studies/samplers.md but `rwr` is out of patience; with
# these a million isolated vertices cost about ten million steps (docs/samplers.md).
PATIENCE = 1000
_LEAST_PATIENCE = 10  # a choice: where little is missing, patience is less


class RestartWalk(Sampler):
    """Base of the samplers that walk along out-edges and begin anew with probability `restart`."""

    def __init__(self, *, restart: float = 0.15, patience: int = PATIENCE) -> None:
        self.restart = restart
        self.patience = patience

    def _check_options(self) -> None:
        check_share("restart", self.restart, zero=True, one=True)
        check_positive("patience", self.patience)

    def _walk(
        self,
        graph: CSRArrays,
        starts: npt.NDArray[np.int64],
        target: int,
        max_edges: int,
        state: State,
        *,
        moving: bool = False,
    ) -> Visits:
        """Walk from random `starts` (anywhere when empty); a stall replaces them when `moving`."""
        vertices = np.empty(target, dtype=graph.indices.dtype)
        found, steps, restarts, dead_ends, unreached, edges, capped = _walk_with_restarts(
            graph.indptr,
            graph.indices,
            starts,
            moving,
            chance_threshold(self.restart),
            max_edges,
            self.patience,
            state,
            np.zeros(graph.vertices, dtype=np.uint8),
            vertices,
        )
        return Visits(vertices[:found], steps, restarts, dead_ends, unreached, edges, capped)


@njit(cache=True, nogil=True)
def unvisited(state: State, visited: Marks) -> int:
    """Return an unvisited vertex, each with the same probability; there must be one."""
    v = below(state, visited.size)
    while visited[v]:
        v = below(state, visited.size)
    return int(v)


@njit(cache=True, nogil=True)
def less_patience(allowed: int) -> int:
    """Return how many fruitless steps are allowed after a stall."""
    return max(allowed // 2, _LEAST_PATIENCE)


@njit(cache=True, nogil=True)
def more_patience(allowed: int, patience: int) -> int:
    """Return how many fruitless steps are allowed after the walk found a vertex by itself."""
    return min(allowed + allowed // 8 + 1, patience)


@njit(cache=True, nogil=True)
def _jump(state: State, starts: IntArray, n: int) -> int:
    if starts.size == 0:
        return int(below(state, n))
    return int(starts[below(state, starts.size)])


@njit(cache=True, nogil=True)
def _walk_with_restarts(
    indptr: IntArray,
    indices: IntArray,
    starts: IntArray,
    moving: bool,
    restart: np.uint64,
    max_edges: int,
    patience: int,
    state: State,
    visited: Marks,
    vertices: IntArray,
) -> tuple[int, int, int, int, int, int, bool]:
    n = visited.size
    found, steps, restarts, dead_ends, unreached, edges = 0, 0, 0, 0, 0, 0
    allowed, fruitless = patience, 0
    filled_in = False
    v = _jump(state, starts, n)
    while True:
        start = indptr[v]
        degree = indptr[v + 1] - start
        if visited[v]:
            fruitless += 1
        else:
            if found > 0 and edges + degree > max_edges:
                return found, steps, restarts, dead_ends, unreached, edges, True
            visited[v] = 1
            vertices[found] = v
            found += 1
            edges += degree
            unreached += filled_in
            if found == vertices.size:
                return found, steps, restarts, dead_ends, unreached, edges, False
            if not filled_in:
                allowed = more_patience(allowed, patience)
            fruitless = 0
        filled_in = fruitless >= allowed
        if filled_in:
            v = unvisited(state, visited)
            if moving:
                starts[0] = v
            allowed = less_patience(allowed)
            continue
        steps += 1
        if happens(state, restart):
            restarts += 1
            v = _jump(state, starts, n)
        elif degree == 0:
            dead_ends += 1
            v = _jump(state, starts, n)
        else:
            v = indices[start + below(state, degree)]
