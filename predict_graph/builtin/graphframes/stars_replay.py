"""Local replay of ``ConnectedComponents`` of GraphFrames.

Edges are stored once, from the smaller id to the larger. An iteration has two stars [1]_. The large
star links the larger neighbours of each vertex to the smallest id among it and its neighbours; the
small star links the smaller neighbours of each vertex, and itself, to the smallest of them. Both
join edges with the minimum of their vertex and remove duplicates. The run ends when the sum of the
source ids is the same as in the previous iteration.

Spark combines rows in each partition before the shuffle. Rows are partitioned by the hash of their
key, so record counts are exact, too; but no vertex is taken to have more neighbours than the
threshold, whose edges would not be shuffled.

References
----------
.. [1] R. Kiveris, S. Lattanzi, V. Mirrokni, V. Rastogi, S. Vassilvitskii: Connected Components in
   MapReduce and Beyond, SoCC 2014, section 3 (the alternating algorithm).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from predict_graph.arrays import IntArray
from predict_graph.builtin.graphframes.definition import GraphFramesAlgorithm
from predict_graph.builtin.graphx.replays import distinct_rows, table_of
from predict_graph.engines.spark.library.algorithm import EdgeLayout
from predict_graph.engines.spark.tables.hashing import partition_of, partition_of_pair


def stars(layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ConnectedComponents`` by stars, one row per iteration.

    The first row includes the preparation, which removes duplicate edges and counts them, with one
    record per partition; so does the sum of an iteration.
    """
    n, count, kept = layout.vertices, layout.partitions, layout.sources != layout.targets
    ends, parts = (layout.sources[kept], layout.targets[kept]), layout.parts[kept]
    pairs = np.minimum(*ends), np.maximum(*ends)
    distinct, low, high = distinct_rows(n, count, *pairs, parts)
    messages, records, entries = len(parts), distinct + count, distinct + count
    labels, total, table = np.arange(n), None, []
    while True:
        # The large star: from the larger neighbours of each vertex to the smallest, or itself.
        least, counts, large = _least(n, count, low, high, True)
        rows = high, least[low]
        joined, visited = len(low), 3 * len(low)
        distinct, source, target = distinct_rows(n, count, *rows, partition_of(low, count))
        # The small star: from the smallest neighbour to the vertex and its other neighbours.
        least, owners, small = _least(n, count, source, target, False)
        there = np.flatnonzero(owners)
        first = np.concatenate((least[source], least[there]))
        second = np.concatenate((target, there))
        parts = np.concatenate((partition_of(source, count), count + partition_of(there, count)))
        kept = first != second
        joined += len(source)
        visited += len(source) + int(np.count_nonzero(kept))
        rows = first[kept], second[kept]
        again, low, high = distinct_rows(n, 2 * count, *rows, parts[kept])
        before, labels = labels, np.arange(n)
        # Later assignments win, so the smallest of several comes last
        labels[high[::-1]] = low[::-1]
        records += joined + large + small + distinct + again + count
        entries += joined + 2 * (large + small) + distinct + again + count
        changed = int(np.count_nonzero(labels != before))
        active = int(np.count_nonzero(counts))
        table.append((active, messages + joined + visited, records, entries, changed))
        total, earlier = (int(low.sum()) if len(low) else None), total
        if total == earlier:
            return table_of(table)
        messages = records = entries = 0


def _least(
    n: int, partitions: int, first: IntArray, second: IntArray, both: bool
) -> tuple[IntArray, IntArray, int]:
    """Return the smallest neighbour of each vertex, the neighbour count, and records of partitions.

    For edges in both directions, with the vertex itself among its neighbours, or from their first
    end alone. Edges are in the partition of the hash of both ends.
    """
    least = np.arange(n) if both else np.full(n, n)
    homes = partition_of_pair(first, second, partitions)
    owners, others = first, second
    if both:
        owners, others = np.concatenate((first, second)), np.concatenate((second, first))
        homes = np.concatenate((homes, homes))
    np.minimum.at(least, owners, others)
    return least, np.bincount(owners, minlength=n), len(np.unique(owners * partitions + homes))


def replayed(algorithm: GraphFramesAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count stars, or the GraphX algorithm, which also gets the vertices without edges."""
    ran_by = algorithm.ran_by
    return stars(layout) if ran_by is None else ran_by.replay(replace(layout, everyone=True))
