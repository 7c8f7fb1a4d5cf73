"""Blocks of a graph in Arrow files, which every Python worker maps into its memory.

A block is a sparse matrix: a row for each of its own vertices, with their inbound edges, and a
column for each vertex that these come from. Columns are the own vertices, ascending, then vertices
of other blocks (the *boundary*), by block and vertex. So a compiled kernel runs on a block as on a
graph with more columns than rows, and a message from one block to another is one array: the values
of those vertices of the one that the other reads. Block `b` is on machine `b` mod machines.

Files are in a folder that all executors see. Workers on one machine share the pages of a file, and
a worker that is started again only maps it again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from predict_graph.answers import readable_bytes
from predict_graph.arrays import Array
from predict_graph.engines.spark.blocks.on_executors import Batches, blocks_in
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.errors import JobError
from predict_graph.files import written_beside
from predict_graph.graph import Graph
from predict_graph.graph.csr import edges_of

DEGREES = "degrees.npy"
PARCELS = "to long, sender int, data binary"  # a schema of Spark

_MOST_BYTES = 2**31 - 1  # limits a value in a row, as arrays of Java
_NO_WEIGHTS = np.empty(0, np.float32)
_FOLDER: list[Path] = []  # that of the graph whose blocks this process maps, if any


@dataclass(frozen=True)
class Placement:
    """The block of each vertex, and its place among the vertices of that block."""

    homes: Array
    places: Array
    blocks: int

    @classmethod
    def of(cls, vertices: int, blocks: int) -> Placement:
        """Place vertices by the hash of their ids, as Spark places rows."""
        homes = partition_of(np.arange(vertices), blocks).astype(np.int32)
        order = np.argsort(homes, kind="stable")
        counts = np.bincount(homes, minlength=blocks)
        places = np.empty(vertices, np.int32)
        places[order] = np.arange(vertices) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(homes, places, blocks)

    def rows(self, number: int) -> Array:
        """Return the vertices of a block, ascending."""
        return np.flatnonzero(self.homes == number)


def write_blocks(graph: Graph, folder: Path, blocks: int) -> None:
    """Write the blocks of a graph into a folder."""
    placed = Placement.of(graph.vertices, blocks)
    reverse = graph.reverse
    for number in range(blocks):
        rows = placed.rows(number)
        lengths, edges = edges_of(reverse.indptr, rows)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        weights = _NO_WEIGHTS if reverse.weights is None else reverse.weights[edges]
        found = (rows, indptr, reverse.indices[edges], weights)
        write_block(folder, number, placed, graph.out_degrees[rows], *found)


def split(batches: Batches, keys: Sequence[int], vertices: int) -> Iterator[pa.RecordBatch]:
    """Send the rows of packed blocks to the blocks that hold them; runs on executors.

    The hash of its key leads to the partition of a block, which stands for the sender here, too.
    """
    placed = _placement(vertices, len(keys))
    for packed in blocks_in(batches):
        homes = placed.homes[packed.rows]
        order = np.argsort(homes, kind="stable")
        bounds = np.searchsorted(homes[order], np.arange(len(keys) + 1)).tolist()
        for number, key in enumerate(keys):
            rows = order[bounds[number] : bounds[number + 1]]
            lengths, edges = edges_of(packed.starts, rows)
            weights = packed.weights[edges] if len(packed.weights) else packed.weights
            part = (packed.rows[rows], lengths, packed.sources[edges], weights)
            yield parcels(number, [(key, pickle.dumps(part, 5))])


def joined(
    batches: Batches, folder: Path, keys: Sequence[int], vertices: int
) -> Iterator[pa.RecordBatch]:
    """Write the blocks whose rows arrive, each vertex once; runs on executors.

    An empty parcel per block says that it is written.
    """
    found: dict[int, list[Any]] = {}
    for batch in batches:
        for number, data in zip(batch.column(1).to_pylist(), batch.column(2), strict=True):
            found.setdefault(number, []).append(pickle.loads(data.as_buffer()))
    placed, degrees = _placement(vertices, len(keys)), np.load(folder / DEGREES, mmap_mode="r")
    for number, parts in found.items():
        arrived, lengths, sources, weights = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        rows = placed.rows(number)
        in_degrees = np.zeros(len(rows), np.int64)
        in_degrees[placed.places[arrived]] = lengths
        indptr = np.concatenate(([0], np.cumsum(in_degrees)))
        begins = np.cumsum(lengths) - lengths
        edges = np.repeat(indptr[placed.places[arrived]] - begins, lengths)
        edges += np.arange(len(sources))
        ordered = np.empty_like(sources)
        ordered[edges] = sources
        in_order = np.empty_like(weights)
        if len(weights):
            in_order[edges] = weights
        write_block(folder, number, placed, degrees[rows], rows, indptr, ordered, in_order)
        yield parcels(number, [(keys[number], b"")])


_placement = lru_cache(maxsize=1)(Placement.of)


def parcels(number: int, rows: Sequence[tuple[int, bytes]]) -> pa.RecordBatch:
    """Return rows that a block sends."""
    keys, data = zip(*rows, strict=True)
    if (most := max(map(len, data))) > _MOST_BYTES:
        raise JobError(
            f"block {number} sends {readable_bytes(most)} at once, and Spark moves up to "
            f"{readable_bytes(_MOST_BYTES)}; accepted: more partitions per core, or machines"
        )
    senders = pa.array([number] * len(keys), pa.int32())
    columns = [pa.array(keys, pa.int64()), senders, pa.array(data, pa.binary())]
    return pa.record_batch(columns, ["to", "sender", "data"])


def write_block(
    folder: Path,
    number: int,
    placed: Placement,
    degrees: Array,
    rows: Array,
    indptr: Array,
    sources: Array,
    weights: Array,
) -> None:
    """Number the columns of a block, and write it."""
    seen = np.zeros(len(placed.homes), bool)
    seen[sources] = True
    seen[rows] = False
    boundary = np.flatnonzero(seen)
    boundary = boundary[np.argsort(placed.homes[boundary], kind="stable")]
    columns = np.empty(len(seen), np.int32)
    columns[rows] = np.arange(len(rows))
    columns[boundary] = len(rows) + np.arange(len(boundary))
    sources = columns[sources]
    edges = np.bincount(sources, minlength=len(rows) + len(boundary))
    arrays = {
        "rows": rows,
        "indptr": indptr,
        "sources": sources,
        "weights": weights,
        "degrees": degrees.astype(np.int64),
        "starts": np.searchsorted(placed.homes[boundary], np.arange(placed.blocks + 1)),
        "boundary": placed.places[boundary],
        "edges": edges.astype(np.int32),
    }
    lists = [pa.LargeListArray.from_arrays([0, len(a)], pa.array(a)) for a in arrays.values()]
    batch = pa.record_batch(lists, names=list(arrays))
    with (
        written_beside(_file(folder, number)) as beside,  # a repeated task replaces it whole
        pa.OSFile(str(beside), "wb") as file,
        pa.ipc.new_file(file, batch.schema) as writer,
    ):
        writer.write(batch)


def _file(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05d}.arrow"


@lru_cache(maxsize=4096)
def _mapped(folder: Path, number: int) -> dict[str, Array]:
    """Map the arrays of a block into memory."""
    batch = pa.ipc.open_file(pa.memory_map(str(_file(folder, number)))).get_batch(0)
    names = batch.schema.names
    return {name: batch.column(k).values.to_numpy() for k, name in enumerate(names)}


@dataclass(frozen=True)
class StoredBlock:
    """One block, as a worker sees it."""

    folder: Path
    number: int
    blocks: int
    machines: int
    vertices: int
    """Of the whole graph."""

    def __getattr__(self, name: str) -> Array:
        """Return an array of the file: see :func:`write_block`."""
        if name.startswith("__"):  # of protocols such as that of copying
            raise AttributeError(name)
        return _mapped(self.folder, self.number)[name]

    @property
    def count(self) -> int:
        """The number of its own vertices."""
        return len(self.rows)

    @property
    def columns(self) -> int:
        """The number of vertices that it reads: its own and the boundary."""
        return len(self.edges)

    @cached_property
    def ids(self) -> Array:
        """The vertices that it reads, by column."""
        found = [self.rows]
        for other in range(self.blocks):
            there = slice(*self.starts[other : other + 2].tolist())
            found.append(_mapped(self.folder, other)["rows"][self.boundary[there]])
        return np.concatenate(found)

    def received_from(self, other: int) -> slice:
        """Return the columns whose values come from another block."""
        start, stop = self.starts[other : other + 2].tolist()
        return slice(self.count + start, self.count + stop)

    @cached_property
    def sent_to(self) -> list[Array]:
        """The places of this block's vertices that each block reads, this one included."""
        every = [_mapped(self.folder, other) for other in range(self.blocks)]
        own = slice(self.number, self.number + 2)
        found = [each["boundary"][slice(*each["starts"][own].tolist())] for each in every]
        found[self.number] = np.flatnonzero(self.edges[: self.count])
        return found

    @cached_property
    def inside(self) -> Array:
        """How many out-edges of each own vertex stay on its machine."""
        found = self.edges[: self.count].astype(np.int64)
        for other in range(self.number % self.machines, self.blocks, self.machines):
            if other != self.number:
                arrays = _mapped(self.folder, other)
                start, stop = arrays["starts"][self.number : self.number + 2].tolist()
                first = len(arrays["rows"])
                found[self.sent_to[other]] += arrays["edges"][first + start : first + stop]
        return found


_kept = lru_cache(maxsize=4096)(StoredBlock)


def stored_block(
    folder: Path, number: int, blocks: int, machines: int, vertices: int
) -> StoredBlock:
    """Return a block, which this process keeps until it needs one of another graph."""
    if folder not in _FOLDER:
        _kept.cache_clear()
        _mapped.cache_clear()
        _FOLDER[:] = [folder]
    return _kept(folder, number, blocks, machines, vertices)
