"""Bytes that supersteps of GraphX read, from what is exchanged: encoded and compressed here.

What one partition sends to another is made as Spark writes it, in the order in which GraphX goes
over vertices, and compressed by the same code in blocks of the same size. Messages are rows of a
receiver and a number, in the order in which edges first name the receivers. Vertices go to
edges as an array of what they are and one of their ids, in the order of a hash table of the ids.

References
----------
.. [1] J. Gonzalez et al.: GraphX: Graph Processing in a Distributed Dataflow Framework, OSDI 2014,
   sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from numba import njit

from predict_graph.engines import Purse
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, exchanges_of
from predict_graph.engines.spark.library.exchange import (
    Exchange,
    Exchanges,
    Maps,
    MapsOf,
    Told,
    Values,
)
from predict_graph.engines.spark.library.java_stream import MOST_ENTRIES, JavaStream
from predict_graph.engines.spark.library.layout import EdgeLayout, edges_of
from predict_graph.graph import Graph, check_graph
from predict_graph.prediction.seconds.cluster.encoded_records import between

__all__ = ["exchanged_bytes"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

# By definition, of Spark: bytes of a block before it is compressed and of its header, of which an
# empty one ends a stream; and blocks come as they are if that is shorter.
_BLOCK, _HEADER = 1 << 15, 21
# By definition, of Kryo: what it writes before a number of each kind.
_KINDS = {np.dtype(np.int32): 2, np.dtype(np.int64): 9, np.dtype(np.float64): 10}
# By definition, of Java: bytes before arrays of vertices, by what they hold, which hardly compress;
# what comes before a pair of numbers that is not the first; and of Kryo, before an array of ids.
_JAVA = {np.dtype(np.int32): 222, np.dtype(np.int64): 209, np.dtype(np.float64): 222}
_JAVA_PAIRS, _JAVA_MAPS = 330, 245
_PAIR = np.frombuffer(b"sq\0~\0\tpp", np.uint8)
_KRYO = 9
# By definition, of Spark's OpenHashSet: places at first, and the share of them that may be taken.
_PLACES, _FULL = 64, 0.7
_BOTH, _LEAVES = 3, 1  # by definition of GraphX: which ends of edges a vertex is

# Bytes of a record with a map, classes included, and of an entry; by definition.
_A_MAP, _AN_ENTRY = 56, 26
_WRITTEN_BLOCKS = 16  # of maps, at most; a choice
_MOST_BLOCKS = 200  # that are compressed, evenly spread over a stream; a choice
_MOST_EDGES = 1 << 24  # looked at for a stream, if more partitions can be had; a choice
_FAR_TOO_MANY = 1 << 28  # edges of a partition: looking at them all would take seconds; a choice
# Seconds an edge of the graph, of telling where it is, and one of a partition, of whom it names;
# of a superstep, an edge of a partition, a vertex of the graph and a row; and of maps, an edge of a
# partition and a stream, of which some is written by Python. Measured on R-MAT 18.
_DEAL, _NAMED = 1e-8, 5e-8
_LOOK, _VERTEX, _ROW = 2e-8, 1e-8, 5e-8
_GROUPED, _WRITTEN = 3.5e-7, 0.08


@dataclass(frozen=True)
class _Each:
    """Bytes of a superstep: a record of messages, and a copy of a vertex that is counted."""

    record: float
    copy: float


def exchanged_bytes(
    algorithm: LibraryAlgorithm,
    graph: Graph,
    partitions: int,
    rounds: pd.DataFrame,
    purse: Purse,
) -> FloatArray | None:
    """Return the bytes that each superstep reads, or None if that is not known or not affordable.

    Some supersteps are encoded: what comes between is interpolated, a record and a copy.

    Parameters
    ----------
    algorithm : LibraryAlgorithm
    graph : Graph
    partitions : int
    rounds : DataFrame
        Of the twin.
    purse : Purse
        Of which it is paid.
    """
    exchanges = exchanges_of(algorithm, graph, partitions)
    if exchanges is None or 0 not in exchanges.kept:
        return None
    if graph.edges / partitions > _FAR_TOO_MANY:
        return None
    # The first superstep has what all vertices are besides, once or twice.
    wanted = min(len(rounds), 2)
    for count in (_streams(graph, partitions), 1):
        setup = count * (_DEAL * graph.edges + _NAMED * graph.edges / partitions)
        each = _superstep_seconds(graph, partitions, count, maps=exchanges.maps)
        if purse.affords(setup + (1 + len(exchanges.first) + wanted) * each):
            break
    else:
        return None
    with purse.loading():
        _load_compiled(algorithm)
    streams = [_Stream.of(graph, partitions, number) for number in range(count)]
    known: dict[int, _Each] = {}
    for number, exchange in exchanges.kept.items():
        if number >= wanted and not purse.affords(each):
            break
        if exchange.received.any():
            known[number] = _encoded(streams, exchanges, exchange)
    return _read(partitions, rounds, exchanges, known, streams) if known else None


_LOADED: set[str] = set()


def _load_compiled(algorithm: LibraryAlgorithm) -> None:
    """Load, or at first use build, compiled code: on a tiny graph."""
    if algorithm.name in _LOADED:
        return
    _LOADED.add(algorithm.name)
    small = check_graph("rmat:scale=5,edge_factor=4", seed=1)
    stream = _Stream.of(small, 2, 0)
    exchanges = exchanges_of(algorithm, small, 2)
    if exchanges is not None and exchanges.kept:
        _encoded([stream], exchanges, exchanges.kept[0])


def _streams(graph: Graph, partitions: int) -> int:
    """Return how many streams are looked at: fewer of a large graph, one of each partition."""
    return int(np.clip(_MOST_EDGES * partitions / max(graph.edges, 1), 1, min(partitions, 4)))


def _superstep_seconds(graph: Graph, partitions: int, streams: int, *, maps: bool) -> float:
    """Return what encoding a superstep takes: an edge once, a vertex, and what is compressed."""
    edges = graph.edges / partitions
    rows = min(edges, graph.vertices) / partitions
    most = _MOST_BLOCKS * _BLOCK / 16  # rows of so many blocks
    more = _GROUPED * edges + _WRITTEN if maps else 0.0
    return streams * (more + _LOOK * edges + _VERTEX * graph.vertices + _ROW * min(rows, most))


def _read(
    partitions: int,
    rounds: pd.DataFrame,
    exchanges: Exchanges,
    known: dict[int, _Each],
    streams: list[_Stream],
) -> FloatArray:
    """Return the bytes that each superstep reads: all of it that was written, once."""
    count, at = len(rounds), list(known)
    columns = ("messages", "records", "shipped")
    messages, records, shipped = rounds[list(columns)].to_numpy(np.float64).T
    pairs = float(partitions) ** 2

    def course(values: list[float]) -> FloatArray:
        found = np.maximum(np.array(values), 1e-3)  # its logarithm is taken
        return between(at, found, count, messages)

    sent: FloatArray = course([each.record for each in known.values()]) * records
    sent += np.minimum(records, pairs) * 2 * _HEADER
    sort = next(iter(exchanges.kept.values())).attributes
    ships = course([each.copy for each in known.values()]) * shipped
    ships += pairs * (_java_header(sort) + 2 * _HEADER)
    if exchanges.pregel:
        ships += pairs * (_KRYO + 2 * _HEADER)
        # One partition of the messages is looked at, and others in the next superstep, unless it is
        # empty: then all of them are.
        now = np.where(records > 0, 1.0 / partitions, 1.0)
        read: FloatArray = now * sent
        read[1:] += ((1.0 - now) * sent + ships)[:-1]
        read[0] += pairs * (_java_header(sort) + 2 * _HEADER)  # vertices that did not change: none
    else:
        read = sent + ships
    every = pairs / len(streams)
    read[0] += every * sum(_first_bytes(stream, exchanges) for stream in streams)
    if count > 1:
        for attributes in exchanges.second:
            one = sum(_all_shipped(stream, exchanges, attributes) for stream in streams)
            read[1] += every * one
    return read


@dataclass(frozen=True)
class _Stream:
    """What a partition of edges and one of vertices have to do with each other.

    Parameters
    ----------
    edges : EdgeLayout
        Of the one partition alone.
    named : ndarray of int64
        Vertices of the other that edges name, in the order in which they first do.
    routed : ndarray of int64
        The same in the order in which they are sent to the edges.
    ends : ndarray of int8, shape (routed,)
        Which ends of these edges they are.
    """

    edges: EdgeLayout
    named: IntArray
    routed: IntArray
    ends: npt.NDArray[np.int8]

    @classmethod
    def of(cls, graph: Graph, partitions: int, number: int) -> _Stream:
        """Return that of one partition of edges, and the next one of vertices."""
        edges = edges_of(graph, partitions, number)
        named, ends = _named(edges.vertices, edges.sources, edges.targets)
        places = _PLACES
        while len(named) > _FULL * places:
            places *= 2
        routed = named[np.argsort(_hashes(named) & np.uint64(places - 1), kind="stable")]
        other = (number + 1) % partitions
        here, there = named % partitions == other, routed % partitions == other
        return cls(edges, named[here], routed[there], ends[routed[there]])

    def shipped(self, both_ends: bool) -> IntArray:
        """Return vertices that edges get, of both of their ends or of the first."""
        return self.routed if both_ends else self.routed[self.ends & _LEAVES > 0]


def _encoded(streams: list[_Stream], exchanges: Exchanges, exchange: Exchange) -> _Each:
    """Return the bytes of a record and of a copy of a superstep."""
    written = records = shipped = copies = 0.0
    for stream in streams:
        count, size = _messages(stream, exchange.told)
        records += count
        written += size
        counted = exchange.changed if exchange.counted is None else exchange.counted
        copies += np.count_nonzero(counted[stream.shipped(exchanges.counted_ends)])
        shipped += _changed_shipped(stream, exchanges, exchange)
    return _Each(written / max(records, 1.0), shipped / max(copies, 1.0))


def _changed_shipped(stream: _Stream, exchanges: Exchanges, exchange: Exchange) -> float:
    """Return the bytes of what vertices are sent as, and of the ids of those that heard."""
    ids = stream.shipped(exchanges.both_ends)
    written = _vertices(ids[exchange.changed[ids]], exchange.attributes)
    if exchanges.pregel:
        heard = stream.routed[exchange.received[stream.routed]]
        written += _compressed(heard.astype("<i8").view(np.uint8))
    return written


def _first_bytes(stream: _Stream, exchanges: Exchanges) -> float:
    """Return the bytes of what is exchanged before, or as well, in the first superstep.

    Where vertices are is read once more, and all of them are sent to the edges.
    """
    where = np.zeros((len(stream.routed), 14), np.uint8)
    where[:, 0], where[:, 9] = _KINDS[np.dtype(np.int64)], _KINDS[np.dtype(np.int32)]
    where[:, 1:9] = stream.routed.astype("<i8").view(np.uint8).reshape(-1, 8)
    where[:, 13] = stream.ends.astype(np.uint8) << 6
    written = _compressed(where) + 2 * _HEADER
    if exchanges.degrees is not None:
        written += _messages(stream, exchanges.degrees)[1] + 2 * _HEADER
    return written + sum(_all_shipped(stream, exchanges, each) for each in exchanges.first)


def _all_shipped(stream: _Stream, exchanges: Exchanges, attributes: Values) -> float:
    """Return the bytes of a stream of all vertices."""
    ids = stream.shipped(exchanges.both_ends)
    return _vertices(ids, attributes) + _java_header(attributes) + 2 * _HEADER


def _messages(stream: _Stream, told: Told) -> tuple[int, float]:
    """Return how many records of messages there are, and their bytes."""
    values, received = told(stream.edges)
    ids = stream.named[received[stream.named]]
    if isinstance(values, MapsOf):
        return len(ids), _maps_compressed(ids, values.of(ids))
    return len(ids), _compressed(_numbers(ids, values))


def _numbers(ids: IntArray, values: npt.NDArray[Any]) -> Bytes:
    """Return rows as Kryo writes a receiver and a number."""
    width = values.dtype.itemsize
    table = np.zeros((len(ids), 10 + width), np.uint8)
    table[:, 0], table[:, 9] = _KINDS[np.dtype(np.int64)], _KINDS[values.dtype]
    table[:, 1:9] = ids.astype("<i8").view(np.uint8).reshape(-1, 8)
    own = values[ids].astype(values.dtype.newbyteorder("<"))
    table[:, 10:] = own.view(np.uint8).reshape(-1, width)
    return table


def _vertices(ids: IntArray, attributes: Values) -> float:
    """Return the bytes of what vertices are and of their ids, as Java writes such arrays."""
    if isinstance(attributes, MapsOf):
        return _maps_compressed(None, attributes.of(ids)) + _compressed(
            ids.astype(">i8").view(np.uint8)
        )
    own = attributes[ids].astype(attributes.dtype.newbyteorder(">")).view(np.uint8)
    if attributes.ndim > 1:
        pairs = own.reshape(len(ids), -1)
        own = np.hstack((np.broadcast_to(_PAIR, (len(ids), len(_PAIR))), pairs))
    return _compressed(np.concatenate((own.ravel(), ids.astype(">i8").view(np.uint8))))


def _maps_compressed(receivers: IntArray | None, maps: Maps) -> float:
    """Return the bytes of records of receivers and maps, or of an array of maps.

    Blocks that are evenly spread over the stream stand for all of it: they are written by Python.
    """
    count = len(maps.starts) - 1
    if not count:
        return 0.0
    guessed = np.concatenate(([0], np.cumsum(_A_MAP + _AN_ENTRY * np.diff(maps.starts))))
    stream = JavaStream()
    if guessed[-1] <= _WRITTEN_BLOCKS * _BLOCK:
        _write(stream, receivers, maps, 0, count)
        return _compressed(np.frombuffer(stream.out, np.uint8))
    written = taken = 0.0
    for begins in np.linspace(0, guessed[-1] - _BLOCK, _WRITTEN_BLOCKS).tolist():
        first = place = int(np.searchsorted(guessed, begins, side="right")) - 1
        skipped = int(begins - guessed[place])
        stream = JavaStream()
        _write(stream, receivers, maps, place, place + 1)  # classes are told before, if not here
        stream.out.clear()
        while place < count and len(stream.out) < skipped + _BLOCK:
            _write(stream, receivers, maps, place, place + 1)
            place += 1
        block = stream.out[skipped:][:_BLOCK] or stream.out[-_BLOCK:]
        written += _compressed(np.frombuffer(block, np.uint8)) + _HEADER
        sizes = np.minimum(np.diff(maps.starts[first : place + 1]), MOST_ENTRIES)
        taken += float((_A_MAP + _AN_ENTRY * sizes).sum()) * len(block) / len(stream.out)
    return float(written * guessed[-1] / taken) - _HEADER


def _write(
    stream: JavaStream, receivers: IntArray | None, maps: Maps, first: int, last: int
) -> None:
    if receivers is not None:
        stream.writes(receivers, maps, first, last)
        return
    for place in range(first, last):
        stream.map(maps, place)


def _java_header(attributes: Values) -> int:
    if isinstance(attributes, MapsOf):
        return _JAVA_MAPS
    return _JAVA_PAIRS if attributes.ndim > 1 else _JAVA[attributes.dtype]


def _compressed(table: Bytes) -> float:
    """Return the bytes of a stream of these, without those of the first block and of the last.

    Evenly spread blocks stand for all of them.
    """
    raw, codec = table.reshape(-1), pa.Codec("lz4_raw")
    blocks = -(-len(raw) // _BLOCK)
    if not blocks:
        return 0.0
    chosen = np.unique(np.linspace(0, blocks - 1, min(blocks, _MOST_BLOCKS)).astype(np.int64))
    taken = written = 0
    for block in chosen.tolist():
        own = raw[block * _BLOCK : (block + 1) * _BLOCK].tobytes()
        written += min(len(codec.compress(own, asbytes=True)), len(own))
        taken += len(own)
    return written * len(raw) / taken + (blocks - 1) * _HEADER


@njit(cache=True, nogil=True)
def _named(vertices: int, sources: Any, targets: Any) -> Any:
    """Return vertices in the order in which edges name them, and which ends each vertex is."""
    ends = np.zeros(vertices, np.int8)
    named, count = np.empty(2 * len(sources), np.int64), 0
    for e in range(len(sources)):
        for v, end in ((sources[e], 1), (targets[e], 2)):
            if not ends[v]:
                named[count] = v
                count += 1
            ends[v] |= end
    return named[:count].copy(), ends


@njit(cache=True, nogil=True)
def _hashes(ids: Any) -> Any:
    """Return the hash of each id by which GraphX keeps it in a table: MurmurHash3 of 32 bits."""
    found = np.empty(len(ids), np.uint64)
    word = np.uint64(0xFFFFFFFF)
    for i in range(len(ids)):
        k = (np.uint64(ids[i]) ^ (np.uint64(ids[i]) >> np.uint64(32))) & word
        k = (k * np.uint64(0xCC9E2D51)) & word
        k = ((k << np.uint64(15)) | (k >> np.uint64(17))) & word
        h = (k * np.uint64(0x1B873593)) & word
        h = ((h << np.uint64(13)) | (h >> np.uint64(19))) & word
        h = ((h * np.uint64(5) + np.uint64(0xE6546B64)) & word) ^ np.uint64(4)
        h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & word
        h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & word
        found[i] = h ^ (h >> np.uint64(16))
    return found
