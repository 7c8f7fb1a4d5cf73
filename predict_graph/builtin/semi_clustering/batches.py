"""Semi-clusters as rows of 64-bit words, and how vertices extend received ones.

A semi-cluster is ``order, size, inner, boundary, score, key`` and its members: `order` is the
sender and the position in its list, inner and boundary are weights of edges, and the key is the sum
of a hash of the members. A message is a sequence of semi-clusters.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predict_graph.builtin.semi_clustering.local import SEEN, Clusters, hashes, superstep
from predict_graph.engines.spark.programs.packed import lists, packed, packed_rows, words
from predict_graph.engines.spark.programs.spreading import keep_loaded

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_HEAD = 6  # words before the members; by definition
_SIZE, _INNER, _BOUNDARY, _SCORE, _KEY = 1, 2, 3, 4, 5
_PLACES = 64  # entries of a list: limits memory to more than the longest list


def without_copies(starts: IntArray, senders: IntArray, messages: pa.Array) -> pa.Array:
    """Concatenate the messages to each receiver, without duplicate semi-clusters."""
    firsts, found = words(messages)
    ends = np.zeros(len(starts), np.int64)
    most = int(np.diff(firsts)[senders[starts[0] : starts[-1]]].sum())
    into = np.empty(most, np.int64)
    _without_copies(starts, senders, firsts, found, ends, into)
    return packed(ends * 8, into[: ends[-1]])


def alone(ids: pa.Array, targets: pa.Array, weights: pa.Array | None = None) -> pa.Array:
    """Return the semi-cluster of each vertex alone, given its edges to others."""
    vertices = ids.to_numpy()
    rows = np.zeros((len(ids), _HEAD + 1), np.int64)
    rows[:, 0], rows[:, _SIZE], rows[:, _HEAD] = vertices * _PLACES, 1, vertices
    rows.view(np.float64)[:, _BOUNDARY] = _row_weights(targets, weights)[2]
    rows[:, _KEY] = hashes(vertices).view(np.int64)
    if len(ids):
        _warm_up(ids[:0], targets[:0], None if weights is None else weights[:0])
    return packed_rows(rows)


def grown(
    ids: pa.Array,
    targets: pa.Array,
    sent: pa.Array,
    kept: pa.Array,
    received: pa.Array,
    weights: pa.Array | None = None,
    *,
    limits: tuple[int, int, int, float],
) -> pa.Array:
    """Return the sent and stored semi-clusters after a superstep (PREDIcT, section 4.2)."""
    s_max, c_max, v_max, factor = limits
    n, vertices = len(ids), ids.to_numpy()
    row_starts, row_weights, degrees = _row_weights(targets, weights)
    rows = (row_starts, lists(targets)[1].to_numpy(), row_weights)
    largest = float(row_weights.max()) if len(row_weights) else 1.0
    bounds, messages = lists(received)
    counts, orders, units = _units(messages, v_max)
    bounds = np.concatenate(([0], np.cumsum(counts)))[bounds]
    # Received semi-clusters are extended in the order of their senders.
    senders = np.arange(len(orders))
    here = slice(bounds[0], bounds[-1])
    receivers = np.repeat(np.arange(n), np.diff(bounds))
    senders[here] = bounds[0] + np.lexsort((orders[here], receivers))
    to_send, to_keep = _table(sent, s_max, v_max), _table(kept, c_max, v_max)
    updated, distinct, scored = np.zeros((3, n), np.int32)
    superstep(
        *(0, 1, np.array([0]), np.array([n]), rows, (bounds, senders), vertices),
        *((v_max, factor, largest), degrees, units, to_send, to_keep),
        *(updated, distinct, scored),
    )
    held = to_keep.sizes > 0
    columns = {
        "sent": _packed(vertices, to_send),
        "kept": _packed(vertices, to_keep),
        "updated": pa.array(updated.astype(np.int64)),
        "held": pa.array(np.count_nonzero(held, axis=1)),
        "best_score": pa.array(np.ascontiguousarray(to_keep.scores[:, 0])),
        "best_size": pa.array(to_keep.sizes[:, 0].astype(np.int64)),
        "total_score": pa.array(np.where(held, to_keep.scores, 0.0).sum(axis=1)),
    }
    return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))


def best_members(kept: pa.Array, v_max: int) -> pa.Array:
    """Return the members of the first semi-cluster of each list, -1 for none: lists of `v_max`."""
    counts, _, units = _units(kept, v_max)
    members = units.members[np.cumsum(counts) - counts, 0]
    offsets = np.arange(len(kept) + 1, dtype=np.int32) * v_max
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(members.ravel()))


def _warm_up(ids: pa.Array, targets: pa.Array, weights: pa.Array | None) -> None:
    """Compile everything in this process, so that no superstep includes compilation."""
    nothing = packed_rows(np.zeros((0, 1), np.int64))
    inbox = pa.array([], pa.list_(pa.binary()))
    without_copies(np.zeros(1, np.int64), np.zeros(0, np.int64), nothing)
    grown(ids, targets, nothing, nothing, inbox, weights, limits=(1, 1, 2, 0.1))
    keep_loaded()


def _row_weights(
    targets: pa.Array, weights: pa.Array | None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return where the edges of each vertex start, their weights if any, and their sums."""
    if weights is None:
        starts = lists(targets)[0]
        return starts, np.empty(0), np.diff(starts).astype(np.float64)
    starts, values = lists(weights)
    found: FloatArray = values.to_numpy()
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    here = found[starts[0] : starts[-1]]
    return starts, found, np.bincount(owners, here, len(starts) - 1).astype(np.float64)


def _units(column: pa.Array, v_max: int) -> tuple[IntArray, IntArray, Clusters]:
    """Return the number of semi-clusters in each value, their orders, and them, in one place."""
    starts, found = words(column)
    counts = np.zeros(len(starts) - 1, np.int64)
    _count(starts, found, counts)
    total = int(counts.sum())
    orders, units = np.empty(total, np.int64), _empty(total, 1, v_max)
    _read(starts, found, found.view(np.float64), orders, units)
    return counts, orders, units


def _table(column: pa.Array, places: int, v_max: int) -> Clusters:
    """Return the lists of a column as one array of entries."""
    counts, _, units = _units(column, v_max)
    table = _empty(len(counts), places, v_max)
    owners = np.repeat(np.arange(len(counts)), counts)
    at = owners, np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]
    arrays: Any = zip(table, units, strict=True)
    for entries, values in arrays:
        entries[at] = values[:, 0]
    return table


def _empty(n: int, places: int, v_max: int) -> Clusters:
    shape = n, places
    members, sizes = np.full((*shape, v_max), -1, np.int64), np.zeros(shape, np.int32)
    inner, boundary, scores = np.zeros((3, *shape))
    return Clusters(members, sizes, inner, boundary, scores, np.zeros(shape, np.uint64))


def _packed(vertices: IntArray, table: Clusters) -> pa.Array:
    """Return lists of semi-clusters as a column."""
    held = np.count_nonzero(table.sizes, axis=1)
    ends = np.concatenate(([0], np.cumsum(_HEAD * held + table.sizes.sum(axis=1))))
    into = np.empty(ends[-1], np.int64)
    _write(vertices, table, ends, into, into.view(np.float64))
    return packed(ends * 8, into)


@numba.njit(cache=True, nogil=True)
def _without_copies(
    starts: Any, senders: Any, firsts: Any, words: Any, ends: Any, into: Any
) -> None:
    seen_keys, seen_by = np.zeros(SEEN, np.int64), np.full(SEEN, -1, np.int64)
    end = 0
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            at, stop = firsts[senders[e]], firsts[senders[e] + 1]
            while at < stop:
                length = _HEAD + words[at + _SIZE]
                key = words[at + _KEY]
                spot = key & (SEEN - 1)
                if seen_keys[spot] != key or seen_by[spot] != i:
                    seen_keys[spot], seen_by[spot] = key, i
                    for j in range(length):
                        into[end + j] = words[at + j]
                    end += length
                at += length
        ends[i + 1] = end


@numba.njit(cache=True, nogil=True)
def _count(starts: Any, words: Any, counts: Any) -> None:
    for i in range(len(counts)):
        at = starts[i]
        while at < starts[i + 1]:
            counts[i] += 1
            at += _HEAD + words[at + _SIZE]


@numba.njit(cache=True, nogil=True)
def _read(starts: Any, words: Any, floats: Any, orders: Any, units: Any) -> None:
    at = starts[0]
    for unit in range(len(orders)):
        orders[unit], size = words[at], words[at + _SIZE]
        units.sizes[unit, 0], units.keys[unit, 0] = size, np.uint64(words[at + _KEY])
        units.inner[unit, 0] = floats[at + _INNER]
        units.boundary[unit, 0] = floats[at + _BOUNDARY]
        units.scores[unit, 0] = floats[at + _SCORE]
        for i in range(size):
            units.members[unit, 0, i] = words[at + _HEAD + i]
        at += _HEAD + size


@numba.njit(cache=True, nogil=True)
def _write(vertices: Any, table: Any, ends: Any, into: Any, floats: Any) -> None:
    for v in range(len(vertices)):
        at = ends[v]
        for place in range(table.sizes.shape[1]):
            size = table.sizes[v, place]
            if size == 0:
                continue
            into[at], into[at + _SIZE] = vertices[v] * _PLACES + place, size
            floats[at + _INNER] = table.inner[v, place]
            floats[at + _BOUNDARY] = table.boundary[v, place]
            floats[at + _SCORE] = table.scores[v, place]
            into[at + _KEY] = np.int64(table.keys[v, place])
            for i in range(size):
                into[at + _HEAD + i] = table.members[v, place, i]
            at += _HEAD + size
