"""From the ids of a file to vertices 0 … n - 1.

The vertices are the ids that occur in an edge, in ascending order. When they are 0 … n - 1 already,
nothing changes and nothing is stored; otherwise the original ids are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.edges import EdgeBlock

IndexArray = npt.NDArray[np.integer]
_DENSE = 1 << 22  # limits the memory of a table of all ids up to the largest one


def relabel(
    blocks: list[EdgeBlock], *, apart: bool = False
) -> tuple[list[EdgeBlock], int, npt.NDArray[Any] | None]:
    """Return the edges between vertices 0 … n - 1, n, and the original ids unless they are those.

    `blocks` is emptied on the way, so that the edges are never stored twice. With `apart`, sources
    and targets are of two kinds: the same id in both is two vertices, and sources come first.

    Examples
    --------
    >>> edges, n, labels = relabel([EdgeBlock(np.array([1, 1]), np.array([1, 2]))], apart=True)
    >>> n, edges[0].targets.tolist(), labels.tolist()
    (3, [1, 2], [1, 1, 2])
    """
    sources: list[Any] = [block.sources for block in blocks]
    targets: list[Any] = [block.targets for block in blocks]
    weights = [block.weights for block in blocks]
    blocks.clear()
    if apart:
        own, other = _numbered(sources), _numbered(targets)
        targets = [part + len(own) for part in targets]
        labels = np.concatenate([own, other])
    else:
        ends = sources + targets
        del sources, targets
        labels = _numbered(ends)
        sources, targets = ends[: len(weights)], ends[len(weights) :]
    plain = not apart and labels.dtype != object and int(labels[-1]) == len(labels) - 1
    edges = [EdgeBlock(*each) for each in zip(sources, targets, weights, strict=True)]
    return edges, len(labels), None if plain else labels


def _numbered(parts: list[Any]) -> npt.NDArray[Any]:
    """Replace ids by their places among all of them, in ascending order; return them so."""
    if not isinstance(parts[0], np.ndarray):
        return _numbered_texts(parts)
    largest = max(int(part.max()) for part in parts)
    if largest < max(_DENSE, 2 * sum(map(len, parts))):
        present = np.zeros(largest + 1, np.bool_)
        for part in parts:
            _mark(present, part)
        ids = np.flatnonzero(present)
        if len(ids) == largest + 1:
            return ids
        rank = np.zeros(largest + 1, np.int32 if len(ids) < 2**31 else np.int64)
        rank[ids] = np.arange(len(ids))
    else:
        found = _encoded(parts)
        order = np.argsort(found)
        ids, rank = found[order], _inverse(order)
    for i, part in enumerate(parts):
        parts[i] = rank[part]
    return ids


def _numbered_texts(parts: list[Any]) -> npt.NDArray[np.object_]:
    """Do the same with dictionary arrays of pyarrow; the order is that of the UTF-8 bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pa.chunked_array(parts).unify_dictionaries()
    texts = encoded.chunk(0).dictionary
    order = pc.sort_indices(texts)
    rank = _inverse(order.to_numpy())
    parts[:] = [rank[chunk.indices.to_numpy()] for chunk in encoded.chunks]
    labels: npt.NDArray[np.object_] = texts.take(order).to_numpy(zero_copy_only=False)
    return labels


def _inverse(order: IndexArray) -> IndexArray:
    rank: IndexArray = np.empty(len(order), np.int32 if len(order) < 2**31 else np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _encoded(parts: list[Any]) -> npt.NDArray[np.int64]:
    """Replace ids by numbers in the order of first appearance; return the ids in that order.

    A hash table with open addressing, at most half full.
    """
    keys, codes, count = np.empty(1 << 16, np.int64), np.full(1 << 16, -1, np.int64), 0
    for i, part in enumerate(parts):
        ids = part.astype(np.int64, copy=False)
        numbers, done = np.empty(len(ids), np.int64), 0
        while done < len(ids):
            count, done = _encode(keys, codes, count, ids, numbers, done)
            if done < len(ids):
                known = _in_order(keys, codes, count)
                keys, codes = np.empty(2 * len(keys), np.int64), np.full(2 * len(codes), -1)
                _encode(keys, codes, 0, known, np.empty(count, np.int64), 0)
        parts[i] = numbers.astype(np.int32) if count < 2**31 else numbers
    return _in_order(keys, codes, count)


def _in_order(
    keys: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    known, used = np.empty(count, np.int64), codes >= 0
    known[codes[used]] = keys[used]
    return known


@njit(cache=True, nogil=True)
def _mark(present: npt.NDArray[np.bool_], ids: IndexArray) -> None:
    for e in range(len(ids)):
        present[ids[e]] = True


@njit(cache=True, nogil=True)
def _encode(
    keys: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    count: int,
    ids: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    done: int,
) -> tuple[int, int]:
    """Number ids from `done` on, until all are or the table is half full."""
    mask = np.uint64(len(keys) - 1)
    for e in range(done, len(ids)):
        if 2 * count >= len(keys):
            return count, e
        # Fibonacci hashing (Knuth, TAOCP 6.4), folded because the low bits are used.
        mixed = np.uint64(ids[e]) * np.uint64(0x9E3779B97F4A7C15)
        at = (mixed ^ (mixed >> np.uint64(32))) & mask
        while codes[at] >= 0 and keys[at] != ids[e]:
            at = (at + np.uint64(1)) & mask
        if codes[at] < 0:
            keys[at], codes[at] = ids[e], count
            count += 1
        numbers[e] = codes[at]
    return count, len(ids)
