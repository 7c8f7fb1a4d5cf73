"""The partitioning of edges for a library's graph: by a hash of both ends.

GraphX loads edges in the order of their files, and GraphFrames in that of their table. We write one
gzip file per partition, which Spark does not split, so the partition of each edge is known. The
hash corresponds to ``PartitionStrategy.RandomVertexCut``.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from predict_graph.arrays import IntArray
from predict_graph.graph import Graph
from samplers.splitmix import mixed


@dataclass(frozen=True)
class EdgeLayout:
    """The edges of a graph, partition by partition, in processing order.

    The library's graph has vertices with edges only, or, with `everyone`, all of them.
    """

    vertices: int
    starts: IntArray
    sources: IntArray
    targets: IntArray
    everyone: bool = False

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return len(self.starts) - 1

    @property
    def parts(self) -> IntArray:
        """The partition of each edge."""
        return np.repeat(np.arange(self.partitions), np.diff(self.starts))

    def copies(self) -> IntArray:
        """Return in how many partitions each vertex has edges."""
        copies = np.zeros(self.vertices, np.int64)
        for first, last in pairwise(self.starts):
            seen = np.zeros(self.vertices, bool)
            seen[self.sources[first:last]] = True
            seen[self.targets[first:last]] = True
            copies += seen
        return copies


def layout_of(graph: Graph, partitions: int) -> EdgeLayout:
    """Assign the stored edges of a graph to partitions.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> layout = layout_of(check_graph("path:n=4"), 2)  # each edge both ways
    >>> layout.partitions, sorted(layout.sources.tolist())
    (2, [0, 1, 1, 2, 2, 3])
    """
    sources = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
    targets = np.asarray(graph.indices, dtype=np.int64)
    with np.errstate(over="ignore"):  # a hash that mixes both ends: splitmix64's finaliser
        ends = sources.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
        ends += targets.astype(np.uint64)
        home = (mixed.py_func(ends) % np.uint64(partitions)).astype(np.int64)
    return layout_of_edges(graph.vertices, sources, targets, home, partitions)


def layout_of_edges(
    vertices: int, sources: IntArray, targets: IntArray, parts: IntArray, partitions: int
) -> EdgeLayout:
    """Sort edges by their partitions, where they keep their order."""
    order = np.argsort(parts, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(parts, minlength=partitions))))
    return EdgeLayout(vertices, starts.astype(np.int64), sources[order], targets[order])


def write_layout(layout: EdgeLayout, folder: Path) -> Path:
    """Write a file of lines ``source target`` for each partition to a new folder; return it."""
    folder.mkdir()
    options = pa.csv.WriteOptions(include_header=False, delimiter=" ")
    for number in range(layout.partitions):
        rows = slice(layout.starts[number], layout.starts[number + 1])
        table = pa.table({"source": layout.sources[rows], "target": layout.targets[rows]})
        # The fastest level: files are read once
        with gzip.open(folder / f"part-{number:05d}.txt.gz", "wb", compresslevel=1) as file:
            pa.csv.write_csv(table, file, options)
    return folder
