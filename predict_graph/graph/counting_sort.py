"""Sorting edges by one end, in linear time and without cache misses.

Scattering the edges of a large graph straight to their rows misses the cache, and the address
translation, at nearly every edge. So they are split into buckets of neighbouring rows first, with
sequential writes, and each bucket is scattered while it fits in the cache. Both steps run in
threads; the result is the same for any number of them, and the sort is stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.edges import EdgeBlock

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
WeightArray = npt.NDArray[np.float32]
Rows = tuple[IntArray, IndexArray, WeightArray]

_NO_WEIGHTS, _NO_IDS = np.empty(0, np.float32), np.empty(0, np.int32)
_CHUNKS = 16  # limits the memory that threads take beside the edges
_WORTH_THREADS = 1 << 21  # not tuned: edges that take some milliseconds


def sorted_by_target(blocks: list[EdgeBlock], n: int) -> Rows:
    """Return row pointers, sources and weights of the edges, row by row of their targets.

    `blocks` is emptied on the way, so that its memory can be used again; `n` is the number of
    vertices, and the ends of all edges are below it.
    """
    sources = [block.sources for block in blocks]
    targets = [block.targets for block in blocks]
    weights = [_NO_WEIGHTS if block.weights is None else block.weights for block in blocks]
    weighted = bool(blocks) and blocks[0].weights is not None
    blocks.clear()

    def taken(chunk: int) -> IndexArray:
        found, sources[chunk] = sources[chunk], _NO_IDS
        return found

    return _sorted(targets, taken, weights, n, weighted=weighted)


def transposed(indptr: IntArray, indices: IndexArray, weights: WeightArray, n: int) -> Rows:
    """Return the rows of the transposed matrix; weights are empty when there are none."""
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), _CHUNKS + 1), side="left")
    bounds[0], bounds[-1] = 0, len(indptr) - 1
    cuts = indptr[bounds]

    def rows(chunk: int) -> IndexArray:
        first, last = bounds[chunk], bounds[chunk + 1]
        vertices = np.arange(first, last, dtype=np.int32 if n < 2**31 else np.int64)
        return np.repeat(vertices, np.diff(indptr[first : last + 1]))

    return _sorted(
        np.split(indices, cuts[1:-1]),
        rows,
        np.split(weights, cuts[1:-1]) if len(weights) else [_NO_WEIGHTS] * _CHUNKS,
        n,
        weighted=len(weights) > 0,
    )


def _sorted(
    targets: list[IndexArray],
    sources: Callable[[int], IndexArray],
    weights: list[WeightArray],
    n: int,
    *,
    weighted: bool,
) -> Rows:
    """Sort chunks of edges, which are dropped one by one."""
    # How many low bits of a target are sorted at the end; the others say in which bucket it is.
    bits = max(n - 1, 1).bit_length()
    shift = max(13, min(bits - 9, 16), bits - 10)
    buckets = ((n - 1) >> shift) + 1 if n else 0
    chunks, edges = range(len(targets)), sum(map(len, targets))
    counts = np.zeros((len(targets), buckets), np.int64)
    in_threads(lambda c: _count(targets[c], shift, counts[c]), chunks, edges)
    # Bucket after bucket, and in each of them chunk after chunk: that keeps the sort stable.
    ends = np.cumsum(counts.T.ravel())
    places = (ends - counts.T.ravel()).reshape(counts.T.shape).T.copy()
    starts = np.append(places[0] if len(counts) else [], edges).astype(np.int64)
    keys = np.empty(edges, np.uint16 if shift <= 16 else np.uint32)
    others = np.empty(edges, np.int32 if n < 2**31 else np.int64)
    values = np.empty(edges if weighted else 0, np.float32)

    def split(c: int) -> None:
        _split(targets[c], sources(c), weights[c], shift, places[c], keys, others, values)
        targets[c], weights[c] = _NO_IDS, _NO_WEIGHTS

    in_threads(split, chunks, edges)
    indptr = np.zeros(n + 1, np.int64)
    rows = (indptr, np.empty_like(others), np.empty_like(values))
    bounds = np.searchsorted(starts, np.linspace(0, edges, _CHUNKS + 1), side="left")
    bounds[0], bounds[-1] = 0, max(len(starts) - 1, 0)
    in_threads(
        lambda c: _scatter(starts, bounds[c], bounds[c + 1], shift, keys, others, values, *rows),
        range(_CHUNKS),
        edges,
    )
    return rows


def counted_targets(indices: IndexArray, n: int) -> IntArray:
    """Return how many edges come in at each vertex, shape (n,).

    Examples
    --------
    >>> counted_targets(np.array([1, 2, 1]), 3).tolist()
    [0, 2, 1]
    """
    counts = np.zeros(n, np.int64)
    _count(indices, 0, counts)
    return counts


@njit(cache=True, nogil=True)
def reached(indices: IndexArray, start: int, stop: int, low: int) -> int:
    """Return where an ascending row reaches a target."""
    while start < stop:
        middle = (start + stop) >> 1
        if indices[middle] < low:
            start = middle + 1
        else:
            stop = middle
    return start


def in_threads(work: Callable[[int], None], items: Iterable[int], edges: int) -> None:
    """Do compiled work on some items, on several threads if there are edges enough."""
    threads = numba.get_num_threads()
    if threads == 1 or edges < _WORTH_THREADS:
        for item in items:
            work(item)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, items):
            pass


@njit(cache=True, nogil=True)
def _count(keys: IndexArray, shift: int, counts: IntArray) -> None:
    for e in range(len(keys)):
        counts[keys[e] >> shift] += 1


@njit(cache=True, nogil=True)
def _split(
    block_keys: IndexArray,
    block_others: IndexArray,
    block_weights: WeightArray,
    shift: int,
    place: IntArray,
    keys: npt.NDArray[np.unsignedinteger],
    others: IndexArray,
    weights: WeightArray,
) -> None:
    low = (1 << shift) - 1
    for e in range(len(block_keys)):
        bucket = block_keys[e] >> shift
        at = place[bucket]
        place[bucket] = at + 1
        keys[at] = block_keys[e] & low
        others[at] = block_others[e]
        if len(weights):
            weights[at] = block_weights[e]


@njit(cache=True, nogil=True)
def _scatter(
    starts: IntArray,
    first: int,
    last: int,
    shift: int,
    keys: npt.NDArray[np.unsignedinteger],
    others: IndexArray,
    weights: WeightArray,
    indptr: IntArray,
    sorted_others: IndexArray,
    sorted_weights: WeightArray,
) -> None:
    """Sort the buckets `first` to `last` - 1 by their keys, and set their part of `indptr`."""
    n = len(indptr) - 1
    place = np.empty(1 << shift, np.int64)
    for bucket in range(first, last):
        row = bucket << shift
        rows = min(1 << shift, n - row)
        place[:rows] = 0
        for e in range(starts[bucket], starts[bucket + 1]):
            place[keys[e]] += 1
        at = starts[bucket]
        for i in range(rows):
            length = place[i]
            place[i] = at
            at += length
            indptr[row + i + 1] = at
        for e in range(starts[bucket], starts[bucket + 1]):
            at = place[keys[e]]
            place[keys[e]] = at + 1
            sorted_others[at] = others[e]
            if len(weights):
                sorted_weights[at] = weights[e]
