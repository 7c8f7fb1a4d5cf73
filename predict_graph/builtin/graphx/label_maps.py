"""Iteration order of Scala's label maps, which breaks ties among labels.

``mutable.HashMap`` of Scala 2.13 iterates over its buckets from the first, which are the low bits
of the hash, and within a bucket by hash. In Scala 2.12, with Spark 3, buckets are the high bits of
another hash and are visited from the last; within a bucket later entries come first, and the order
reverses when the table grows. Labels are inserted in the order of the union of the keys of two
maps, an ``immutable.HashSet``. Sets of up to four elements keep insertion order, which depends on
the first messages and is not replayed: ties within one bucket may be broken differently.
"""

from __future__ import annotations

from typing import Any

import numba

# By definition of Scala: 32 bits of a hash, scala.util.hashing.byteswap32; buckets of an empty
# table, their bits, and the size at which the table grows.
_WORD = 0xFFFFFFFF
_SWAP = 0x9E3775CD
_PLACES, _BITS = 16, 4
_FULL = 12


@numba.njit(cache=True, nogil=True)
def first(labels: Any, count: int, votes: Any) -> Any:
    """Return the first label with most votes in the order of Scala 2.13."""
    places = _PLACES
    while 4 * count >= 3 * places:  # load factor of Scala
        places *= 2
    best, place = labels[0], _mixed(labels[0]) & (places - 1)
    for i in range(1, count):
        found = labels[i]
        if votes[found] < votes[best]:
            continue
        mixed = _mixed(found)
        at = mixed & (places - 1)
        before = at < place or (at == place and mixed < _mixed(best))
        if votes[found] > votes[best] or before:
            best, place = found, at
    return best


@numba.njit(cache=True, nogil=True)
def first_older(labels: Any, count: int, votes: Any) -> Any:
    """Return the first label with most votes in the order of Scala 2.12."""
    growths = 0
    while count > _FULL << growths:
        growths += 1
    shift = 32 - _BITS - growths
    best, place = labels[0], _older(labels[0]) >> shift
    for i in range(1, count):
        found = labels[i]
        if votes[found] < votes[best]:
            continue
        at = _older(found) >> shift
        if (
            votes[found] > votes[best]
            or at > place
            or (at == place and _ahead(labels, count, growths, found, best))
        ):
            best, place = found, at
    return best


@numba.njit(cache=True, nogil=True)
def _ahead(labels: Any, count: int, growths: int, one: Any, other: Any) -> Any:
    """Whether one label of a bucket precedes another; both were inserted in set order."""
    mine, its = 1, 1
    for i in range(count):
        mine += _sooner(labels[i], one)
        its += _sooner(labels[i], other)
    turned, others_turned = 0, 0  # how often the table has grown since
    for k in range(growths):
        turned += mine <= (_FULL << k) + 1
        others_turned += its <= (_FULL << k) + 1
    # Before the first reversal that both have seen, the later one was ahead.
    return (mine > its) == (min(turned, others_turned) % 2 == 0)


@numba.njit(cache=True, nogil=True)
def _sooner(one: Any, other: Any) -> Any:
    """Whether ``immutable.HashSet`` has a label before another: by five hash bits at a time."""
    mine, its = _in_set(one), _in_set(other)
    apart = mine ^ its
    if apart == 0:
        return False
    while apart & 31 == 0:
        mine, its, apart = mine >> 5, its >> 5, apart >> 5
    return (mine & 31) < (its & 31)


@numba.njit(cache=True, nogil=True)
def long_hash(label: Any) -> Any:
    """Return the hash of a ``Long``: itself where it is small, else both halves combined."""
    return (label ^ (label >> 32)) & _WORD


@numba.njit(cache=True, nogil=True)
def _mixed(label: Any) -> Any:
    mixed = long_hash(label)
    return mixed ^ (mixed >> 16)


@numba.njit(cache=True, nogil=True)
def _older(label: Any) -> Any:
    swapped = (long_hash(label) * _SWAP) & _WORD
    swapped = (
        (swapped & 0xFF) << 24 | (swapped & 0xFF00) << 8 | (swapped >> 8) & 0xFF00 | (swapped >> 24)
    )
    swapped = (swapped * _SWAP) & _WORD
    return (swapped >> _BITS | swapped << (32 - _BITS)) & _WORD


@numba.njit(cache=True, nogil=True)
def _in_set(label: Any) -> Any:
    mixed = long_hash(label)
    mixed = (mixed + (~(mixed << 9) & _WORD)) & _WORD
    mixed ^= mixed >> 14
    mixed = (mixed + (mixed << 4)) & _WORD
    return mixed ^ (mixed >> 10)
