"""Compiled measures of a graph: distances of degrees, hop plot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

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
def _ones(word: np.uint64) -> int:
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56)))


@njit(cache=True, nogil=True)
def hop_counts(indptr: IntArray, indices: IntArray, sources: IntArray) -> npt.NDArray[np.int64]:
    """Return how many (source, vertex) pairs are at distance 0, 1, 2, …

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
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                fresh = present[v] & ~seen[w]
                if fresh:
                    if arriving[w] == 0:
                        reached[count] = w
                        count += 1
                    arriving[w] |= fresh
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
