"""Metropolis–Hastings walks between one restart and the next: *segments*.

Restarts go anywhere, uniformly, so that segments know nothing of each other. Each has a random
generator of its own, seeded from its number. Hence it does not matter in which order they are
walked: one after the other where the reverse of the graph is at hand, or all side by side where it
is not and an in-neighbour has to be looked for among all edges. One pass over the edges then
serves a step of every segment. Both ways give the same walks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers._random import State, below, happens, next64
from samplers.csr import CSRArrays
from samplers.in_degrees import InDegrees, count_in_degrees, in_degree

__all__ = ["DEAD_END", "Segments", "next_vertex", "walk_one_by_one", "walk_side_by_side"]

IntArray = npt.NDArray[np.integer]
States = npt.NDArray[np.uint64]

DEAD_END = -1
"""Stands in a path after a vertex without an edge."""

_PASSED = -1  # a walker that needs no in-neighbour in this step


@dataclass(frozen=True)
class Segments:
    """Segments that were drawn, and the vertices that each of them stands on, step by step.

    Parameters
    ----------
    states : ndarray of uint64, shape (s,)
        Random generator of each.
    offsets : ndarray of int64, shape (s + 1,)
        Where each begins in `path`.
    path : ndarray of int
        Vertices, one segment after the other; a refused move repeats its vertex.
    """

    states: States
    offsets: npt.NDArray[np.int64]
    path: IntArray

    @classmethod
    def drawn(cls, count: int, restart: np.uint64, state: State, like: CSRArrays) -> Segments:
        """Draw how long each of the next segments is, and where it begins."""
        states = np.empty(count, dtype=np.uint64)
        offsets = np.zeros(count + 1, dtype=np.int64)
        _draw_lengths(state, restart, states, offsets)
        path = np.empty(int(offsets[-1]), dtype=np.dtype(like.indices.dtype.name))
        _draw_starts(states, offsets, like.vertices, path)
        return cls(states, offsets, path)


def walk_one_by_one(graph: CSRArrays, reverse: CSRArrays, segments: Segments) -> None:
    """Fill in the paths, with in-neighbours from the reverse of a directed graph."""
    _walk_each(
        graph.indptr,
        graph.indices,
        reverse.indptr,
        reverse.indices,
        segments.states,
        segments.offsets,
        segments.path,
    )


def walk_side_by_side(
    graph: CSRArrays, segments: Segments, degrees: InDegrees | None = None
) -> None:
    """Fill in the paths of a directed graph without its reverse: a pass over the edges for a step.

    Takes a bit for each vertex, and 16 bytes for each segment that needs an in-neighbour.
    """
    degrees = count_in_degrees(graph.indices, graph.vertices) if degrees is None else degrees
    lengths = np.diff(segments.offsets)
    bits = np.zeros(graph.vertices // 64 + 1, dtype=np.uint64)
    step = 1
    active = np.flatnonzero(lengths > step).astype(np.int32)
    while len(active):
        at = segments.offsets[active] + step
        which = np.empty(len(active), dtype=np.int64)
        _propose(
            graph.indptr, graph.indices, *degrees, segments.states, active, at, segments.path, which
        )
        asking = np.flatnonzero(which != _PASSED).astype(np.int32)
        if len(asking):
            _look_up(graph, bits, segments.path, at[asking], which[asking])
        del which, asking
        _accept(graph.indptr, *degrees, segments.states, active, at, segments.path)
        step += 1
        active = active[lengths[active] > step]


def _look_up(
    graph: CSRArrays,
    bits: npt.NDArray[np.uint64],
    path: IntArray,
    at: npt.NDArray[np.int64],
    which: npt.NDArray[np.int64],
) -> None:
    """Put the in-neighbours asked for into the path."""
    vertices = path[at - 1]
    order = np.lexsort((which, vertices))
    wanted, first = np.unique(vertices[order], return_index=True)
    _find_sources(
        graph.indptr,
        graph.indices,
        bits,
        wanted,
        np.append(first, len(order)),
        which[order],
        at[order],
        path,
    )


@njit(cache=True, nogil=True)
def next_vertex(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    v: int,
    degree: int,
    state: State,
) -> tuple[int, int]:
    """Return where one step from `v` leads, and the degree there; `degree` is that of `v`, > 0.

    With `both` the edges of the reverse count too.
    """
    out_degree = indptr[v + 1] - indptr[v]
    i = below(state, degree)
    if i < out_degree:
        w = indices[indptr[v] + i]
    else:
        w = reverse_indices[reverse_indptr[v] + i - out_degree]
    proposed = indptr[w + 1] - indptr[w]
    if both:
        proposed += reverse_indptr[w + 1] - reverse_indptr[w]
    if _accepted(state, degree, proposed):
        return w, int(proposed)
    return v, degree


@njit(cache=True, nogil=True)
def _accepted(state: State, degree: int, proposed: int) -> bool:
    # An integer below d_w is below d_v with probability d_v / d_w, exactly.
    return bool(proposed <= degree or below(state, proposed) < degree)


@njit(cache=True, nogil=True)
def _draw_lengths(
    state: State, restart: np.uint64, states: States, offsets: npt.NDArray[np.int64]
) -> None:
    for s in range(states.size):
        states[s] = next64(state)
        own = states[s : s + 1]
        length = 1
        while not happens(own, restart):
            length += 1
        offsets[s + 1] = offsets[s] + length


@njit(cache=True, nogil=True)
def _draw_starts(
    states: States, offsets: npt.NDArray[np.int64], vertices: int, path: IntArray
) -> None:
    for s in range(states.size):
        path[offsets[s]] = below(states[s : s + 1], vertices)


@njit(cache=True, nogil=True)
def _walk_each(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    states: States,
    offsets: npt.NDArray[np.int64],
    path: IntArray,
) -> None:
    for s in range(states.size):
        v = path[offsets[s]]
        degree = indptr[v + 1] - indptr[v] + reverse_indptr[v + 1] - reverse_indptr[v]
        for i in range(offsets[s] + 1, offsets[s + 1]):
            if degree == 0:
                path[i : offsets[s + 1]] = DEAD_END
                break
            v, degree = next_vertex(
                indptr,
                indices,
                reverse_indptr,
                reverse_indices,
                True,
                v,
                degree,
                states[s : s + 1],
            )
            path[i] = v


@njit(cache=True, nogil=True)
def _propose(
    indptr: IntArray,
    indices: IntArray,
    small: npt.NDArray[np.uint8],
    large: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
    states: States,
    active: npt.NDArray[np.int32],
    at: npt.NDArray[np.int64],
    path: IntArray,
    which: npt.NDArray[np.int64],
) -> None:
    """Propose the out-neighbour of each walker, or the number of its in-neighbour."""
    for i in range(active.size):
        v = path[at[i] - 1]
        which[i] = _PASSED
        if v == DEAD_END:
            path[at[i]] = DEAD_END
            continue
        out_degree = indptr[v + 1] - indptr[v]
        degree = out_degree + in_degree(small, large, degrees, v)
        if degree == 0:
            path[at[i]] = DEAD_END
            continue
        k = below(states[active[i] : active[i] + 1], degree)
        if k < out_degree:
            path[at[i]] = indices[indptr[v] + k]
        else:
            which[i] = k - out_degree


@njit(cache=True, nogil=True)
def _accept(
    indptr: IntArray,
    small: npt.NDArray[np.uint8],
    large: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
    states: States,
    active: npt.NDArray[np.int32],
    at: npt.NDArray[np.int64],
    path: IntArray,
) -> None:
    """Move each walker to its proposal, or leave it where it is."""
    for i in range(active.size):
        v, w = path[at[i] - 1], path[at[i]]
        if w == DEAD_END:
            continue
        degree = indptr[v + 1] - indptr[v] + in_degree(small, large, degrees, v)
        proposed = indptr[w + 1] - indptr[w] + in_degree(small, large, degrees, w)
        if not _accepted(states[active[i] : active[i] + 1], degree, proposed):
            path[at[i]] = v


@njit(cache=True, nogil=True)
def _find_sources(
    indptr: IntArray,
    indices: IntArray,
    bits: npt.NDArray[np.uint64],
    wanted: IntArray,
    bounds: npt.NDArray[np.int64],
    which: npt.NDArray[np.int64],
    at: npt.NDArray[np.int64],
    path: IntArray,
) -> None:
    """Go through all edges once; the k-th that points at a wanted vertex answers who asks for it.

    `which` and `at` are those of ``wanted[j]`` from ``bounds[j]`` on, `which` ascending.
    """
    one, word = np.uint64(1), np.uint64(63)
    for v in wanted:
        bits[v >> 6] |= one << (np.uint64(v) & word)
    pending = bounds[:-1].copy()
    seen = np.zeros(wanted.size, dtype=np.int64)
    left = wanted.size
    for u in range(indptr.size - 1):
        for e in range(indptr[u], indptr[u + 1]):
            w = indices[e]
            if not (bits[w >> 6] >> (np.uint64(w) & word)) & one:
                continue
            j = np.searchsorted(wanted, w)
            i = pending[j]
            while i < bounds[j + 1] and which[i] == seen[j]:
                path[at[i]] = u
                i += 1
            pending[j] = i
            seen[j] += 1
            if i == bounds[j + 1]:
                bits[w >> 6] &= ~(one << (np.uint64(w) & word))
                left -= 1
                if left == 0:
                    return
