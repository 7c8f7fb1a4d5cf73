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

from predict_graph.builtin.semi_clustering.local import (
    _SEEN,
    _insert,
    _ranking,
    _weight_between,
)
from predict_graph.engines.spark.programs.packed import lists, packed, packed_rows, words
from predict_graph.engines.spark.programs.spreading import keep_loaded
from predict_graph.graph.hashing import splitmix64

_HEAD = 6  # words before the members; by definition
_SIZE, _INNER, _BOUNDARY, _SCORE, _KEY = 1, 2, 3, 4, 5
_PLACES = 64  # entries of a list: limits memory to more than the longest list


def without_copies(
    starts: npt.NDArray[np.int64], senders: npt.NDArray[np.int64], messages: pa.Array
) -> pa.Array:
    """Concatenate the messages to each receiver, without duplicate semi-clusters."""
    firsts, found = words(messages)
    ends = np.zeros(len(starts), np.int64)
    most = int(np.diff(firsts)[senders[starts[0] : starts[-1]]].sum())
    into = np.empty(most, np.int64)
    _without_copies(starts, senders, firsts, found, ends, into)
    return packed(ends * 8, into[: ends[-1]])


def alone(ids: pa.Array, targets: pa.Array, weights: pa.Array | None = None) -> pa.Array:
    """Return the semi-cluster of each vertex alone, given its edges to others."""
    row_starts, row_weights = _row_weights(targets, weights)
    rows = np.empty((len(ids), _HEAD + 1), np.int64)
    _alone(ids.to_numpy(), row_starts, row_weights, rows, rows.view(np.float64))
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
    n = len(ids)
    s_max, c_max, v_max, _ = limits
    row_starts, row_weights = _row_weights(targets, weights)
    neighbors = lists(targets)[1].to_numpy()
    inbox_starts, messages = lists(received)
    longest = _HEAD + v_max
    to_send, to_keep = (
        np.empty(n * s_max * longest, np.int64),
        np.empty(n * c_max * longest, np.int64),
    )
    send_ends, keep_ends = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    counts, scores = np.zeros((n, 3), np.int64), np.zeros((n, 2))
    _grown(
        ids.to_numpy(),
        (row_starts, neighbors, row_weights),
        words(sent),
        words(kept),
        (inbox_starts, *words(messages)),
        limits,
        (to_send, to_send.view(np.float64), send_ends),
        (to_keep, to_keep.view(np.float64), keep_ends),
        counts,
        scores,
    )
    columns = {
        "sent": packed(send_ends * 8, to_send[: send_ends[-1]]),
        "kept": packed(keep_ends * 8, to_keep[: keep_ends[-1]]),
        "updated": pa.array(np.ascontiguousarray(counts[:, 0])),
        "held": pa.array(np.ascontiguousarray(counts[:, 1])),
        "best_score": pa.array(np.ascontiguousarray(scores[:, 0])),
        "best_size": pa.array(np.ascontiguousarray(counts[:, 2])),
        "total_score": pa.array(np.ascontiguousarray(scores[:, 1])),
    }
    return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))


def best_members(kept: pa.Array, v_max: int) -> pa.Array:
    """Return the members of the first semi-cluster of each list, -1 for none: lists of `v_max`."""
    starts, found = words(kept)
    members = np.full((len(kept), v_max), -1, np.int64)
    _best_members(starts, found, members)
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
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return where the edges of each vertex start, and their weights if they have any."""
    if weights is None:
        return lists(targets)[0], np.empty(0)
    starts, found = lists(weights)
    return starts, found.to_numpy()


@numba.njit(cache=True, nogil=True)
def _without_copies(
    starts: Any, senders: Any, firsts: Any, words: Any, ends: Any, into: Any
) -> None:
    seen_keys, seen_by = np.zeros(_SEEN, np.int64), np.full(_SEEN, -1, np.int64)
    end = 0
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            at, stop = firsts[senders[e]], firsts[senders[e] + 1]
            while at < stop:
                length = _HEAD + words[at + _SIZE]
                key = words[at + _KEY]
                spot = key & (_SEEN - 1)
                if seen_keys[spot] != key or seen_by[spot] != i:
                    seen_keys[spot], seen_by[spot] = key, i
                    for j in range(length):
                        into[end + j] = words[at + j]
                    end += length
                at += length
        ends[i + 1] = end


@numba.njit(cache=True, nogil=True)
def _alone(ids: Any, starts: Any, weights: Any, rows: Any, floats: Any) -> None:
    for v in range(len(ids)):
        boundary = float(starts[v + 1] - starts[v])
        if len(weights):
            boundary = 0.0
            for e in range(starts[v], starts[v + 1]):
                boundary += weights[e]
        rows[v, 0], rows[v, _SIZE] = ids[v] * _PLACES, 1
        floats[v, _INNER], floats[v, _BOUNDARY], floats[v, _SCORE] = 0.0, boundary, 0.0
        rows[v, _KEY] = np.int64(splitmix64(ids[v]))
        rows[v, _HEAD] = ids[v]


@numba.njit(cache=True, nogil=True)
def _best_members(starts: Any, words: Any, members: Any) -> None:
    for v in range(len(members)):
        at = starts[v]
        for i in range(words[at + _SIZE]):
            members[v, i] = words[at + _HEAD + i]


@numba.njit(cache=True, nogil=True)
def _in_order(first: Any, stop: Any, starts: Any, words: Any, places: Any, orders: Any) -> int:
    """Find the semi-clusters in some messages, in sender order; return their number."""
    count, sorted_already = 0, True
    for m in range(first, stop):
        at = starts[m]
        while at < starts[m + 1]:
            places[count], orders[count] = at, words[at]
            sorted_already &= count == 0 or orders[count - 1] <= orders[count]
            count += 1
            at += _HEAD + words[at + _SIZE]
    if not sorted_already:
        places[:count] = places[:count][np.argsort(orders[:count])]
    return count


@numba.njit(cache=True, nogil=True)
def _written(
    into: Any, v: Any, vertex: Any, ranking: Any, count: int, own: Any, others: Any
) -> None:
    """Write the ranking that `v` sends or stores; a source of -1 is a position in its own list."""
    words, floats, ends = into
    end = ends[v]
    for i in range(count):
        source = ranking.sources[i]
        found = own if source < 0 else others
        at = ranking.slots[i]
        size = found[at + _SIZE]
        for j in range(size):
            words[end + _HEAD + j] = found[at + _HEAD + j]
        if ranking.grown[i]:
            words[end + _HEAD + size] = vertex
            size += 1
        words[end], words[end + _SIZE] = vertex * _PLACES + i, size
        floats[end + _INNER], floats[end + _BOUNDARY] = ranking.inner[i], ranking.boundary[i]
        floats[end + _SCORE] = ranking.scores[i]
        words[end + _KEY] = np.int64(ranking.keys[i])
        end += _HEAD + size
    ends[v + 1] = end


@numba.njit(cache=True, nogil=True)
def _copied(into: Any, v: Any, starts: Any, found: Any) -> None:
    """Copy what `v` sends or stores unchanged."""
    words, _, ends = into
    end = ends[v]
    for at in range(starts[v], starts[v + 1]):
        words[end] = found[at]
        end += 1
    ends[v + 1] = end


@numba.njit(cache=True, nogil=True)
def _grown(
    ids: Any,
    rows: Any,
    sent: Any,
    kept: Any,
    inbox: Any,
    limits: Any,
    to_send: Any,
    to_keep: Any,
    counts: Any,
    scores: Any,
) -> None:
    s_max, c_max, v_max, factor = limits
    row_starts, neighbors, weights = rows
    sent_starts, sent_words = sent
    kept_starts, kept_words = kept
    kept_floats = kept_words.view(np.float64)
    lists, starts, words = inbox
    floats = words.view(np.float64)
    best, keep = _ranking(s_max), _ranking(c_max)
    most_units = len(words) // (_HEAD + 1) + 1
    places, orders = np.empty(most_units, np.int64), np.empty(most_units, np.int64)
    seen_keys, seen_by = np.zeros(_SEEN, np.uint64), np.full(_SEEN, -1, np.int64)
    for v in range(len(ids)):
        vertex = ids[v]
        row, stop = row_starts[v], row_starts[v + 1]
        degree, largest = float(stop - row), 1.0
        if len(weights):
            degree, largest = 0.0, 0.0
            for e in range(row, stop):
                degree += weights[e]
                largest = max(largest, weights[e])
        sending, keeping = 0, 0
        at = kept_starts[v]
        while at < kept_starts[v + 1]:
            keeping = _insert(
                keep,
                keeping,
                kept_floats[at + _SCORE],
                np.uint64(kept_words[at + _KEY]),
                -1,
                at,
                False,
                kept_floats[at + _INNER],
                kept_floats[at + _BOUNDARY],
            )
            at += _HEAD + kept_words[at + _SIZE]
        own_hash = splitmix64(vertex)
        count = _in_order(lists[v], lists[v + 1], starts, words, places, orders)
        for number in range(count):
            at = places[number]
            size = words[at + _SIZE]
            score, key = floats[at + _SCORE], np.uint64(words[at + _KEY])
            spot = np.int64(key & np.uint64(_SEEN - 1))
            if seen_keys[spot] == key and seen_by[spot] == v:
                continue
            seen_keys[spot], seen_by[spot] = key, v
            inner, boundary = floats[at + _INNER], floats[at + _BOUNDARY]
            sending = _insert(best, sending, score, key, 0, at, False, inner, boundary)
            belongs = False
            for i in range(size):
                if words[at + _HEAD + i] == vertex:
                    belongs = True
                    break
            if belongs:
                keeping = _insert(keep, keeping, score, key, 0, at, False, inner, boundary)
                continue
            if size >= v_max:
                continue
            pairs = 0.5 * size * (size + 1)
            most = min(largest * size, degree)
            bound = (inner + most - factor * (boundary + degree - 2 * most)) / pairs
            if (
                sending == s_max
                and bound < best.scores[s_max - 1]
                and keeping == c_max
                and bound < keep.scores[c_max - 1]
            ):
                continue
            between = 0.0
            for i in range(size):
                between += _weight_between(row, stop, neighbors, weights, words[at + _HEAD + i])
            new_inner = inner + between
            new_boundary = boundary + degree - 2.0 * between
            new_score = (new_inner - factor * new_boundary) / pairs
            new_key = key + own_hash
            sending = _insert(
                best, sending, new_score, new_key, 0, at, True, new_inner, new_boundary
            )
            keeping = _insert(
                keep, keeping, new_score, new_key, 0, at, True, new_inner, new_boundary
            )
        if sending > 0:
            _written(to_send, v, vertex, best, sending, kept_words, words)
        else:  # no vertex sent: its list stays
            _copied(to_send, v, sent_starts, sent_words)
        fresh = 0
        for place in range(keeping):
            fresh += keep.sources[place] >= 0
            scores[v, 1] += keep.scores[place]
        if fresh > 0:
            _written(to_keep, v, vertex, keep, keeping, kept_words, words)
        else:
            _copied(to_keep, v, kept_starts, kept_words)
        counts[v, 0], counts[v, 1] = fresh, keeping
        counts[v, 2], scores[v, 0] = to_keep[0][to_keep[2][v] + _SIZE], keep.scores[0]
