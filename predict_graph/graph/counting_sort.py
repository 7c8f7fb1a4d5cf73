"""Sorting edges by one end, in linear time and without cache misses.

Scattering the edges of a large graph straight to their rows misses the cache, and the address
translation, at nearly every edge. So they are split into buckets of neighbouring rows first, with
sequential writes, and each bucket is scattered while it fits in the cache. Both steps run in
threads; the result is the same for any number of them, and the sort is stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.edges import EdgeBlock

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
WeightArray = npt.NDArray[np.float32]
Rows = tuple[IntArray, IndexArray, WeightArray]

_NO_WEIGHTS = np.empty(0, np.float32)
_CHUNKS = 16  # a choice: pieces that threads count
_TOLD = 1 << 16  # edges that say where targets are; a choice: only time depends on it
_WORTH_THREADS = 1 << 21  # a choice: edges, some milliseconds


def sorted_by_target(blocks: list[EdgeBlock], n: int) -> Rows:
    """Return row pointers, sources and weights of the edges, row by row of their targets.

    Parameters
    ----------
    blocks : list of EdgeBlock
        Emptied on the way, so that their memory can be used again.
    n : int
        Number of vertices; the ends of all edges are below it.
    """
    shift, buckets = _buckets(n)
    counts = np.zeros((len(blocks), buckets), np.int64)
    edges = sum(len(block.targets) for block in blocks)
    in_threads(
        lambda b: _count_block(blocks[b].targets, shift, counts[b]), range(len(blocks)), edges
    )
    weighted = bool(blocks) and blocks[0].weights is not None
    split = _Split(counts, shift, n, weighted)

    def move(b: int) -> None:
        block = blocks[b]
        weights = _NO_WEIGHTS if block.weights is None else block.weights
        blocks[b] = EdgeBlock(_NO_IDS, _NO_IDS)
        _split_block(block.targets, block.sources, weights, *split.places(b))

    in_threads(move, range(len(blocks)), edges)
    blocks.clear()
    return split.rows()


def transposed(indptr: IntArray, indices: IndexArray, weights: WeightArray, n: int) -> Rows:
    """Return the rows of the transposed matrix; weights are empty when there are none."""
    shift, buckets = _buckets(n)
    marks = np.linspace(0, len(indices), _CHUNKS + 1)
    bounds = np.searchsorted(indptr, marks, side="left")
    bounds[0], bounds[-1] = 0, len(indptr) - 1
    counts = np.zeros((_CHUNKS, buckets), np.int64)
    in_threads(
        lambda c: _count_block(
            indices[indptr[bounds[c]] : indptr[bounds[c + 1]]], shift, counts[c]
        ),
        range(_CHUNKS),
        len(indices),
    )
    split = _Split(counts, shift, n, len(weights) > 0)
    in_threads(
        lambda c: _split_rows(indptr, indices, weights, bounds[c], bounds[c + 1], *split.places(c)),
        range(_CHUNKS),
        len(indices),
    )
    return split.rows()


class _Split:
    """Edges in buckets of rows: the low bits of the key, the other end, the weight."""

    def __init__(self, counts: IntArray, shift: int, n: int, weighted: bool) -> None:
        self._shift, self._n = shift, n
        # Bucket after bucket, and in each of them chunk after chunk: that keeps the sort stable.
        ends = np.cumsum(counts.T.ravel())
        edges = int(ends[-1]) if len(ends) else 0
        self._places: IntArray = (ends - counts.T.ravel()).reshape(counts.T.shape).T.copy()
        self._starts = np.append(self._places[0] if len(counts) else [], edges).astype(np.int64)
        self._keys = np.empty(edges, np.uint16 if shift <= 16 else np.uint32)
        self._others = np.empty(edges, np.int32 if n < 2**31 else np.int64)
        self._weights = np.empty(edges if weighted else 0, np.float32)

    def places(
        self, chunk: int
    ) -> tuple[int, IntArray, npt.NDArray[Any], npt.NDArray[Any], WeightArray]:
        """Return the arguments with which a chunk is split."""
        return self._shift, self._places[chunk], self._keys, self._others, self._weights

    def rows(self) -> Rows:
        """Scatter each bucket to its rows."""
        indptr = np.zeros(self._n + 1, np.int64)
        others, weights = np.empty_like(self._others), np.empty_like(self._weights)
        marks = np.linspace(0, len(self._others), _CHUNKS + 1)
        bounds = np.searchsorted(self._starts, marks, side="left")
        bounds[0], bounds[-1] = 0, max(len(self._starts) - 1, 0)
        in_threads(
            lambda c: _scatter(
                self._starts,
                bounds[c],
                bounds[c + 1],
                self._shift,
                self._keys,
                self._others,
                self._weights,
                indptr,
                others,
                weights,
            ),
            range(_CHUNKS),
            len(others),
        )
        return indptr, others, weights


_NO_IDS = np.empty(0, np.int32)


def _buckets(n: int) -> tuple[int, int]:
    """Return how many low bits a bucket spans, and the number of buckets, some hundreds at most."""
    bits = max(n - 1, 1).bit_length()
    shift = max(13, min(bits - 9, 16), bits - 10)
    return shift, ((n - 1) >> shift) + 1 if n else 0


def counted_targets(indptr: IntArray, indices: IndexArray, *, ascending: bool) -> IntArray:
    """Return how many edges come in at each vertex, shape (n,).

    Parameters
    ----------
    indptr, indices : ndarray
        Rows of a graph, as it has checked them.
    ascending : bool
        Whether each row is.

    Examples
    --------
    >>> counted_targets(np.array([0, 2, 2, 3]), np.array([1, 2, 1]), ascending=True).tolist()
    [0, 2, 1]
    """
    vertices = len(indptr) - 1
    counts = np.zeros(vertices, np.int64)
    cuts = target_ranges(indices, vertices)
    in_threads(
        lambda i: _count_targets(indptr, indices, ascending, cuts[i], cuts[i + 1], counts),
        range(len(cuts) - 1),
        len(indices),
    )
    return counts


def target_ranges(indices: IndexArray, vertices: int) -> IntArray:
    """Return where ranges of targets begin and end, a range with about as many edges a thread."""
    threads = numba.get_num_threads()
    told = np.sort(indices[:: max(len(indices) // _TOLD, 1)])
    inner = told[(np.arange(1, threads) * len(told)) // threads] if len(told) else []
    return np.concatenate(([0], inner, [vertices])).astype(np.int64)


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


@njit(cache=True, nogil=True)
def _count_targets(
    indptr: IntArray, indices: IndexArray, ascending: bool, low: int, high: int, counts: IntArray
) -> None:
    """Count the edges to a range of vertices."""
    for v in range(len(indptr) - 1):
        start, stop = indptr[v], indptr[v + 1]
        if ascending and low > 0:
            start = reached(indices, start, stop, low)
        for e in range(start, stop):
            w = indices[e]
            if w >= low and w < high:
                counts[w] += 1
            elif ascending:
                break


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
def _count_block(keys: IndexArray, shift: int, counts: IntArray) -> None:
    for e in range(len(keys)):
        counts[keys[e] >> shift] += 1


@njit(cache=True, nogil=True)
def _split_block(
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
def _split_rows(
    indptr: IntArray,
    indices: IndexArray,
    row_weights: WeightArray,
    first: int,
    last: int,
    shift: int,
    place: IntArray,
    keys: npt.NDArray[np.unsignedinteger],
    others: IndexArray,
    weights: WeightArray,
) -> None:
    low = (1 << shift) - 1
    for v in range(first, last):
        for e in range(indptr[v], indptr[v + 1]):
            bucket = indices[e] >> shift
            at = place[bucket]
            place[bucket] = at + 1
            keys[at] = indices[e] & low
            others[at] = v
            if len(weights):
                weights[at] = row_weights[e]


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
