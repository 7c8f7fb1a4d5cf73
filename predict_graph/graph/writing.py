"""Writing the edges of a graph with their original ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.files import check_writable, written_beside
from predict_graph.graph.csr import Graph

_DELIMITERS = {".txt": "\t", ".tsv": "\t", ".csv": ","}
_ACCEPTED = (*_DELIMITERS, ".parquet")


def check_edge_file(path: Path) -> Path:
    """Return `path` if edges can be written there.

    Raises
    ------
    RequestError
        If its suffix is not accepted, or its folder is missing or read-only.
    """
    if path.suffix not in _ACCEPTED:
        raise RequestError(f"cannot write {path}; accepted: a name in {', '.join(_ACCEPTED)}")
    return check_writable(path)


def write_edges(path: Path, graph: Graph) -> None:
    """Write one line an edge: source, target and, if there is one, weight.

    CSV, TSV and Parquet get a header; ``.txt`` is as SNAP has it, without header and quotes. An
    edge of an undirected graph is written once.

    Raises
    ------
    RequestError
        If `path` cannot be written to, or an id holds a character that ``.txt`` cannot.
    JobError
        If writing fails; what was there stays.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    check_edge_file(path)
    sources, targets, weights = graph.listed_edges()
    columns: dict[str, npt.NDArray[Any]] = {"source": sources, "target": targets}
    if graph.labels is not None:
        columns = {name: graph.labels[end] for name, end in columns.items()}
    if weights is not None:
        columns["weight"] = weights
    table = pa.table(columns)
    with written_beside(path) as beside:
        if path.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
            return
        plain = path.suffix == ".txt"
        options = pa.csv.WriteOptions(
            include_header=not plain,
            delimiter=_DELIMITERS[path.suffix],
            quoting_style="none" if plain else "needed",
        )
        try:
            pa.csv.write_csv(table, beside, options)
        except pa.ArrowInvalid as error:
            raise RequestError(
                f"cannot write {path}: an id holds a tab, a quote or a line break; accepted for "
                "such ids: a name in .csv, .tsv, .parquet"
            ) from error
