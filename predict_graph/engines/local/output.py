"""Writing the result of a run: one line a vertex, its original id and its value or values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.files import check_writable, written_beside
from predict_graph.graph import Graph

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_output", "write_values"]

_SUFFIXES = (".csv", ".tsv", ".parquet")


def check_output(path: Path) -> None:
    """Refuse a file that :func:`write_values` could not write, before a long run.

    Raises
    ------
    RequestError
        If the suffix is not a known one, or the folder cannot be written to.
    """
    if path.suffix not in _SUFFIXES:
        raise RequestError(f"cannot write {path}; accepted: a name in {', '.join(_SUFFIXES)}")
    check_writable(path)


def write_values(
    path: Path, graph: Graph, values: npt.NDArray[Any], *, are_vertices: bool = False
) -> None:
    """Write the value of each vertex as CSV, TSV or Parquet, by the suffix of `path`.

    Columns are ``vertex, value``, or ``vertex, value_1, value_2, …`` where a vertex has several.

    Parameters
    ----------
    path : Path
    graph : Graph
        Its labels are the original ids.
    values : ndarray, shape (n,) or (n, columns)
    are_vertices : bool
        Whether values are vertices, -1 for none: original ids are written, and nothing for -1.

    Raises
    ------
    RequestError
        If the suffix is another one, or the folder cannot be written to.
    JobError
        If the disk is full.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    check_output(path)
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


def _column(values: npt.NDArray[Any], ids: pa.Array | None) -> pa.Array:
    """Return a column of the file; vertices become their `ids`, those below 0 null."""
    import pyarrow as pa

    if ids is None:
        return pa.array(np.ascontiguousarray(values))
    return ids.take(pa.array(np.ascontiguousarray(values), mask=values < 0))
