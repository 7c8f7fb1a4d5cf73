"""Local replay of ``ConnectedComponents`` of GraphFrames.

Edges are stored once, from the smaller id to the larger. An iteration has two stars [1]_. The large
star links the larger neighbours of each vertex to the smallest id among it and its neighbours; the
small star links the smaller neighbours of each vertex, and itself, to the smallest of them. Both
join edges with the minimum of their vertex and remove duplicates. The run ends when the sum of the
source ids is the same as in the previous iteration.

Spark combines rows in each partition before the shuffle. Rows are partitioned by the hash of their
key, so record counts are exact, too. Edges of vertices with more neighbours than the threshold are
not shuffled; the minima are broadcast.

References
----------
.. [1] R. Kiveris, S. Lattanzi, V. Mirrokni, V. Rastogi, S. Vassilvitskii: Connected Components in
   MapReduce and Beyond, SoCC 2014, section 3 (the alternating algorithm).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import IntArray
from predict_graph.builtin.graphframes.definition import (
    GraphFramesAlgorithm,
    GraphFramesConnectedComponents,
)
from predict_graph.builtin.graphx.rounds import distinct_rows
from predict_graph.engines.spark.library.algorithm import REPLAY_COLUMNS
from predict_graph.engines.spark.library.layout import EdgeLayout
from predict_graph.engines.spark.tables.hashing import partition_of, partition_of_pair

_Rows = IntArray
"""Shuffled rows of an iteration: for joins; of aggregations, before and after combining; and
records that also hold a count."""


def stars(algorithm: GraphFramesConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ConnectedComponents`` by stars, one row per iteration.

    The first row includes the preparation, which removes duplicate edges and counts them.
    """
    n, count, most = layout.vertices, layout.partitions, algorithm.most_neighbours
    low, high, rows = _prepared(layout)
    least, total, table = np.arange(n), None, []
    while True:
        ends, low, high, between = _large_star(n, count, most, low, high)
        rows = rows + between
        low, high, between = _small_star(n, count, most, low, high)
        rows = rows + between
        before, least = least, np.arange(n)
        # Later assignments win, so the smallest of several comes last
        least[high[::-1]] = low[::-1]
        table.append(_row(rows, ends, int(np.count_nonzero(least != before)), count))
        total, earlier = (int(low.sum()) if len(low) else None), total
        if total == earlier:
            return pd.DataFrame(table, columns=list(REPLAY_COLUMNS))
        rows = np.zeros_like(rows)


def _row(rows: _Rows, there: int, news: int, partitions: int) -> tuple[int, ...]:
    """Return a row of ``REPLAY_COLUMNS``; the sum takes one record per partition."""
    joined, uncombined, records, minima = rows.tolist()
    records += joined + partitions
    return there, joined + uncombined, records, records + minima, uncombined, news


def _prepared(layout: EdgeLayout) -> tuple[IntArray, IntArray, _Rows]:
    """Return each pair of neighbours once."""
    kept = layout.sources != layout.targets
    ends = layout.sources[kept], layout.targets[kept]
    parts = layout.parts[kept]
    pairs = np.minimum(*ends), np.maximum(*ends)
    records, low, high = distinct_rows(layout.vertices, layout.partitions, *pairs, parts)
    # Counting the edges takes one record per partition.
    return low, high, np.array([0, len(parts), records + layout.partitions, 0])


def _large_star(
    n: int, partitions: int, most: int, low: IntArray, high: IntArray
) -> tuple[int, IntArray, IntArray, _Rows]:
    """Return edges from the larger neighbours of each vertex to its smallest neighbour or itself.

    Also return how many vertices have edges.
    """
    least, counts, grouped = _least(n, partitions, low, high, True)
    parts, joined = _homes(partitions, low, high, counts > most)
    records, source, target = distinct_rows(n, 2 * partitions, high, least[low], parts)
    rows = np.array([joined, 3 * len(low), grouped + records, grouped])
    return int(np.count_nonzero(counts)), source, target, rows


def _small_star(
    n: int, partitions: int, most: int, source: IntArray, target: IntArray
) -> tuple[IntArray, IntArray, _Rows]:
    """Return edges from the smallest neighbour of each vertex to it and its other neighbours.

    All neighbours are smaller.
    """
    least, counts, grouped = _least(n, partitions, source, target, False)
    parts, joined = _homes(partitions, source, target, counts > most)
    there = np.flatnonzero(counts)
    first = np.concatenate((least[source], least[there]))
    second = np.concatenate((target, there))
    parts = np.concatenate((parts, 2 * partitions + partition_of(there, partitions)))
    kept = first != second
    records, low, high = distinct_rows(n, 3 * partitions, first[kept], second[kept], parts[kept])
    uncombined = len(source) + int(np.count_nonzero(kept))
    return low, high, np.array([joined, uncombined, grouped + records, grouped])


def _homes(partitions: int, first: IntArray, second: IntArray, hubs: Any) -> tuple[IntArray, int]:
    """Return the partitions where edges are joined with their first end, and the rows sent
    there.
    """
    stay, there = hubs[first], partition_of(first, partitions)
    homes = np.where(stay, partitions + partition_of_pair(first, second, partitions), there)
    return homes, int(np.count_nonzero(~stay))


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
    if isinstance(algorithm, GraphFramesConnectedComponents) and algorithm.graphx is None:
        return stars(algorithm, layout)
    assert algorithm.graphx is not None
    return algorithm.graphx.replay(replace(layout, everyone=True))
