"""Edges of a graph in this process as Parquet files, for functions that read a table of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from predict_graph.graph import Graph

_MOST_ROWS = 1 << 20  # edges of a file: limits the memory of a writer


def write_edges(graph: Graph, folder: Path, parts: int) -> Path:
    """Write the stored edges of a graph as Parquet files for Spark; return their folder.

    There are at least `parts` files: each is read by one task, and all executors should read.
    """
    length = min(max(-(-graph.edges // parts), 1), _MOST_ROWS)
    target = folder / "edges"
    target.mkdir()
    sources = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
    for number, start in enumerate(range(0, graph.edges, length)):
        rows = slice(start, start + length)
        columns = {
            "src": sources[rows],
            "dst": np.ascontiguousarray(graph.indices[rows]).astype(np.int64),
        }
        if graph.weights is not None:
            columns["weight"] = np.ascontiguousarray(graph.weights[rows]).astype(np.float64)
        table = pa.table(columns)
        pa.parquet.write_table(table, target / f"part-{number:05d}.parquet")
    return target
