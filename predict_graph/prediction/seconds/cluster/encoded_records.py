"""Bytes of a record as Spark writes it, from what messages hold: encoded and compressed here.

How well records compress is decided by the graph: neighbours with ids near each other, and
vertices that send the same number to many, make short records. Where a message is a number, the
stream that one partition sends to another is made here as Spark makes it, row by row in the order
in which receivers first come, and compressed by the same code in blocks of the same size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Purse
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.spark.programs import program_of
from predict_graph.engines.spark.superstep import Carried, CarriedRows, SuperstepProgram
from predict_graph.engines.spark.tables.graph_tables import rows_of_a_file
from predict_graph.engines.spark.tables.hashing import partition_of_one
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.on_cluster import AnyGraph

__all__ = ["Encoded", "between", "encoded", "record_factors"]

FloatArray = npt.NDArray[np.float64]

# By definition, of Spark: bytes of a row's length and of its bits for nulls; of a column; of a
# block before it is compressed and of its header; and blocks come as they are if that is shorter.
_LENGTH, _NULLS, _COLUMN, _BLOCK, _HEADER = 4, 8, 8, 1 << 15, 21
_MOST_BLOCKS = 200  # that are compressed, evenly spread over a stream; a choice
_MOST_EDGES = 1 << 24  # looked at for a stream, if more partitions can be had; a choice
_FAR_TOO_MANY = 1 << 28  # edges of a partition: looking at them all would take seconds; a choice
_LATER = (2, 6, 14)  # supersteps done before messages are looked at again; a choice
# Seconds an edge of a stream's sender, of looking at it, and a vertex of the graph, of whose it is;
# and an edge, of a superstep of which nothing is known. Measured on R-MAT 20, generously.
_LOOK, _HASH, _STEP = 4e-8, 1.5e-8, 4e-8
# Seconds a byte and edge, of merging rows, and an edge, of a run of what comes before; as above.
_BYTE_MERGED, _WHOLE_RUN = 2e-9, 2e-7
_MOST_HEARD = 1 << 19  # messages that are merged for a stream; a choice
_MOST_BYTES = 1 << 28  # of rows of all vertices; a choice: memory
_FALLEN = 1.0  # of log of messages, for what they hold to go by them; judgement: R-MAT 20
_UNSEEN, _NEW, _ELSEWHERE = -1, -2, -3  # by definition: a receiver that has no row
_MOST = 8.0  # times what sample runs say, or so small a part; a choice: they are no worse


def record_factors(
    graph: AnyGraph,
    algorithm: Algorithm,
    partitions: int,
    sizes: FloatArray,
    share: Callable[[FloatArray], FloatArray],
    purse: Purse,
    messages: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return what records, and the bytes of each, are to be multiplied by in each iteration.

    The first messages are encoded, and those after a few supersteps, as far as that is affordable:
    what comes between is interpolated. By the first alone, records change as in the sample runs.

    Parameters
    ----------
    graph : AnyGraph
    algorithm : Algorithm
    partitions : int
    sizes : ndarray of float64, shape (iterations,)
        Bytes of a record by sample runs of other graphs, or of parts of this one.
    share : callable (messages) -> ndarray
        Records a message, by the number of messages alone.
    purse : Purse
        Of which it is paid.
    messages : ndarray of float64, shape (iterations,), optional
        Of each iteration.
    """
    ones, affords = np.ones(len(sizes)), purse.affords
    spread = graph.edges / max(partitions, 1)
    if not isinstance(graph, Graph) or spread > _FAR_TOO_MANY:
        return ones, ones
    if not affords(_look_seconds(graph, partitions)):
        return ones, ones
    with purse.loading():
        _load_compiled(algorithm)
    known = dict(_encoded_numbers(graph, algorithm, partitions, len(sizes), affords))
    known = known or dict(_encoded_rows(graph, algorithm, partitions, len(sizes), affords))
    known = {done: each for done, each in known.items() if each.bytes > 0.0 and sizes[done] > 0.0}
    if not known:
        return ones, ones
    at, found = list(known), list(known.values())
    counted = np.array([each.messages for each in found])
    thought = counted * share(counted)
    records = between(
        at, np.array([each.records for each in found]) / thought, len(sizes), messages
    )
    # One alone tells a level; more of them, the course.
    course = sizes if len(at) > 1 else np.full(len(sizes), sizes[at[0]])
    told = between(at, np.array([each.bytes for each in found]), len(sizes), messages)
    factors = told / np.where(course > 0.0, course, 1.0)
    return records, np.where(sizes > 0.0, np.clip(factors, 1.0 / _MOST, _MOST), 1.0)


_LOADED: set[str] = set()


def _load_compiled(algorithm: Algorithm) -> None:
    """Load, or at first use build, compiled code: on the first messages of a tiny graph."""
    if algorithm.name in _LOADED:
        return
    _LOADED.add(algorithm.name)
    small = check_graph("rmat:scale=7,edge_factor=4", seed=1, directed=not algorithm.undirected)
    for encode in (_encoded_numbers, _encoded_rows):
        list(encode(small, algorithm, 2, 1, lambda seconds: True))


def _encoded_numbers(
    graph: Graph,
    algorithm: Algorithm,
    partitions: int,
    iterations: int,
    affords: Callable[[float], bool],
) -> Iterator[tuple[int, Encoded]]:
    """Encode messages that are numbers, after so many supersteps each."""
    program = program_of(algorithm)
    if program.carried is SuperstepProgram.carried:
        return
    look = _look_seconds(graph, partitions)
    states: Iterator[npt.NDArray[Any]] = iter(())
    now: npt.NDArray[Any] | None = None
    before: npt.NDArray[Any] | None = None
    at = 0
    for done in (0, *_LATER):
        if done >= iterations or (done and not runs_here(algorithm)):
            return
        if not affords(look + (_superstep_seconds(graph, algorithm, done, at) if done else 0.0)):
            return
        if done and not at:
            states = LocalEngine().states(algorithm, graph)
        for left in range(done - at, 0, -1):
            if left == 1 and now is not None:
                before = now.copy()
            now = next(states)
        at = done
        carried = program.carried(algorithm, graph, now, before)
        if carried is not None and (carried.sending is None or carried.sending.any()):
            yield done, encoded(graph, partitions, carried)


def _encoded_rows(
    graph: Graph,
    algorithm: Algorithm,
    partitions: int,
    iterations: int,
    affords: Callable[[float], bool],
) -> Iterator[tuple[int, Encoded]]:
    """Encode messages that are rows of bytes, after so many supersteps each."""
    program, before = program_of(algorithm), algorithm.prior
    if program.carried_rows is SuperstepProgram.carried_rows:
        return
    prior = None
    if before is not None:
        if not runs_here(before) or not affords(_WHOLE_RUN * graph.edges):
            return
        prior = LocalEngine().run(before, graph).values
    carried = program.carried_rows(algorithm, graph, prior)
    if carried is None or carried.rows.nbytes > _MOST_BYTES:
        return
    step = _BYTE_MERGED * carried.rows.shape[1] * graph.edges
    if not affords((_LATER[0] + 1) * step):
        return  # rows fill as they spread: the first ones alone tell little
    starts, senders = graph.reverse.indptr, graph.reverse.indices
    sending, done = np.ones(graph.vertices, np.bool_), 0
    for wanted in (0, *_LATER):
        if wanted >= iterations or not affords((wanted - done + 1) * step):
            return
        while done < wanted:
            rows = carried.rows.copy()
            carried.merge(starts, senders, carried.rows, rows)
            sending = (rows != carried.rows).any(axis=1)
            carried, done = replace(carried, rows=rows), done + 1
        if not sending.any():
            return
        yield done, _rows_encoded(graph, partitions, carried, sending)


def between(
    at: list[int], values: FloatArray, count: int, messages: FloatArray | None
) -> FloatArray:
    """Return what is known of some iterations for all of them, by relative steps.

    Between two of which the later has far fewer messages it goes by how far these have fallen: a
    row without others beside it is long, and most supersteps before the last are not like it.
    """
    places = np.arange(float(count))
    if messages is not None:
        logs = np.log(np.maximum(messages, 1.0))
        for first, last in pairwise(at):
            fallen = logs[first] - logs[first : last + 1]
            if fallen[-1] > _FALLEN:
                share = np.clip(fallen / fallen[-1], 0.0, 1.0)
                places[first : last + 1] = first + share * (last - first)
    found: FloatArray = np.exp(np.interp(places, at, np.log(values)))
    return found


def _streams(graph: Graph, partitions: int) -> int:
    """Return how many streams are looked at: fewer of a large graph, one of each sender."""
    return int(np.clip(_MOST_EDGES * partitions / max(graph.edges, 1), 1, min(partitions, 4)))


def _look_seconds(graph: Graph, partitions: int) -> float:
    """Return what looking at streams takes: each reads all vertices, and one partition's edges."""
    streams = _streams(graph, partitions)
    return streams * (_LOOK * graph.edges / max(partitions, 1) + _HASH * graph.vertices)


def _superstep_seconds(graph: Graph, algorithm: Algorithm, done: int, at: int) -> float:
    """Return what going on from some supersteps to some more takes; setting up, from none."""
    work = 1e-9 * (graph.edges + graph.vertices)
    usual = algorithm.usual
    each = _STEP * graph.edges if usual is None else usual.iteration_ns * work
    setup = 0.0 if at or usual is None else usual.setup_ns * work
    return setup + (done - at) * each


@dataclass(frozen=True)
class Encoded:
    """What messages of a superstep are as Spark writes them.

    Parameters
    ----------
    messages, records : float
        Of all partitions together; records estimated from some streams.
    bytes : float
        Of a record, compressed; 0 if there is none.
    """

    messages: float
    records: float
    bytes: float


def encoded(graph: Graph, partitions: int, carried: Carried) -> Encoded:
    """Encode and compress what goes from some partitions to some others.

    Parameters
    ----------
    graph : Graph
    partitions : int
        Of vertices and edges, by Spark's hash.
    carried : Carried
        What vertices send.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> graph = check_graph("grid:rows=100,columns=100")
    >>> same = Carried(np.zeros(graph.vertices, np.int64), "min")
    >>> other = Carried(np.random.default_rng(1).random(graph.vertices), "add")
    >>> encoded(graph, 2, same).bytes < 0.6 * encoded(graph, 2, other).bytes
    True
    """
    streams = _streams(graph, partitions)
    sending = carried.sending
    sent = float(graph.edges if sending is None else graph.out_degrees[sending].sum())
    everyone = np.ones(1, np.bool_) if sending is None else sending
    # Messages that are not combined are rows of their own: some sources tell as much as all.
    every = 1
    if carried.combine is None:
        every = max(int(graph.edges / partitions**2 / _MOST_EDGES * 8), 1)
    how = {None: 0, "add": 1, "min": 2}[carried.combine]
    written = records = 0.0
    rng = np.random.default_rng(0)  # the same for the same graph
    for number in range(streams):
        own = (number, (number + 1) % partitions)
        ranges = _ranges(graph, partitions, rng)
        ids, values = _stream(
            graph.indptr,
            graph.indices,
            carried.values,
            everyone,
            partitions,
            *own,
            how,
            every,
            *ranges,
        )
        records += len(ids)
        written += _compressed(ids, values, carried.constants)
    if not records:
        return Encoded(sent, 0.0, 0.0)
    counted = sent if carried.combine is None else records * partitions**2 / streams
    return Encoded(sent, counted, written / records)


def _rows_encoded(
    graph: Graph, partitions: int, carried: CarriedRows, sending: npt.NDArray[np.bool_]
) -> Encoded:
    """Encode and compress rows: a receiver and a list with what is merged for it.

    Spark sorts such rows by receiver, so that some ranges of receivers tell as much as all.
    """
    reverse, width = graph.reverse, carried.rows.shape[1]
    padded = width + -width % 8
    listed = 3 * 8 + padded  # of a list: its length, bits for nulls, place and bytes of its entry
    whole = 2 * 8 + listed  # of a row with that list
    fixed = {0: 0, 16: whole | 24 << 32, 32: listed | 16 << 32, 40: 1, 56: width | 24 << 32}
    every = max(int(graph.edges / partitions**2 / _MOST_HEARD), 1)
    streams = int(np.clip(_MOST_HEARD * partitions**2 / max(graph.edges, 1), 1, min(partitions, 4)))
    written = records = 0.0
    for number in range(streams):
        receivers, starts, senders = _heard(
            reverse.indptr,
            reverse.indices,
            sending,
            partitions,
            number,
            (number + 1) % partitions,
            every,
        )
        if not len(receivers):
            continue
        into = np.tile(carried.empty, (len(receivers), 1))
        carried.merge(starts, senders, carried.rows, into)
        table = np.zeros((len(receivers), _LENGTH + 24 + whole), np.uint8)
        table[:, :_LENGTH] = np.array([24 + whole], ">i4").view(np.uint8)
        for place, value in fixed.items():
            start = _LENGTH + place
            table[:, start : start + 8] = np.array([value], "<i8").view(np.uint8)
        table[:, _LENGTH + 8 : _LENGTH + 16] = receivers.view(np.uint8).reshape(-1, 8)
        table[:, _LENGTH + 64 : _LENGTH + 64 + width] = into
        written += _block_bytes(table)
        records += len(receivers)
    sent = float(graph.out_degrees[sending].sum())
    if not records:
        return Encoded(sent, 0.0, 0.0)
    return Encoded(sent, records * every * partitions**2 / streams, written / records)


def _block_bytes(table: npt.NDArray[np.uint8]) -> float:
    """Return the bytes of rows that are compressed in blocks, evenly spread ones as if all."""
    codec, rows = pa.Codec("lz4_raw"), max(_BLOCK // table.shape[1], 1)
    blocks = -(-len(table) // rows)
    chosen = np.unique(np.linspace(0, blocks - 1, min(blocks, _MOST_BLOCKS)).astype(np.int64))
    taken = written = 0
    for block in chosen.tolist():
        raw = table[block * rows : (block + 1) * rows].tobytes()
        written += min(len(codec.compress(raw, asbytes=True)), len(raw)) + _HEADER
        taken += len(raw) // table.shape[1]
    return written * len(table) / taken + _HEADER


def _ranges(
    graph: Graph, partitions: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return first and last vertices of the files of edges, in an order that is anyone's guess.

    Spark reads files by their length, and fetches blocks in the order in which they are there.
    """
    files = max(-(-graph.edges // rows_of_a_file(graph.edges, partitions)), 1)
    ends = np.searchsorted(graph.indptr, np.linspace(0, graph.edges, files + 1)[1:-1])
    bounds = np.concatenate(([0], ends, [graph.vertices])).astype(np.int64)
    order = rng.permutation(files)
    return bounds[order], bounds[order + 1]


def _compressed(
    ids: npt.NDArray[np.int64], values: npt.NDArray[Any], constants: tuple[float, ...]
) -> float:
    """Return the bytes of a stream of rows: a receiver, a number, and what is always the same."""
    width = _LENGTH + _NULLS + _COLUMN * (2 + len(constants))
    table = np.zeros((len(ids), width), np.uint8)
    table[:, _LENGTH - 1] = width - _LENGTH  # a length has its highest byte first
    columns = [ids, values, *(np.full(len(table), each) for each in constants)]
    for place, column in enumerate(columns):
        start = _LENGTH + _NULLS + _COLUMN * place
        own = np.ascontiguousarray(column).view(np.uint8).reshape(len(table), _COLUMN)
        table[:, start : start + _COLUMN] = own
    return _block_bytes(table) if len(table) else 0.0


@njit(cache=True, nogil=True)
def _heard(
    reverse_indptr: Any,
    reverse_indices: Any,
    sending: Any,
    partitions: int,
    source: int,
    target: int,
    every: int,
) -> Any:
    """Return receivers of a partition, and which senders of another they hear.

    Of one in ``every`` thousand receivers. Arrays are of a checked graph.
    """
    n, count, pairs = len(reverse_indptr) - 1, 0, 0
    receivers, starts = np.empty(0, np.int64), np.empty(0, np.int64)
    senders = np.empty(0, reverse_indices.dtype)
    for fill in range(2):  # they are counted first
        if fill:
            receivers, starts = np.empty(count, np.int64), np.empty(count + 1, np.int64)
            senders = np.empty(pairs, reverse_indices.dtype)
            starts[0] = 0
        count = pairs = 0
        for w in range(n):
            if (w >> 10) % every or partition_of_one(w, partitions) != target:
                continue
            first = pairs
            for e in range(reverse_indptr[w], reverse_indptr[w + 1]):
                u = reverse_indices[e]
                if sending[u] and partition_of_one(u, partitions) == source:
                    if fill:
                        senders[pairs] = u
                    pairs += 1
            if pairs > first:
                if fill:
                    receivers[count] = w
                    starts[count + 1] = pairs
                count += 1
    return receivers, starts, senders


@njit(cache=True, nogil=True)
def _stream(
    indptr: Any,
    indices: Any,
    values: Any,
    sending: Any,
    partitions: int,
    source: int,
    target: int,
    how: int,
    every: int,
    firsts: Any,
    lasts: Any,
) -> Any:
    """Return receivers and messages from one partition to another, in the order they are written.

    ``how``: 0 for a row a message, of one in ``every`` thousand sources; 1 and 2 for one row a
    receiver, with the sum or the smallest of its messages. Sources are read range by range. Arrays
    are of a checked graph.
    """
    slot = np.full(len(indptr) - 1, _UNSEEN, np.int32)
    everyone = len(sending) == 1
    count = 0
    ids, sent = np.empty(1 << 16, np.int64), np.empty(1 << 16, values.dtype)
    for r in range(len(firsts)):
        for v in range(firsts[r], lasts[r]):
            if (v >> 10) % every or not (everyone or sending[v]):
                continue
            if indptr[v] == indptr[v + 1] or partition_of_one(v, partitions) != source:
                continue
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                at = slot[w]
                if at == _UNSEEN:  # whose a receiver is, is asked when it is first met
                    here = partition_of_one(w, partitions) == target
                    at = slot[w] = _NEW if here else _ELSEWHERE
                if at == _ELSEWHERE:
                    continue
                if at >= 0:
                    sent[at] = sent[at] + values[v] if how == 1 else min(sent[at], values[v])
                    continue
                if how:
                    slot[w] = count
                if count == len(ids):
                    ids = np.concatenate((ids, np.empty_like(ids)))
                    sent = np.concatenate((sent, np.empty_like(sent)))
                ids[count], sent[count] = w, values[v]
                count += 1
    return ids[:count], sent[:count]
