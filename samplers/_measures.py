"""Compiled measures of a graph: hop plot, components, clustering, reciprocity.

All take CSR arrays whose rows ascend, and the arrays of the reverse graph; with `both` False the
graph stores every edge both ways and the reverse is not read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers._random import State, below
from samplers.csr import IntArray


def degree_distance(first: IntArray, second: IntArray) -> float:
    """Return the Kolmogorov–Smirnov D-statistic of two samples of non-negative integers.

    The largest distance between the two cumulative distributions, in [0, 1].

    Examples
    --------
    >>> degree_distance(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    0.25
    """
    if len(first) == 0 or len(second) == 0:
        return 0.0 if len(first) == len(second) else 1.0
    size = int(max(first.max(), second.max())) + 1
    one = np.cumsum(np.bincount(first, minlength=size)) / len(first)
    other = np.cumsum(np.bincount(second, minlength=size)) / len(second)
    return float(np.abs(one - other).max())


@njit(cache=True, nogil=True)
def ascending_rows(indptr: IntArray, indices: IntArray) -> bool:
    """Return True when the neighbours of each vertex are in ascending order."""
    for v in range(indptr.size - 1):
        for e in range(indptr[v] + 1, indptr[v + 1]):
            if indices[e - 1] > indices[e]:
                return False
    return True


@njit(cache=True, nogil=True)
def _ones(word: np.uint64) -> int:
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56)))


@njit(cache=True, nogil=True)
def _spread(
    indptr: IntArray,
    indices: IntArray,
    v: int,
    word: np.uint64,
    seen: npt.NDArray[np.uint64],
    arriving: npt.NDArray[np.uint64],
    reached: IntArray,
    count: int,
) -> int:
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        fresh = word & ~seen[w]
        if fresh:
            if arriving[w] == 0:
                reached[count] = w
                count += 1
            arriving[w] |= fresh
    return count


@njit(cache=True, nogil=True)
def hop_counts(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    sources: IntArray,
) -> npt.NDArray[np.int64]:
    """Return how many (source, vertex) pairs are at distance 0, 1, 2, …; edges count both ways.

    Up to 64 breadth-first searches run at once, one bit of a word each (Then et al., "The more the
    merrier: efficient multi-source graph traversal", PVLDB 2014).
    """
    n = indptr.size - 1
    seen = np.zeros(n, dtype=np.uint64)
    present = np.zeros(n, dtype=np.uint64)
    arriving = np.zeros(n, dtype=np.uint64)
    frontier = np.empty(n, dtype=indices.dtype)
    reached = np.empty(n, dtype=indices.dtype)
    width = 0
    for i in range(sources.size):
        v = sources[i]
        if present[v] == 0:
            frontier[width] = v
            width += 1
        present[v] |= np.uint64(1) << np.uint64(i)
        seen[v] = present[v]
    counts = np.zeros(64, dtype=np.int64)
    counts[0] = sources.size
    hops = 0
    while width > 0:
        count = 0
        for i in range(width):
            v = frontier[i]
            count = _spread(indptr, indices, v, present[v], seen, arriving, reached, count)
            if both:
                count = _spread(
                    reverse_indptr, reverse_indices, v, present[v], seen, arriving, reached, count
                )
        for i in range(width):
            present[frontier[i]] = 0
        hops += 1
        if hops == counts.size:
            grown = np.zeros(2 * hops, dtype=np.int64)
            for i in range(hops):  # numba takes seconds to compile a slice that is assigned to
                grown[i] = counts[i]
            counts = grown
        for i in range(count):
            v = reached[i]
            present[v] = arriving[v]
            seen[v] |= arriving[v]
            counts[hops] += _ones(arriving[v])
            arriving[v] = 0
        frontier, reached = reached, frontier
        width = count
    return counts[:hops]


@njit(cache=True, nogil=True)
def _root(parent: IntArray, v: int) -> int:
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@njit(cache=True, nogil=True)
def largest_component(indptr: IntArray, indices: IntArray) -> int:
    """Return the number of vertices of the largest weakly connected component."""
    n = indptr.size - 1
    parent = np.empty(n, dtype=indices.dtype)
    for v in range(n):
        parent[v] = v
    for v in range(n):
        mine = _root(parent, v)
        for e in range(indptr[v], indptr[v + 1]):
            other = _root(parent, indices[e])
            # The lower id becomes the root, so that trees stay shallow on the hubs of most graphs.
            if mine < other:
                parent[other] = mine
            elif other < mine:
                parent[mine] = other
                mine = other
    sizes = np.zeros(n, dtype=indices.dtype)
    largest = 0
    for v in range(n):
        root = _root(parent, v)
        sizes[root] += 1
        largest = max(largest, sizes[root])
    return int(largest)


@njit(cache=True, nogil=True)
def _union(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    v: int,
    union: IntArray,
) -> tuple[int, int]:
    """Write the distinct neighbours of `v` but itself; return their number and the shared ones."""
    i, end = indptr[v], indptr[v + 1]
    j, reverse_end = (reverse_indptr[v], reverse_indptr[v + 1]) if both else (0, 0)
    size, shared = 0, 0
    last = -1
    while i < end or j < reverse_end:
        forward = i < end and (j >= reverse_end or indices[i] <= reverse_indices[j])
        backward = j < reverse_end and (i >= end or reverse_indices[j] <= indices[i])
        w = indices[i] if forward else reverse_indices[j]
        i += forward
        j += backward
        if w in (v, last):
            continue
        shared += forward and backward
        union[size] = w
        size += 1
        last = w
    return size, shared


@njit(cache=True, nogil=True)
def neighbourhood_counts(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    union: IntArray,
) -> tuple[int, int, int]:
    """Return the number of pendant vertices, of vertex pairs with an edge, and of those with two.

    Pairs are counted once for each of their vertices; a pendant vertex has one neighbour. `union`
    is scratch space for the neighbours of any one vertex.
    """
    pendant, pairs, mutual = 0, 0, 0
    for v in range(indptr.size - 1):
        size, shared = _union(indptr, indices, reverse_indptr, reverse_indices, both, v, union)
        pendant += size == 1
        pairs += size
        mutual += shared
    return pendant, pairs, mutual


@njit(cache=True, nogil=True)
def _has_edge(indptr: IntArray, indices: IntArray, v: int, w: int) -> bool:
    low, high = indptr[v], indptr[v + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < w:
            low = middle + 1
        else:
            high = middle
    return bool(low < indptr[v + 1] and indices[low] == w)


@njit(cache=True, nogil=True)
def closed_wedges(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    wedges: int,
    state: State,
    union: IntArray,
) -> int:
    """Return how many of `wedges` random vertices have an edge between two random neighbours.

    A vertex of fewer than two neighbours counts as open.
    """
    closed = 0
    for _ in range(wedges):
        v = below(state, indptr.size - 1)
        size, _shared = _union(indptr, indices, reverse_indptr, reverse_indices, both, v, union)
        if size < 2:
            continue
        i = below(state, size)
        j = below(state, size - 1)
        j += j >= i
        a, b = union[i], union[j]
        closed += _has_edge(indptr, indices, a, b) or _has_edge(indptr, indices, b, a)
    return closed
