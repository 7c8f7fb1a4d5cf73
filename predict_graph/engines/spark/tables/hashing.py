"""The partition in which Spark puts a row: a Murmur3 hash of its key."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

_SEED = 42  # by definition of Spark: its hash partitioning
_32_BITS = np.uint64(0xFFFFFFFF)  # by definition; compiled code would widen products of 32 bits


def partition_of(vertices: npt.ArrayLike, partitions: int) -> npt.NDArray[np.int64]:
    """Return the partition of each vertex: Spark's ``pmod(hash(id), partitions)`` of a bigint.

    References
    ----------
    A. Appleby: MurmurHash3, the 32-bit variant for x86, of the two halves of a long.

    Examples
    --------
    >>> partition_of([0, 1, 2, 3], 4).tolist()
    [1, 1, 0, 3]
    """
    ids = np.ascontiguousarray(vertices, dtype=np.int64).ravel()
    found: npt.NDArray[np.int64] = _partitions(ids, partitions)
    return found.reshape(np.shape(vertices))


@njit(cache=True)
def _times(mixed: Any, factor: int) -> Any:
    return (mixed * np.uint64(factor)) & _32_BITS


@njit(cache=True)
def _turned(mixed: Any, bits: int) -> Any:
    return ((mixed << np.uint64(bits)) | (mixed >> np.uint64(32 - bits))) & _32_BITS


@njit(cache=True)
def _stirred(mixed: Any, word: Any) -> Any:
    word = _times(_turned(_times(word, 0xCC9E2D51), 15), 0x1B873593)
    return (_times(_turned(mixed ^ word, 13), 5) + np.uint64(0xE6546B64)) & _32_BITS


@njit(cache=True, nogil=True)
def _hash(seed: Any, vertex: Any) -> Any:
    word = np.uint64(vertex)
    mixed = _stirred(seed, word & _32_BITS)
    mixed = _stirred(mixed, word >> np.uint64(32)) ^ np.uint64(8)
    mixed = _times(mixed ^ (mixed >> np.uint64(16)), 0x85EBCA6B)
    mixed = _times(mixed ^ (mixed >> np.uint64(13)), 0xC2B2AE35)
    return mixed ^ (mixed >> np.uint64(16))


@njit(cache=True, nogil=True)
def hash_of_one(vertex: Any) -> Any:
    """Return Spark's hash of one vertex, a signed number of 32 bits.

    Examples
    --------
    >>> hash_of_one(0) % 4
    1
    """
    return np.int32(_hash(np.uint64(_SEED), vertex))


@njit(cache=True, nogil=True)
def partition_of_one(vertex: Any, partitions: Any) -> Any:
    """Return the partition of one vertex."""
    return np.int64(hash_of_one(vertex)) % partitions


@njit(cache=True, nogil=True)
def partition_of_pair(first: Any, second: Any, partitions: Any) -> Any:
    """Return the partition of a row whose key is two ids: the hash of one is the next one's seed.

    Examples
    --------
    >>> [partition_of_pair(0, 1, 5), partition_of_pair(7, 2**40, 5)]
    [1, 1]
    """
    return np.int64(np.int32(_hash(_hash(np.uint64(_SEED), first), second))) % partitions


@njit(cache=True, nogil=True)
def _partitions(vertices: Any, partitions: int) -> Any:
    found = np.empty(len(vertices), np.int64)
    for i in range(len(vertices)):
        found[i] = partition_of_one(vertices[i], partitions)
    return found
