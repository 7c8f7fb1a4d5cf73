"""Blocks of a graph in Arrow files, which every Python worker maps into its memory.

A block is a sparse matrix: a row for each of its own vertices, with their inbound edges, and a
column for each vertex that these come from. Columns are the own vertices, ascending, then vertices
of other blocks (the *boundary*), by block and vertex. So a compiled kernel runs on a block as on a
graph with more columns than rows, and a message from one block to another is one array: the values
of those vertices of the one that the other reads. Block `b` is on machine `b` mod machines.

Files are in a folder that all executors see, or Spark brings each executor copies of them. Workers
on one machine share the pages of a file, and a worker that is started again only maps it again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from predict_graph.answers import readable_bytes
from predict_graph.arrays import Array
from predict_graph.errors import JobError
from predict_graph.files import written_beside
from predict_graph.graph import Graph
from predict_graph.graph.csr import edges_of

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Iterable["pa.RecordBatch"]

PARCELS = "to long, sender int, data binary"  # a schema of Spark


def block_keys(blocks: int, most: int = 64) -> tuple[int, ...]:
    """Return for each partition the first id that Spark's hash puts there.

    It is among `most` ids per block, which is by far enough for a hash.

    Examples
    --------
    >>> block_keys(4)
    (2, 0, 14, 3)
    """
    from predict_graph.engines.spark.tables.hashing import partition_of

    homes = partition_of(np.arange(most * blocks), blocks)
    return tuple(int((homes == number).argmax()) for number in range(blocks))


@dataclass(frozen=True)
class Blocks:
    """The files of the blocks of a graph.

    Parameters
    ----------
    folder : Path
    keys : tuple of int
        The key of each block, whose hash leads to its partition.
    machines : int
    vertices : int
        Of the whole graph.
    sent : tuple of Broadcast
        Copies of the files, where the executors do not see the folder.
    """

    folder: Path
    keys: tuple[int, ...]
    machines: int
    vertices: int
    sent: tuple[Any, ...] = field(default=(), compare=False)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The blocks by key."""
        return {key: number for number, key in enumerate(self.keys)}

    def file(self, number: int) -> Path:
        """Return the file of a block."""
        if self.sent:
            return path_of(self.sent[number])
        return self.folder / f"block-{number:05d}.arrow"

    def placed(self) -> Placement:
        """Place vertices by the hash of their ids, as Spark places rows."""
        blocks = len(self.keys)
        from predict_graph.engines.spark.tables.hashing import partition_of

        homes = partition_of(np.arange(self.vertices), blocks).astype(np.int32)
        order = np.argsort(homes, kind="stable")
        counts = np.bincount(homes, minlength=blocks)
        places = np.empty(self.vertices, np.int32)
        places[order] = np.arange(self.vertices) - np.repeat(np.cumsum(counts) - counts, counts)
        return Placement(homes, places, blocks)


class Placement(NamedTuple):
    """The block of each vertex, and its place among the vertices of that block."""

    homes: Array
    places: Array
    blocks: int

    def rows(self, number: int) -> Array:
        """Return the vertices of a block, ascending."""
        return np.flatnonzero(self.homes == number)


def path_of(file: Any) -> Path:
    """Return the path of a file, or here of one that was sent as a broadcast."""
    return Path(getattr(file, "_path", file))


def write_blocks(graph: Graph, blocks: Blocks) -> None:
    """Write the blocks of a graph."""
    placed, reverse = blocks.placed(), graph.reverse
    for number in range(placed.blocks):
        rows = placed.rows(number)
        lengths, edges = edges_of(reverse.indptr, rows)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        weights = np.empty(0, np.float32) if reverse.weights is None else reverse.weights[edges]
        found = (rows, indptr, reverse.indices[edges], weights)
        write_block(blocks.file(number), placed, *found)


def parcel(key: int, number: int, content: Any = None, most: int = 2**31 - 1) -> pa.RecordBatch:
    """Return what a block sends to that of a key, as a batch of one row.

    It has at most so many bytes, as an array of Java.
    """
    import pyarrow as pa

    data = pickle.dumps(content, 5)
    if len(data) > most:
        raise JobError(
            f"block {number} sends {readable_bytes(len(data))} at once, and Spark moves up to "
            f"{readable_bytes(most)}; accepted: more partitions per core, or machines"
        )
    columns = [pa.array([key]), pa.array([number], pa.int32()), pa.array([data], pa.binary())]
    return pa.record_batch(columns, ["to", "sender", "data"])


def unpacked(batches: Batches) -> Iterator[tuple[int, int, Any]]:
    """Yield the key of the receiver, the sender and the content of parcels."""
    for batch in batches:
        keys, senders = batch.column(0).to_pylist(), batch.column(1).to_pylist()
        for key, sender, data in zip(keys, senders, batch.column(2), strict=True):
            yield key, sender, pickle.loads(data.as_buffer())


def write_block(
    path: Path, placed: Placement, rows: Array, indptr: Array, sources: Array, weights: Array
) -> None:
    """Number the columns of a block, and write it."""
    import pyarrow as pa

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
        "starts": np.searchsorted(placed.homes[boundary], np.arange(placed.blocks + 1)),
        "boundary": placed.places[boundary],
        "edges": edges.astype(np.int32),
    }
    lists = [pa.LargeListArray.from_arrays([0, len(a)], pa.array(a)) for a in arrays.values()]
    batch = pa.record_batch(lists, names=list(arrays))
    # A repeated task replaces it whole
    with written_beside(path) as beside, pa.ipc.new_file(str(beside), batch.schema) as writer:
        writer.write(batch)


class StoredBlock:
    """One block, as a worker sees it: its arrays are those of :func:`write_block`."""

    def __init__(self, graph: Blocks, number: int) -> None:
        self.graph, self.number, self.vertices = graph, number, graph.vertices

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        """The arrays of its file, mapped into memory."""
        import pyarrow as pa

        batch = pa.ipc.open_file(pa.memory_map(str(self.graph.file(self.number)))).get_batch(0)
        names = batch.schema.names
        return {name: batch.column(k).values.to_numpy() for k, name in enumerate(names)}

    def __getattr__(self, name: str) -> Array:
        if name.startswith("__"):  # of protocols such as that of copying
            raise AttributeError(name)
        return self._arrays[name]

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
        others = (each.rows[self.boundary[self._in(each)]] for each in opened(self.graph))
        return np.concatenate([self.rows, *others])

    def _in(self, other: StoredBlock) -> slice:
        """Return the vertices of the boundary that another block has."""
        return slice(*self.starts[other.number : other.number + 2].tolist())

    def received_from(self, other: StoredBlock) -> slice:
        """Return the columns whose values come from another block."""
        there = self._in(other)
        return slice(self.count + there.start, self.count + there.stop)

    @cached_property
    def sent_to(self) -> list[Array]:
        """The places of this block's vertices that each block reads, this one included."""
        found = [each.boundary[each._in(self)] for each in opened(self.graph)]
        found[self.number] = np.flatnonzero(self.edges[: self.count])
        return found

    @cached_property
    def degrees(self) -> Array:
        """The out-degree of each own vertex."""
        return self._edges_to(opened(self.graph))

    @cached_property
    def inside(self) -> Array:
        """How many out-edges of each own vertex stay on its machine."""
        machines = self.graph.machines
        return self._edges_to(opened(self.graph)[self.number % machines :: machines])

    def _edges_to(self, others: Sequence[StoredBlock]) -> Array:
        """Count the out-edges of each own vertex to the vertices of some blocks."""
        found = np.zeros(self.count, np.int64)
        for other in others:
            places = self.sent_to[other.number]
            own = other.number == self.number
            found[places] += other.edges[places if own else other.received_from(self)]
        return found


@lru_cache(maxsize=1)
def opened(graph: Blocks) -> list[StoredBlock]:
    """Return the blocks of a graph, which this process keeps until it needs those of another."""
    return [StoredBlock(graph, number) for number in range(len(graph.keys))]
