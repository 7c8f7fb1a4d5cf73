"""Writing the result of a run: one line a vertex, its original id and its value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from predict_graph.errors import RequestError
from predict_graph.files import check_writable, written_beside
from predict_graph.graph import Graph

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


def write_values(path: Path, graph: Graph, values: npt.NDArray[Any]) -> None:
    """Write ``vertex, value`` as CSV, TSV or Parquet, by the suffix of `path`.

    Raises
    ------
    RequestError
        If the suffix is another one, or the folder cannot be written to.
    JobError
        If the disk is full.
    """
    check_output(path)
    ids = np.arange(graph.vertices) if graph.labels is None else graph.labels
    table = pa.table({"vertex": pa.array(ids), "value": pa.array(values)})
    with written_beside(path) as beside:
        if path.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
        else:
            delimiter = "," if path.suffix == ".csv" else "\t"
            options = pa.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            pa.csv.write_csv(table, beside, options)
