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

from predict_graph.builtin.graphx.definition import GraphXTriangleCount
from predict_graph.builtin.graphx.rounds import distinct_rows, table_of
from predict_graph.engines.spark.library.layout import EdgeLayout, layout_of_edges
from predict_graph.engines.spark.tables.hashing import partition_of


def triangles(algorithm: GraphXTriangleCount, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``TriangleCount``.

    Adding an id to a list copies the list, in lines of a cache (64 bytes) of eight ids: d² / 16
    lines at a hub with d neighbours.
    """
    n, count, kept = layout.vertices, layout.partitions, layout.sources != layout.targets
    ends = layout.sources[kept], layout.targets[kept]
    pairs = np.minimum(*ends), np.maximum(*ends)
    records, low, high = distinct_rows(n, count, *pairs, layout.parts[kept])
    rows = [(len(np.unique(ends[0])), len(ends[0]), records, records, len(ends[0]), 0)]
    # For Scala's hash of a pair
    dealt = layout_of_edges(n, low, high, partition_of(n * low + high, count), count)
    degrees, copies = np.bincount(np.concatenate((low, high)), minlength=n), dealt.copies()
    linked, announced, records = int(np.count_nonzero(degrees)), 2 * len(low), int(copies.sum())
    lists = degrees / np.maximum(copies, 1)  # of each partition, which are then joined
    copied = copies * lists * (1 + lists / 16) + np.maximum(copies - 1, 0) * (1 + degrees / 16)
    rows.append((linked, announced, records, announced, int(copied.sum()), linked))
    smaller = int(np.minimum(degrees[low], degrees[high]).sum())
    entries = records + int((copies * degrees).sum())
    rows.append((linked, announced, records, entries, smaller + announced, linked))
    return table_of(rows)
