"""Local replay of the three supersteps of ``TriangleCount`` of GraphX.

First, each pair of adjacent vertices is kept once, and partitioned by a hash of the pair.
Second, both ends of an edge exchange their ids, which are combined into lists, in each partition
and then over all. Third, these are sent as sets to all partitions with edges of their vertex; an
edge looks up each id of the smaller set in the larger one, and sends the count to both ends, even
if it is zero.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray
from predict_graph.builtin.graphx.definition import GraphXTriangleCount
from predict_graph.builtin.graphx.rounds import table_of
from predict_graph.engines.spark.library.layout import EdgeLayout
from predict_graph.engines.spark.tables.hashing import partition_of_pair

# By definition: ids of 8 bytes in a cache line of 64, the unit in which lists are copied
_AT_ONCE = 8


def triangles(algorithm: GraphXTriangleCount, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``TriangleCount``."""
    n, kept = layout.vertices, layout.sources != layout.targets
    pairs, records = _dealt(layout, kept)
    sending, edges = len(np.unique(layout.sources[kept])), int(np.count_nonzero(kept))
    rows = [(sending, edges, records, records, edges, 0)]
    ends = pairs.sources, pairs.targets
    degrees = np.bincount(ends[0], minlength=n) + np.bincount(ends[1], minlength=n)
    linked, announced = int(np.count_nonzero(degrees)), 2 * len(pairs.sources)
    records, copied = _collected(pairs)
    rows.append((linked, announced, records, announced, copied, linked))
    smaller = int(np.minimum(degrees[ends[0]], degrees[ends[1]]).sum())
    entries = records + int((pairs.copies() * degrees).sum())
    rows.append((linked, announced, records, entries, smaller + announced, linked))
    return table_of(rows)


def _dealt(layout: EdgeLayout, kept: BoolArray) -> tuple[EdgeLayout, int]:
    """Return the pairs of adjacent vertices in their partitions, and the records of partitioning.

    A partition sends each of its pairs once.
    """
    n, count = layout.vertices, layout.partitions
    parts = layout.parts[kept]
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


def _collected(pairs: EdgeLayout) -> tuple[int, int]:
    """Return records, and the pieces of lists copied as they grow by one id or another list.

    Adding an id copies the list, a cache line at a time: d² / 16 lines at a hub with d neighbours.
    """
    count = pairs.partitions
    keys = np.concatenate((pairs.sources, pairs.targets)) * count + np.tile(pairs.parts, 2)
    groups, sizes = np.unique(keys, return_counts=True)  # of each vertex, the lists of partitions
    lines, rest = np.divmod(sizes, _AT_ONCE)
    grown = sizes + _AT_ONCE * lines * (lines - 1) // 2 + lines * (rest + 1)
    later = np.diff(groups // count, prepend=-1) == 0  # appended to the list of those before
    whole = np.cumsum(sizes)
    before = np.maximum.accumulate(np.where(later, 0, whole - sizes))
    appended = 1 + (whole - before)[later] // _AT_ONCE
    return len(groups), int(grown.sum() + appended.sum())
