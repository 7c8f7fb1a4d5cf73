"""Export and import of a history as one flat Parquet or CSV file.

One row a run, iteration and worker: the fields of the run in columns ``run_…``, then the columns
of its table. A run without a table has one row. ``run_types`` lists the columns of a run and
their types, so that an import gives back exactly what was exported.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.errors import PredictGraphError, RequestError, explained
from predict_graph.files import written_beside
from predict_graph.history.database import FIELDS, OPTIONAL, WHOLE_NUMBERS
from predict_graph.history.record import RunRecord
from predict_graph.history.rows import decode, encode, inflated
from predict_graph.inputs import parse_json, read_bytes
from predict_graph.limits import beyond, limits
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd


ENDINGS = (".parquet", ".csv", ".csv.gz")


def write_runs(path: Path, records: Sequence[RunRecord]) -> int:
    """Write runs, newest first, and their tables; return how many."""
    ending = _ending(path)
    frame = _flat(records)
    with written_beside(path) as beside:
        if ending == ".parquet":
            frame.to_parquet(beside, index=False)
        else:
            frame.to_csv(beside, index=False)
    return len(records)


def read_runs(path: Path) -> list[RunRecord]:
    """Read what :func:`write_runs` wrote, oldest run first."""
    ending = _ending(path)
    if not path.exists():
        raise RequestError(f"there is no file {path} to import")
    content = read_bytes(path)
    with explained(f"{path} is damaged or not an exported history, nothing was imported"):
        try:
            return _records(
                _of_parquet(content) if ending == ".parquet" else _of_csv(content, ending)
            )
        except PredictGraphError as error:
            raise RequestError(f"{path} cannot be imported: {error}") from error


def _of_parquet(content: bytes) -> pd.DataFrame:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(content))
    facts = file.metadata
    size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
    if max(size, 8 * facts.num_rows * facts.num_columns) > limits().document_bytes:
        raise RequestError(f"it is too large; accepted: up to {beyond('document_bytes')}")
    frame: pd.DataFrame = file.read().to_pandas()
    return frame


def _of_csv(content: bytes, ending: str) -> pd.DataFrame:
    import pandas as pd

    if ending == ".csv.gz":
        content = inflated(content, limits().document_bytes, 16 + zlib.MAX_WBITS)  # gzip
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)


def _ending(path: Path) -> str:
    for ending in ENDINGS:
        if path.name.endswith(ending):
            return ending
    raise RequestError(
        f"a history cannot be kept as {path.name!r}; accepted endings: {', '.join(ENDINGS)}"
    )


def _flat(records: Sequence[RunRecord]) -> pd.DataFrame:
    import pandas as pd

    heads, parts = [], []
    for record in records:
        table = record.rows
        types = json.dumps([[name, values.dtype.str[1:]] for name, values in table.items()])
        heads.append({**encode(record), "rows": len(table), "types": types})
        # Int64 stays whole where other runs do not have the column.
        cells = {
            name: pd.array(values, dtype="Int64" if values.dtype.kind == "i" else "Float64")
            for name, values in table.items()
        }
        parts.append(pd.DataFrame(cells).reindex(range(max(len(table), 1))))
    frame = pd.DataFrame(heads, columns=[*FIELDS, "rows", "types"], dtype=object)
    frame = frame.loc[np.repeat(frame.index, [len(part) for part in parts])].add_prefix("run_")
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return frame.reset_index(drop=True).join(rows)


def _records(frame: pd.DataFrame) -> list[RunRecord]:
    for name in (*FIELDS, "rows", "types"):
        if f"run_{name}" not in frame:
            raise ValueError(f"it has no column run_{name}")
    found = []
    for uid, lines in frame.groupby("run_uid", sort=False):
        head = lines.iloc[0]
        fields = decode({name: _field(name, head[f"run_{name}"]) for name in FIELDS})
        rows = int(head["run_rows"])
        if len(lines) != max(rows, 1):
            raise ValueError(f"{len(lines)} rows of the run {uid}, where {rows} belong")
        columns = parse_json(str(head["run_types"]), "the list of columns")
        table = {name: _parsed(lines[name].iloc[:rows], kind) for name, kind in columns}
        found.append(RunRecord(rows=Table(table), **fields))
    return sorted(found, key=lambda record: record.time)


def _field(name: str, value: Any) -> Any:
    if value is None or value != value or (value == "" and name in OPTIONAL):
        return None
    return int(value) if name in WHOLE_NUMBERS else value


def _parsed(column: pd.Series[Any], kind: str) -> Any:
    """Return the cells of a run as numbers."""
    import pandas as pd

    if kind == "f8":  # to_numeric does not read every fraction exactly
        return column.mask(column == "").astype("float64").to_numpy()
    if kind == "i8":  # with a decimal point where another run has fractions in this column
        return pd.to_numeric(column).to_numpy("i8")
    raise ValueError(f"unknown type {kind!r} of the column {column.name}")
