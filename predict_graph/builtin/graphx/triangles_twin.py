"""What ``TriangleCount`` of GraphX does in each of its three supersteps, by the same rules.

First each pair of vertices with an edge is kept once, and dealt to a partition by the hash that
Scala gives a pair. Then both ends of an edge tell each other their ids, which are put together to
lists: in a partition, and then from all of them. Last, these go as sets to all partitions with
edges of their vertex; an edge looks up each id of the smaller of its two sets in the larger one,
and tells both ends what it found, if only a zero.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.builtin.graphx.definition import GraphXTriangleCount
from predict_graph.builtin.graphx.rounds import Rounds
from predict_graph.engines.spark.library.layout import EdgeLayout
from predict_graph.engines.spark.session.graphframes import scala_line

__all__ = ["triangles"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# By definition: Scala hashes a case class by MurmurHash3, from this seed, into which 2.13 mixes the
# hash of the name "Tuple2" first; and the constants of that hash.
_SEED, _CLASS = 0xCAFEBABE, 0x95FC5D8A
_C1, _C2, _MIXED = 0xCC9E2D51, 0x1B873593, 0xE6546B64
_LAST_1, _LAST_2 = 0x85EBCA6B, 0xC2B2AE35
_WORD = 0xFFFFFFFF
_AT_ONCE = 8  # by definition: ids of 8 bytes in a cache line of 64, in which lists are copied


def triangles(algorithm: GraphXTriangleCount, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``TriangleCount``."""
    n, nobody = layout.vertices, np.zeros(layout.vertices, np.bool_)
    present = nobody.copy()  # GraphX knows of vertices with edges alone
    present[layout.sources] = present[layout.targets] = True
    before = Rounds(layout.copies())
    kept = layout.sources != layout.targets
    sending = nobody.copy()
    sending[layout.sources[kept]] = True
    pairs, records = _dealt(layout, kept)
    edges = int(np.count_nonzero(kept))
    counts = (int(sending.sum()), edges, records, records, edges)
    before.add(counts, nobody, present)

    anew = Rounds(pairs.copies())
    linked = nobody.copy()
    linked[pairs.sources] = linked[pairs.targets] = True
    degrees = np.bincount(pairs.sources, minlength=n) + np.bincount(pairs.targets, minlength=n)
    senders, told = int(linked.sum()), 2 * len(pairs.sources)
    records, copied = _collected(pairs.starts, pairs.sources, pairs.targets, n)
    anew.add((senders, told, records, told, copied), linked, nobody)
    smaller = np.minimum(degrees[pairs.sources], degrees[pairs.targets]).sum()
    shipped = int((pairs.copies() * degrees).sum())
    anew.add((senders, told, records, records + shipped, int(smaller) + told), linked, linked)
    return pd.concat([before.table(), anew.table()], ignore_index=True)


def _dealt(layout: EdgeLayout, kept: BoolArray) -> tuple[EdgeLayout, int]:
    """Return the pairs of vertices with edges, each in its partition, and the records to deal them.

    A partition sends each of its pairs once.
    """
    n, count = layout.vertices, layout.partitions
    parts = np.repeat(np.arange(count, dtype=np.int64), np.diff(layout.starts))[kept]
    ends = layout.sources[kept], layout.targets[kept]
    low, high = np.minimum(*ends), np.maximum(*ends)
    order = np.lexsort((parts, high, low))
    low, high, parts = low[order], high[order], parts[order]
    fresh = (np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0)
    records = int(np.count_nonzero(fresh | (np.diff(parts, prepend=-1) != 0)))
    low, high = low[fresh], high[fresh]
    home = _pair_hash(low, high, older=scala_line() == "2.12") % count
    order = np.argsort(home, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(home, minlength=count)))).astype(np.int64)
    return EdgeLayout(n, starts, low[order], high[order]), records


def _pair_hash(first: IntArray, second: IntArray, *, older: bool = False) -> IntArray:
    """Return ``Tuple2(first, second).hashCode`` of ids, as Scala 2.13 has it: 32 bits and a sign.

    With `older`, as 2.12 has it, which is that of Spark 3.

    Examples
    --------
    >>> _pair_hash(np.array([0, 1, 5]), np.array([1, 2, 100000])).tolist()
    [1084890308, 1316541600, 1475829013]
    """
    seed = np.uint64(_SEED)
    h = np.full(len(first), seed if older else _mix(seed, np.uint64(_CLASS)), np.uint64)
    for each in (first, second):
        h = _mix(h, _long_hash(each))
    h ^= np.uint64(2)  # fields
    h = (h ^ (h >> np.uint64(16))) * np.uint64(_LAST_1) & np.uint64(_WORD)
    h = (h ^ (h >> np.uint64(13))) * np.uint64(_LAST_2) & np.uint64(_WORD)
    h ^= h >> np.uint64(16)
    return h.astype(np.uint32).view(np.int32).astype(np.int64)


def _long_hash(ids: IntArray) -> Any:
    """Return the hash of a ``Long``: itself where it is small, else both halves together."""
    halves = ids.astype(np.uint64)
    return (halves ^ (halves >> np.uint64(32))) & np.uint64(_WORD)


def _mix(h: Any, k: Any) -> Any:
    word = np.uint64(_WORD)
    k = k * np.uint64(_C1) & word
    k = _rotated(k, 15) * np.uint64(_C2) & word
    return (_rotated(h ^ k, 13) * np.uint64(5) + np.uint64(_MIXED)) & word


def _rotated(x: Any, by: int) -> Any:
    return ((x << np.uint64(by)) | (x >> np.uint64(32 - by))) & np.uint64(_WORD)


@numba.njit(cache=True, nogil=True)
def _collected(starts: Any, sources: Any, targets: Any, n: int) -> Any:
    """Return records, and pieces of lists that are copied as they grow, by one and then by others.

    A list that an id is put to is copied, a cache line at a time: quick, but at a hub with d
    neighbours d² / 16 of these.
    """
    seen, size = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    whole = np.zeros(n, np.int64)
    records = copied = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            for v in (sources[e], targets[e]):
                if seen[v] != p:
                    if seen[v] >= 0 and whole[v] > size[v]:  # put to what came before
                        copied += 1 + whole[v] // _AT_ONCE
                    seen[v] = p
                    size[v] = 0
                    records += 1
                size[v] += 1
                whole[v] += 1
                copied += 1 + size[v] // _AT_ONCE
    for v in range(n):
        if whole[v] > size[v]:
            copied += 1 + whole[v] // _AT_ONCE
    return records, copied
