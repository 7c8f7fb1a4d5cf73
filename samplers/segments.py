"""Metropolis–Hastings walks between one restart and the next: *segments*.

Restarts go anywhere, uniformly, so that segments know nothing of each other. Each has a random
generator of its own, seeded from its number. Hence it does not matter in which order they are
walked: one after the other where the reverse of the graph is at hand, or all side by side where it
is not and an in-neighbour has to be looked for among all edges. One pass over the edges then
serves a step of every segment. Both ways give the same walks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers._random import State, below, happens, next64
from samplers.csr import CSRArrays, IntArray

States = npt.NDArray[np.uint64]

DEAD_END = -1  # by definition: no vertex
"""Stands in a path after a vertex without an edge."""

_ASKED = -2  # by definition: and below, until the in-neighbour is found
_PLACES_EACH = 64  # of the table, for each wanted vertex: docs/studies/samplers.md, time of "mhrw"
_FULL = 255  # by definition: the most that a byte holds
_HALF, _NEXT = np.uint64(32), np.uint64(1)
_SCATTER = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64 (Steele, Lea and Flood, 2014)


@dataclass(frozen=True)
class Segments:
    """Segments that were drawn, and the vertices that each of them stands on, step by step."""

    # shape (s,): Random generator of each.
    states: States
    # shape (s + 1,): Where each begins in `path`.
    offsets: npt.NDArray[np.int64]
    # Vertices, one segment after the other; a refused move repeats its vertex.
    path: IntArray

    @classmethod
    def drawn(cls, count: int, restart: np.uint64, state: State, like: CSRArrays) -> Segments:
        """Draw how long each of the next segments is, and where it begins."""
        states = np.empty(count, dtype=np.uint64)
        offsets = np.zeros(count + 1, dtype=np.int64)
        _draw_lengths(state, restart, states, offsets)
        path = np.empty(int(offsets[-1]), dtype=like.indices.dtype)
        _draw_starts(states, offsets, like.vertices, path)
        return cls(states, offsets, path)


class InDegrees(NamedTuple):
    """A byte for each vertex; the few large degrees beside them."""

    # shape (n,): In-degree, 255 for any from 255 on.
    small: npt.NDArray[np.uint8]
    # Those of 255 and more, ascending.
    vertices: npt.NDArray[np.int64]
    # Of `vertices`.
    degrees: npt.NDArray[np.int64]


def count_in_degrees(indices: IntArray, vertices: int) -> InDegrees:
    """Count how often each vertex is pointed at.

    Examples
    --------
    >>> count_in_degrees(np.array([1, 2, 1]), 3).small
    array([0, 2, 1], dtype=uint8)
    """
    small = np.zeros(vertices, dtype=np.uint8)
    _count_small(indices, small)
    large = np.flatnonzero(small == _FULL)
    degrees = np.zeros(len(large), dtype=np.int64)
    if len(large):
        _count_large(indices, small, large, degrees)
    return InDegrees(small, large, degrees)


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

    Takes up to half a byte for each vertex, and about 40 bytes for each segment.
    """
    degrees = count_in_degrees(graph.indices, graph.vertices) if degrees is None else degrees
    places = np.zeros(1 << (graph.vertices // 4).bit_length(), dtype=np.uint8)
    step, lengths = 1, np.diff(segments.offsets)
    active = np.arange(len(segments.states), dtype=np.int32)
    while len(active := active[lengths[active] > step]):
        _propose(
            graph.indptr,
            graph.indices,
            *degrees,
            segments.states,
            active,
            segments.offsets,
            step,
            segments.path,
        )
        _look_up(graph, places, active, segments, step)
        _accept(
            graph.indptr,
            *degrees,
            segments.states,
            active,
            segments.offsets,
            step,
            segments.path,
        )
        step += 1


def _look_up(
    graph: CSRArrays,
    places: npt.NDArray[np.uint8],
    active: npt.NDArray[np.int32],
    segments: Segments,
    step: int,
) -> None:
    """Put the requested in-neighbours into the path."""
    at = segments.offsets[active] + step
    asks = segments.path[at] <= _ASKED
    asking, at = active[asks], at[asks]
    if not len(asking):
        return
    # The vertex and the number of its in-neighbour, joined: they sort by both.
    keys = segments.path[at - 1].astype(np.uint64) << _HALF
    keys |= (_ASKED - segments.path[at]).astype(np.uint64)
    del at
    order = np.argsort(keys)
    keys, asking = keys[order], asking[order]
    del order
    wanted = np.empty(len(keys), dtype=np.uint32)
    slots = np.full(1 << (2 * len(keys) - 1).bit_length(), -1, dtype=np.int32)
    pending, seen = (np.zeros(len(keys) + 1, dtype=np.int32) for _ in range(2))
    # The fewer are wanted, the smaller the table: the nearest cache holds it.
    table = places[: 1 << (_PLACES_EACH * len(keys) - 1).bit_length()]
    table[:] = 0
    count = _mark_wanted(keys, table, slots, wanted, pending)
    _find_sources(
        graph.indptr,
        graph.indices.view(np.dtype(f"u{graph.indices.itemsize}")),
        table,
        slots,
        wanted[:count],
        pending,
        seen,
        keys,
        asking,
        segments.offsets,
        step,
        segments.path,
    )


@njit(cache=True, nogil=True)
def degree_of(indptr: IntArray, reverse_indptr: IntArray, both: bool, v: int) -> int:
    """Return the out-degree of a vertex; with `both` the edges of the reverse count too."""
    degree = indptr[v + 1] - indptr[v]
    if both:
        degree += reverse_indptr[v + 1] - reverse_indptr[v]
    return int(degree)


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
    proposed = degree_of(indptr, reverse_indptr, both, w)
    if _accepted(state, degree, proposed):
        return w, proposed
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
        degree = degree_of(indptr, reverse_indptr, True, v)
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
    offsets: npt.NDArray[np.int64],
    step: int,
    path: IntArray,
) -> None:
    """Propose the out-neighbour of each walker, or request its k-th in-neighbour, as -2 - k."""
    for s in active:
        at = offsets[s] + step
        v = path[at - 1]
        if v == DEAD_END:
            path[at] = DEAD_END
            continue
        out_degree = indptr[v + 1] - indptr[v]
        degree = out_degree + in_degree(small, large, degrees, v)
        if degree == 0:
            path[at] = DEAD_END
            continue
        k = below(states[s : s + 1], degree)
        if k < out_degree:
            path[at] = indices[indptr[v] + k]
        else:
            path[at] = _ASKED - (k - out_degree)


@njit(cache=True, nogil=True)
def _accept(
    indptr: IntArray,
    small: npt.NDArray[np.uint8],
    large: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
    states: States,
    active: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    step: int,
    path: IntArray,
) -> None:
    """Move each walker to its proposal, or leave it where it is."""
    for s in active:
        at = offsets[s] + step
        v, w = path[at - 1], path[at]
        if w == DEAD_END:
            continue
        degree = indptr[v + 1] - indptr[v] + in_degree(small, large, degrees, v)
        proposed = indptr[w + 1] - indptr[w] + in_degree(small, large, degrees, w)
        if not _accepted(states[s : s + 1], degree, proposed):
            path[at] = v


@njit(cache=True, nogil=True, inline="always")
def _slot(v: np.uint64, last_slot: np.uint64) -> np.uint64:
    return np.uint64(((v * _SCATTER) >> _HALF) & last_slot)


@njit(cache=True, nogil=True)
def _mark_wanted(
    keys: npt.NDArray[np.uint64],
    table: npt.NDArray[np.uint8],
    slots: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.uint32],
    pending: npt.NDArray[np.int32],
) -> int:
    """List each vertex once, with the first key of it, and put it in both tables; return how many.

    `table` counts how many share a place, `slots` holds the place of a vertex in the list.
    """
    last, last_slot = np.uint64(table.size - 1), np.uint64(slots.size - 1)
    count = 0
    for i in range(keys.size):
        v = keys[i] >> _HALF
        if count == 0 or v != wanted[count - 1]:
            wanted[count] = v
            pending[count] = i
            slot = _slot(v, last_slot)
            while slots[slot] >= 0:
                slot = (slot + _NEXT) & last_slot
            slots[slot] = count
            count += 1
            if table[v & last] < _FULL:
                table[v & last] += np.uint8(1)
    pending[count] = keys.size
    return count


@njit(cache=True, nogil=True)
def _find_sources(
    indptr: IntArray,
    indices: npt.NDArray[np.unsignedinteger],
    table: npt.NDArray[np.uint8],
    slots: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.uint32],
    pending: npt.NDArray[np.int32],
    seen: npt.NDArray[np.int32],
    keys: npt.NDArray[np.uint64],
    asking: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    step: int,
    path: IntArray,
) -> None:
    """Go through all edges once; the k-th edge into a wanted vertex fulfils the request for it.

    Unsigned indices: with signed ones each access would look whether it counts from the end. Most
    edges end at the table, which holds for each place how many wanted vertices share it.
    """
    last = np.uint64(table.size - 1)
    last_slot = np.uint64(slots.size - 1)
    left = wanted.size
    for e in range(indices.size):
        w = np.uint64(indices[e])
        if table[w & last] == 0:
            continue
        slot = _slot(w, last_slot)
        while slots[slot] >= 0 and wanted[slots[slot]] != w:
            slot = (slot + _NEXT) & last_slot
        j = slots[slot]
        if j < 0:
            continue
        i = pending[j]
        key = (w << _HALF) | np.uint64(seen[j])
        seen[j] += 1
        if i == keys.size or keys[i] != key:
            continue
        source = np.searchsorted(indptr, e, side="right") - 1
        while i < keys.size and keys[i] == key:
            path[offsets[asking[i]] + step] = source
            i += 1
        pending[j] = i
        if i == keys.size or keys[i] >> _HALF != w:
            if table[w & last] < _FULL:
                table[w & last] -= np.uint8(1)
            left -= 1
            if left == 0:
                return


@njit(cache=True, nogil=True)
def in_degree(
    small: npt.NDArray[np.uint8],
    vertices: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
    v: int,
) -> int:
    """Return the in-degree of a vertex."""
    if small[v] < _FULL:
        return int(small[v])
    return int(degrees[np.searchsorted(vertices, v)])


@njit(cache=True, nogil=True)
def _count_small(indices: IntArray, small: npt.NDArray[np.uint8]) -> None:
    for w in indices:
        if small[w] < _FULL:
            small[w] += np.uint8(1)


@njit(cache=True, nogil=True)
def _count_large(
    indices: IntArray,
    small: npt.NDArray[np.uint8],
    large: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
) -> None:
    for w in indices:
        if small[w] == _FULL:
            degrees[np.searchsorted(large, w)] += 1
