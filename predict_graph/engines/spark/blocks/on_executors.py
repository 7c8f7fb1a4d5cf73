"""Reading a graph on the executors: which ids occur, and the edges of each block, which they write.

A task numbers some edges and sends each to the block of its target; another one sorts what arrives
for a block, merges copies, and writes the file of the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.arrays import Array, BoolArray, IntArray
from predict_graph.engines.spark.blocks import stored

VALUES = "values binary"


def seen_ids(batches: stored.Batches, highest: int) -> Iterator[pa.RecordBatch]:
    """Yield the ids that occur as a bit set."""
    seen = np.zeros(highest + 1, bool)
    for batch in batches:
        for column in (0, 1):
            seen[batch.column(column).to_numpy(zero_copy_only=False)] = True
    yield _bytes_of(np.packbits(seen))


def distinct_ids(batches: stored.Batches) -> Iterator[pa.RecordBatch]:
    """Yield ids as byte arrays, many at once."""
    for batch in batches:
        yield _bytes_of(batch.column(0).to_numpy(zero_copy_only=False).astype(np.int64))


def _bytes_of(values: Array) -> pa.RecordBatch:
    return pa.record_batch([pa.array([values.tobytes()])], ["values"])


def sent(
    batches: stored.Batches, ids: Any, blocks: stored.Blocks, both: bool, weighted: bool
) -> Iterator[pa.RecordBatch]:
    """Replace ids by vertex numbers, and send each edge to the block that holds its target.

    With `both`, each edge is also turned around; -1 - source marks a turned edge. The hash of its
    key leads to the partition of a block, which stands for the sender here, too.
    """
    keys, numbered = blocks.keys, ids.value
    homes = _placed(blocks).homes.astype(np.min_scalar_type(len(keys)))  # sorted faster
    for piece in _pieces(batches):
        columns = [column.to_numpy() for column in piece.columns]
        ends: Any = columns[:2]
        if numbered is not None:
            ends = np.searchsorted(numbered, ends)
        sources, targets = (each.astype(np.int32) for each in ends)
        weights: Any = columns[2].astype(np.float32) if weighted else np.empty(0, np.float32)
        if both:
            turned = np.concatenate((sources, ~targets))
            sources, targets = turned, np.concatenate((targets, sources))
            weights = np.concatenate((weights, weights))
        order = np.argsort(homes[targets], kind="stable")
        ends = np.cumsum(np.bincount(homes[targets], minlength=len(keys)))
        for block, (key, places) in enumerate(zip(keys, np.split(order, ends[:-1]), strict=True)):
            own = weights[places] if weighted else weights
            yield stored.parcel(key, block, (sources[places], targets[places], own))


def written(batches: stored.Batches, blocks: stored.Blocks) -> Iterator[pa.RecordBatch]:
    """Write the blocks whose edges arrive, each edge once; an empty parcel says that one is.

    Where their folder is not seen, the parcel has the content of the file.
    """
    found: dict[int, list[Any]] = {}
    for _, number, content in stored.unpacked(batches):
        found.setdefault(number, []).append(content)
    placed = _placed(blocks)
    for number in list(found):
        parts = zip(*found.pop(number), strict=True)
        sources, targets, weights = (np.concatenate(each) for each in parts)
        turned = sources < 0
        edges = targets.astype(np.int64) << 32 | np.where(turned, ~sources, sources)
        del sources, targets
        if len(weights):
            edges, weights = _merged(edges, turned, weights)
        else:
            edges = np.unique(edges)
        rows = placed.rows(number)
        indptr = np.searchsorted(edges, np.append(rows, blocks.vertices) << 32)
        sources = (edges & 0xFFFFFFFF).astype(np.int32)
        with TemporaryDirectory() as own:
            seen = blocks.folder.is_dir()
            file = blocks.file(number) if seen else Path(own) / "block"
            stored.write_block(file, placed, rows, indptr, sources, weights)
            content = None if seen else file.read_bytes()
        yield stored.parcel(blocks.keys[number], number, content)


_placed = lru_cache(maxsize=1)(stored.Blocks.placed)


def _merged(
    edges: IntArray, turned: BoolArray, weights: npt.NDArray[np.float32]
) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Return edges in order: weights of copies are added, of two directions the larger counts."""
    order = np.lexsort((turned, edges))
    edges, turned, weights = edges[order], turned[order], weights[order]
    first = np.flatnonzero((np.diff(edges, prepend=-1) != 0) | (np.diff(turned, prepend=False)))
    edges, sums = edges[first], np.add.reduceat(weights, first, dtype=np.float64)
    first = np.flatnonzero(np.diff(edges, prepend=-1))
    return edges[first], np.maximum.reduceat(sums, first).astype(np.float32)


def _pieces(batches: stored.Batches, joined: int = 100) -> Iterator[pa.Table]:
    """Join so many batches: of about 10,000 rows, by Spark."""
    waiting = iter(batches)
    while piece := list(islice(waiting, joined)):
        yield pa.Table.from_batches(piece)
