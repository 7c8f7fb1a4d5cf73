"""Writing the result of a run: one line per vertex with its original id and its values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from predict_graph.arrays import Array
from predict_graph.errors import RequestError
from predict_graph.files import check_writable, written_beside
from predict_graph.graph import Graph

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".csv", ".tsv", ".parquet")


def check_output(path: Path) -> None:
    """Reject a path that :func:`write_values` cannot write, before a long run."""
    if path.suffix not in _SUFFIXES:
        raise RequestError(f"cannot write {path}; accepted: a name in {', '.join(_SUFFIXES)}")
    check_writable(path)


def write_values(path: Path, graph: Graph, values: Array, *, are_vertices: bool = False) -> None:
    """Write the value of each vertex as CSV, TSV or Parquet, chosen by the suffix of `path`.

    Columns are ``vertex, value``, or ``vertex, value_1, value_2, …`` for several values per vertex.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    ids = pa.array(np.arange(graph.vertices) if graph.labels is None else graph.labels)
    columns = {"vertex": ids}
    if values.ndim == 1:
        columns["value"] = _column(values, ids if are_vertices else None)
    else:
        for number, column in enumerate(values.T, start=1):
            columns[f"value_{number}"] = _column(column, ids if are_vertices else None)
    table = pa.table(columns)
    with written_beside(path) as beside:
        if path.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
        else:
            delimiter = "," if path.suffix == ".csv" else "\t"
            options = pa.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            pa.csv.write_csv(table, beside, options)


def _column(values: Array, ids: pa.Array | None) -> pa.Array:
    """Return a column of the file; vertices are replaced by their `ids`, negative ones by null."""
    import pyarrow as pa

    if ids is None:
        return pa.array(np.ascontiguousarray(values))
    return ids.take(pa.array(np.ascontiguousarray(values), mask=values < 0))
