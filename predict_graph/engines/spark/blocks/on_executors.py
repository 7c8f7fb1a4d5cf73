"""Python code on the executors: numbering edges, sorting them into blocks, and passes over blocks.

A block holds some vertices with all of their inbound edges in compressed sparse rows, 4 bytes per
edge. Edges are assigned to blocks by a hash of the target, which balances blocks despite hubs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.arrays import Array, BoolArray, IndexArray, IntArray

Batches = Iterable[pa.RecordBatch]

BUCKETS = "bucket int, sources binary, targets binary, weights binary"
BLOCKS = "rows binary, starts binary, sources binary, weights binary, edges long"
ANSWERS = "places binary, values binary"
SLICES = "slice int, counts binary"

# Edges numbered at a time, and of a block unless one vertex has more (16 MiB): limits memory
_PIECE = 1 << 20
_MIXER = np.uint32(0x9E3779B1)  # Knuth's multiplicative hash: 2**32 / golden ratio
_UNWEIGHTED = np.empty(0, np.float32)


@dataclass(frozen=True)
class Block:
    """Some vertices with their inbound edges."""

    rows: IndexArray
    starts: IntArray
    sources: IndexArray
    weights: npt.NDArray[np.float32]


def seen_ids(batches: Batches, highest: int) -> Iterator[pa.RecordBatch]:
    """Yield the ids that occur as a bit set."""
    seen = np.zeros(highest + 1, bool)
    for batch in batches:
        for column in (0, 1):
            seen[batch.column(column).to_numpy(zero_copy_only=False)] = True
    yield _record(ANSWERS, [np.zeros(0, np.uint8)], [np.packbits(seen)])


def distinct_ids(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield ids as byte arrays, many at once."""
    for batch in batches:
        ids = np.ascontiguousarray(batch.column(0).to_numpy(zero_copy_only=False), np.int64)
        yield _record(ANSWERS, [np.zeros(0, np.uint8)], [ids])


def bucketed(
    batches: Batches, ids: Any, buckets: int, both: bool, weighted: bool
) -> Iterator[pa.RecordBatch]:
    """Replace ids by vertex numbers and sort edges into buckets by their targets.

    With `both`, each edge is also turned around; -1 - source marks a turned edge.
    """
    number = _numbering(ids.value)
    for piece in _pieces(batches):
        columns = [column.to_numpy() for column in piece.columns]
        sources, targets = number(columns[0]), number(columns[1])
        weights: Any = columns[2].astype(np.float32) if weighted else _UNWEIGHTED
        if both:
            sources, targets = (
                np.concatenate((sources, ~targets)),
                np.concatenate((targets, sources)),
            )
            weights = np.concatenate((weights, weights))
        mixed = (targets.astype(np.uint32) * _MIXER) >> np.uint32(16)
        bucket = (mixed.astype(np.uint64) * np.uint64(buckets) >> np.uint64(16)).astype(np.uint16)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=buckets))
        parts: list[Any] = [np.split(each[order], ends[:-1]) for each in (sources, targets)]
        parts.append(np.split(weights[order], ends[:-1]) if weighted else [weights] * buckets)
        yield _record(BUCKETS, np.arange(buckets, dtype=np.int32), *parts)


def built(batches: Batches, weighted: bool) -> Iterator[pa.RecordBatch]:
    """Sort the edges of each bucket, merge duplicates, and split them into blocks."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for batch in batches:
        columns = [_values(batch.column(k), kind) for k, kind in ((1, "i4"), (2, "i4"), (3, "f4"))]
        for number, bucket in enumerate(batch.column(0).to_pylist()):
            found.setdefault(bucket, []).append(tuple(column[number] for column in columns))
    for bucket in list(found):
        parts = zip(*found.pop(bucket), strict=True)
        sources, targets, weights = (np.concatenate(each) for each in parts)
        turned = sources < 0
        key = targets.astype(np.int64) << 32 | np.where(turned, ~sources, sources)
        del sources, targets
        if weighted:
            key, weights = _merged(key, turned, weights)
        else:
            key = np.unique(key)
        yield from _cut(key, weights)


def _merged(
    key: IntArray, turned: BoolArray, weights: npt.NDArray[np.float32]
) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Return edges in order: weights of copies are added, of two directions the larger counts."""
    order = np.lexsort((turned, key))
    key, turned, weights = key[order], turned[order], weights[order]
    first = np.flatnonzero((np.diff(key, prepend=-1) != 0) | (np.diff(turned, prepend=False)))
    key, sums = key[first], np.add.reduceat(weights, first, dtype=np.float64)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return key[first], np.maximum.reduceat(sums, first).astype(np.float32)


def _cut(key: IntArray, weights: npt.NDArray[np.float32] = _UNWEIGHTED) -> Iterator[pa.RecordBatch]:
    """Split sorted edges into blocks; all edges of a vertex stay together."""
    targets = (key >> 32).astype(np.int32)
    sources = (key & 0xFFFFFFFF).astype(np.int32)
    first = np.flatnonzero(np.concatenate(([True], targets[1:] != targets[:-1])))
    starts = np.append(first, len(key)) if len(key) else np.zeros(1, np.int64)
    rows = targets[first] if len(key) else targets
    begin = 0
    while begin < len(rows):
        end = int(np.searchsorted(starts, starts[begin] + _PIECE, side="right")) - 1
        end = max(min(end, len(rows)), begin + 1)
        a, b = int(starts[begin]), int(starts[end])
        yield _record(
            BLOCKS,
            [rows[begin:end]],
            [starts[begin : end + 1] - a],
            [sources[a:b]],
            [weights[a:b]],
            np.array([b - a], np.int64),
        )
        begin = end


def out_edges_counted(batches: Batches, vertices: int, slices: int) -> Iterator[pa.RecordBatch]:
    """Count the out-edges of every vertex in some blocks; yield the counts in slices."""
    counts = np.zeros(vertices, np.int32)
    for block in blocks_in(batches):
        counts += np.bincount(block.sources, minlength=vertices).astype(np.int32)
    yield _record(SLICES, np.arange(slices, dtype=np.int32), np.array_split(counts, slices))


def summed(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Add up the counts of several tasks, slice by slice."""
    sums: dict[int, Any] = {}
    for batch in batches:
        counts = _values(batch.column(1), "i4")
        for number, each in enumerate(batch.column(0).to_pylist()):
            sums[each] = counts[number] + sums.get(each, 0)
    if sums:
        yield _record(SLICES, np.array(list(sums), np.int32), list(sums.values()))


def blocks_in(batches: Batches) -> Iterator[Block]:
    """Return the blocks in the rows of a table."""
    for batch in batches:
        kinds = ("i4", "i8", "i4", "f4")
        columns = [_values(batch.column(k), kind) for k, kind in enumerate(kinds)]
        for number in range(batch.num_rows):
            yield Block(*(column[number] for column in columns))


def _numbering(ids: Any) -> Callable[[Any], npt.NDArray[np.int32]]:
    """Return a function that maps ids to vertices."""
    if ids is None:
        return lambda found: found.astype(np.int32)
    return lambda found: np.searchsorted(ids, found).astype(np.int32)


def _pieces(batches: Batches) -> Iterator[pa.Table]:
    """Merge small batches into larger ones."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _PIECE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _values(column: pa.Array, kind: str) -> list[Array]:
    """Return each value of a binary column as an array, without copies."""
    _, starts, data = column.buffers()
    if starts is None or starts.size == 0:
        return []
    wide = pa.types.is_large_binary(column.type)
    offsets = np.frombuffer(starts, np.int64 if wide else np.int32)[column.offset :]
    offsets = offsets[: len(column) + 1]
    bytes_ = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return [
        _aligned(bytes_[start:stop], kind)
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]


def _aligned(found: npt.NDArray[np.uint8], kind: str) -> Array:
    """Return bytes as numbers; copied where they are not aligned."""
    size = np.dtype(kind).itemsize
    if found.ctypes.data % size:
        found = found.copy()
    return found.view(kind)


def _record(schema: str, *columns: Any) -> pa.RecordBatch:
    """Return a batch: lists of arrays as bytes, arrays unchanged."""
    names = [part.split()[0] for part in schema.split(",")]
    arrays = [
        pa.array(column)
        if isinstance(column, np.ndarray)
        else pa.array([np.ascontiguousarray(each).tobytes() for each in column], pa.binary())
        for column in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names)
