"""From the ids of a file to vertices 0 … n - 1.

The vertices are the ids that occur in an edge, in ascending order. When they are 0 … n - 1 already,
nothing changes and nothing is stored; otherwise the original ids are kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.edges import EdgeBlock

IndexArray = npt.NDArray[np.integer]


class IdMap:
    """Collects the ids of a graph, then numbers them in ascending order.

    Small ids are marked in an array with one byte an id; as soon as the ids are far apart, they go
    into a hash table with 12 bytes an entry, which is at most half full.

    Examples
    --------
    >>> ids = IdMap()
    >>> ids.add(np.array([30, 7]))
    >>> ids.add(np.array([10**12, 7]))
    >>> ids.finish().tolist()
    [7, 30, 1000000000000]
    >>> ids.vertices_of(np.array([30, 10**12], dtype=np.int64)).tolist()
    [1, 2]
    """

    def __init__(self) -> None:
        self._present = np.zeros(1 << 16, np.bool_)
        self._seen = 0
        self._table: _HashTable | None = None
        self._vertex = np.empty(0, np.int32)
        self._identity = False

    def add(self, ids: IndexArray) -> None:
        """Note the ids of some edges' ends."""
        if not len(ids):
            return
        self._seen += len(ids)
        if self._table is None:
            most = int(ids.max())
            if most < max(1 << 22, 2 * self._seen, len(self._present)):
                if most >= len(self._present):
                    grown = np.zeros(max(most + 1, 2 * len(self._present)), np.bool_)
                    grown[: len(self._present)] = self._present
                    self._present = grown
                _mark(self._present, ids)
                return
            self._table = _HashTable()
            self._table.add(np.flatnonzero(self._present))
            self._present = np.zeros(0, np.bool_)
        self._table.add(ids.astype(np.int64, copy=False))

    def finish(self) -> npt.NDArray[np.int64]:
        """Number the ids and return them, ascending."""
        if self._table is not None:
            ids = self._table.finish()
            self._identity = False
            return ids
        ids = np.flatnonzero(self._present)
        self._identity = len(ids) > 0 and int(ids[-1]) == len(ids) - 1
        if not self._identity:
            index = np.int32 if len(ids) < 2**31 else np.int64
            self._vertex = np.zeros(len(self._present), index)
            self._vertex[ids] = np.arange(len(ids))
        return ids

    @property
    def identity(self) -> bool:
        """True when the ids are the vertices: 0 … n - 1."""
        return self._identity

    def vertices_of(self, ids: IndexArray) -> IndexArray:
        """Return the vertex of each id."""
        if self._identity:
            return ids
        if self._table is not None:
            return self._table.positions(ids.astype(np.int64, copy=False))
        vertices: IndexArray = self._vertex[ids]
        return vertices


def relabel(
    blocks: list[EdgeBlock],
) -> tuple[list[EdgeBlock], int, npt.NDArray[np.int64] | None]:
    """Return the edges between vertices 0 … n - 1, n, and the original ids.

    Parameters
    ----------
    blocks : list of EdgeBlock
        Emptied on the way, so that the edges are never stored twice.

    Returns
    -------
    blocks : list of EdgeBlock
    vertices : int
    labels : ndarray of int64, shape (n,), or None
        None when the ids were 0 … n - 1.
    """
    ids = IdMap()
    for block in blocks:
        ids.add(block.sources)
        ids.add(block.targets)
    labels = ids.finish()
    if ids.identity:
        return blocks, len(labels), None
    blocks.reverse()
    relabelled = []
    while blocks:
        block = blocks.pop()
        relabelled.append(
            EdgeBlock(ids.vertices_of(block.sources), ids.vertices_of(block.targets), block.weights)
        )
    return relabelled, len(labels), labels


class _HashTable:
    """Open addressing, linear probing; -1 marks a free place."""

    def __init__(self) -> None:
        self._keys = np.full(1 << 16, -1, np.int64)
        self._values = np.empty(0, np.int32)
        self._count = 0

    def add(self, ids: npt.NDArray[np.int64]) -> None:
        done = 0
        while done < len(ids):
            self._count, done = _insert(self._keys, self._count, ids, done)
            if done < len(ids):
                entries = self._keys[self._keys >= 0]
                self._keys = np.full(2 * len(self._keys), -1, np.int64)
                self._count, _ = _insert(self._keys, 0, entries, 0)

    def finish(self) -> npt.NDArray[np.int64]:
        ids = np.sort(self._keys[self._keys >= 0])
        self._values = np.empty(len(self._keys), np.int32 if len(ids) < 2**31 else np.int64)
        _number(self._keys, self._values, ids)
        return ids

    def positions(self, ids: npt.NDArray[np.int64]) -> IndexArray:
        found: IndexArray = _look_up(self._keys, self._values, ids)
        return found


@njit(cache=True, nogil=True)
def _mark(present: npt.NDArray[np.bool_], ids: IndexArray) -> None:
    for e in range(len(ids)):
        present[ids[e]] = True


@njit(cache=True, nogil=True, inline="always")
def _place(keys: npt.NDArray[np.int64], key: int) -> int:
    mask = np.uint64(len(keys) - 1)
    # Fibonacci hashing (Knuth, TAOCP 6.4), folded because the low bits are used.
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = (mixed ^ (mixed >> np.uint64(32))) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + np.uint64(1)) & mask
    return at  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def _insert(
    keys: npt.NDArray[np.int64], count: int, ids: npt.NDArray[np.int64], done: int
) -> tuple[int, int]:
    for e in range(done, len(ids)):
        if 2 * count >= len(keys):
            return count, e
        at = _place(keys, ids[e])
        if keys[at] == -1:
            keys[at] = ids[e]
            count += 1
    return count, len(ids)


@njit(cache=True, nogil=True)
def _number(keys: npt.NDArray[np.int64], values: IndexArray, ids: npt.NDArray[np.int64]) -> None:
    for i in range(len(ids)):
        values[_place(keys, ids[i])] = i


@njit(cache=True, nogil=True)
def _look_up(
    keys: npt.NDArray[np.int64], values: IndexArray, ids: npt.NDArray[np.int64]
) -> IndexArray:
    found = np.empty(len(ids), values.dtype)
    for e in range(len(ids)):
        found[e] = values[_place(keys, ids[e])]
    return found
