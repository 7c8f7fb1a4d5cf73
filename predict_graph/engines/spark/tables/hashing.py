"""The partition in which Spark puts a row: a Murmur3 hash of its key.

References
----------
A. Appleby: MurmurHash3, the 32-bit variant for x86, of the two halves of a long.

Examples
--------
>>> partition_of(np.arange(4), 4).tolist()
[1, 1, 0, 3]
>>> partition_of_pair(np.array([0, 7]), np.array([1, 2**40]), 5).tolist()
[1, 1]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, vectorize

_SEED = np.uint64(42)  # by definition of Spark: its hash partitioning
_32_BITS = np.uint64(0xFFFFFFFF)  # by definition; compiled code would widen products of 32 bits


@njit(cache=True)
def _times(mixed: Any, factor: int) -> Any:
    return (mixed * np.uint64(factor)) & _32_BITS


@njit(cache=True)
def _turned(mixed: Any, bits: int) -> Any:
    return ((mixed << np.uint64(bits)) | (mixed >> np.uint64(32 - bits))) & _32_BITS


@njit(cache=True)
def _stirred(mixed: Any, word: Any) -> Any:
    """Return the state of the hash after another word of 32 bits."""
    word = _times(_turned(_times(word, 0xCC9E2D51), 15), 0x1B873593)
    return (_times(_turned(mixed ^ word, 13), 5) + np.uint64(0xE6546B64)) & _32_BITS


@njit(cache=True, nogil=True)
def _hash(seed: Any, vertex: Any) -> Any:
    word = np.uint64(vertex)
    mixed = _stirred(_stirred(seed, word & _32_BITS), word >> np.uint64(32))
    mixed ^= np.uint64(8)  # the length in bytes
    mixed = _times(mixed ^ (mixed >> np.uint64(16)), 0x85EBCA6B)
    mixed = _times(mixed ^ (mixed >> np.uint64(13)), 0xC2B2AE35)
    return mixed ^ (mixed >> np.uint64(16))


@vectorize(cache=True)
def partition_of(vertex: Any, partitions: Any) -> Any:
    """Return the partition of a vertex: Spark's ``pmod(hash(id), partitions)`` of a bigint."""
    return np.int64(np.int32(_hash(_SEED, vertex))) % partitions


@vectorize(cache=True)
def partition_of_pair(first: Any, second: Any, partitions: Any) -> Any:
    """Return the partition of a row whose key is two ids: one hash is the seed of the next."""
    return np.int64(np.int32(_hash(_hash(_SEED, first), second))) % partitions
