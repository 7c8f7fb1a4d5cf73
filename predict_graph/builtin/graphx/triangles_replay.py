"""Local replay of the three supersteps of ``TriangleCount`` of GraphX.

First, each pair of adjacent vertices is kept once, and partitioned by a hash of the pair.
Second, both ends of an edge exchange their ids, which are combined into lists, in each partition
and then over all. Third, these are sent as sets to all partitions with edges of their vertex; an
edge looks up each id of the smaller set in the larger one, and sends the count to both ends, even
if it is zero.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray
from predict_graph.builtin.graphx.definition import GraphXTriangleCount
from predict_graph.builtin.graphx.rounds import Rounds
from predict_graph.engines.spark.library.layout import EdgeLayout
from predict_graph.engines.spark.tables.hashing import partition_of_pair

# By definition: ids of 8 bytes in a cache line of 64, the unit in which lists are copied
_AT_ONCE = 8


def triangles(algorithm: GraphXTriangleCount, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``TriangleCount``."""
    n, nobody = layout.vertices, np.zeros(layout.vertices, np.bool_)
    present = nobody.copy()  # GraphX only has vertices with edges
    present[layout.sources] = present[layout.targets] = True
    before = Rounds(layout)
    kept = layout.sources != layout.targets
    sending = nobody.copy()
    sending[layout.sources[kept]] = True
    pairs, records = _dealt(layout, kept)
    edges = int(np.count_nonzero(kept))
    counts = (int(sending.sum()), edges, records, records, edges)
    before.add(counts, nobody, present)

    anew = Rounds(pairs)
    linked = nobody.copy()
    linked[pairs.sources] = linked[pairs.targets] = True
    degrees = np.bincount(pairs.sources, minlength=n) + np.bincount(pairs.targets, minlength=n)
    senders, announced = int(linked.sum()), 2 * len(pairs.sources)
    records, copied = _collected(pairs.starts, pairs.sources, pairs.targets, n)
    anew.add((senders, announced, records, announced, copied), linked, nobody)
    smaller = np.minimum(degrees[pairs.sources], degrees[pairs.targets]).sum()
    shipped = int((pairs.copies() * degrees).sum())
    anew.add(
        (senders, announced, records, records + shipped, int(smaller) + announced), linked, linked
    )
    return pd.concat([before.table(), anew.table()], ignore_index=True)


def _dealt(layout: EdgeLayout, kept: BoolArray) -> tuple[EdgeLayout, int]:
    """Return the pairs of adjacent vertices in their partitions, and the records of partitioning.

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
    home = partition_of_pair(low, high, count)  # for Scala's hash of a pair
    order = np.argsort(home, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(home, minlength=count)))).astype(np.int64)
    return EdgeLayout(n, starts, low[order], high[order]), records


@numba.njit(cache=True, nogil=True)
def _collected(starts: Any, sources: Any, targets: Any, n: int) -> Any:
    """Return records, and the pieces of lists copied as they grow by one id or another list.

    Adding an id copies the list, a cache line at a time: d² / 16 lines at a hub with d neighbours.
    """
    seen, size = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    whole = np.zeros(n, np.int64)
    records = copied = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            for v in (sources[e], targets[e]):
                if seen[v] != p:
                    if seen[v] >= 0 and whole[v] > size[v]:  # appended to an existing list
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
