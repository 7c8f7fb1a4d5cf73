"""Text ids: each distinct text gets a number, in one pass and in compact memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph.edges import EdgeBlock

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class TextIds:
    """A table of texts: bytes one after the other, and a hash table over them.

    Examples
    --------
    >>> ids = TextIds()
    >>> text = np.frombuffer(b"anna bert anna", np.uint8)
    >>> ids.number(text, np.array([0, 5, 10]), np.array([4, 9, 14])).tolist()
    [0, 1, 0]
    >>> ids.labels().tolist()
    ['anna', 'bert']
    """

    def __init__(self) -> None:
        self._content = np.empty(1 << 16, np.uint8)
        self._starts = np.zeros(1 << 12, np.int64)
        self._hashes = np.empty(1 << 12, np.uint64)
        self._table = np.full(1 << 13, -1, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, content: Bytes, begins: Ints, ends: Ints) -> npt.NDArray[np.integer]:
        """Return the numbers of texts, given by where they begin and end in `content`.

        Parameters
        ----------
        content : ndarray of uint8
        begins, ends : ndarray of int64, shape (k,)

        Returns
        -------
        ndarray of int32 or int64, shape (k,)
            In the order of first appearance, from 0 on.
        """
        numbers = np.empty(len(begins), np.int64)
        done = 0
        while done < len(begins):
            self._make_room(int(ends[done] - begins[done]))
            self._count, done = _number(
                content,
                begins,
                ends,
                done,
                self._content,
                self._starts,
                self._hashes,
                self._table,
                self._count,
                numbers,
            )
        return numbers.astype(np.int32 if self._count < 2**31 else np.int64)

    def labels(self) -> npt.NDArray[np.object_]:
        """Return the texts by their numbers."""
        labels: npt.NDArray[np.object_] = self._arrow().to_numpy(zero_copy_only=False)
        return labels

    def sort(self, blocks: list[EdgeBlock]) -> tuple[list[EdgeBlock], int, npt.NDArray[np.object_]]:
        """Return edges between vertices in the order of their texts (as UTF-8), n, and the texts.

        The order does not depend on the order of the edges then. `blocks` is emptied on the way.
        """
        rank, labels = self.order()
        blocks.reverse()
        sorted_blocks = []
        while blocks:
            block = blocks.pop()
            sorted_blocks.append(EdgeBlock(rank[block.sources], rank[block.targets], block.weights))
        return sorted_blocks, len(rank), labels

    def order(self) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.object_]]:
        """Return the rank of each number in the order of the texts, and the texts in that order."""
        import pyarrow.compute as pc

        texts = self._arrow()
        order = pc.sort_indices(texts).to_numpy()
        index = np.int32 if len(order) < 2**31 else np.int64
        rank: npt.NDArray[np.integer] = np.empty(len(order), index)
        rank[order] = np.arange(len(order))
        return rank, texts.take(order).to_numpy(zero_copy_only=False)

    def _arrow(self) -> Any:
        import pyarrow as pa

        starts = self._starts[: self._count + 1]
        content = self._content[: int(starts[-1])]
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(content)]
        return pa.Array.from_buffers(pa.large_string(), self._count, buffers)

    def _make_room(self, longest: int) -> None:
        used = int(self._starts[self._count])
        if used + longest > len(self._content):
            self._content = _grown(self._content, max(2 * len(self._content), used + longest))
        if self._count + 1 >= len(self._starts):
            self._starts = _grown(self._starts, 2 * len(self._starts))
            self._hashes = _grown(self._hashes, 2 * len(self._hashes))
        if 2 * self._count >= len(self._table):
            self._table = np.full(2 * len(self._table), -1, np.int64)
            _rehash(self._table, self._hashes, self._count)


def _grown(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    larger = np.zeros(length, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def _rehash(table: Ints, hashes: npt.NDArray[np.uint64], count: int) -> None:
    mask = np.uint64(len(table) - 1)
    for i in range(count):
        at = hashes[i] & mask
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = i


@njit(cache=True, nogil=True)
def _number(
    content: Bytes,
    begins: Ints,
    ends: Ints,
    done: int,
    kept: Bytes,
    starts: Ints,
    hashes: npt.NDArray[np.uint64],
    table: Ints,
    count: int,
    numbers: Ints,
) -> tuple[int, int]:
    """Number texts until all are done or some array is full."""
    mask = np.uint64(len(table) - 1)
    for i in range(done, len(begins)):
        begin, length = begins[i], ends[i] - begins[i]
        key = np.uint64(0xCBF29CE484222325)  # FNV-1a, folded below
        for b in range(length):
            key = (key ^ np.uint64(content[begin + b])) * np.uint64(0x100000001B3)
        key ^= key >> np.uint64(29)
        at = key & mask
        found = table[at]
        while found >= 0:
            if hashes[found] == key and starts[found + 1] - starts[found] == length:
                same = True
                for b in range(length):
                    if kept[starts[found] + b] != content[begin + b]:
                        same = False
                        break
                if same:
                    break
            at = (at + np.uint64(1)) & mask
            found = table[at]
        if found < 0:
            full = starts[count] + length > len(kept) or count + 1 >= len(starts)
            if full or 2 * count >= len(table):
                return count, i
            for b in range(length):
                kept[starts[count] + b] = content[begin + b]
            starts[count + 1] = starts[count] + length
            hashes[count] = key
            table[at] = count
            found = count
            count += 1
        numbers[i] = found
    return count, len(begins)
