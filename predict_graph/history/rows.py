"""Runs as rows of the SQLite file, as dictionaries, and as frames."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.history.database import FIELDS, OPTIONAL, WHOLE_NUMBERS, damaged
from predict_graph.history.record import RunRecord, check_fields, to_json
from predict_graph.inputs import parse_json
from predict_graph.limits import check_limit
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd


JSON_FIELDS = ("parameters", "engine", "phases", "sample")


def encode(record: RunRecord) -> dict[str, Any]:
    """Return the fields of a run as SQLite keeps them: text, integers and None."""
    row = {name: getattr(record, name) for name in FIELDS} | {"time": utc_text(record.time)}
    for name, value in row.items():
        if value is not None and name in JSON_FIELDS:
            row[name] = to_json(value, name)
        elif value is not None and name in WHOLE_NUMBERS:
            row[name] = int(value)
    return row


def decode(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the run that :func:`encode` was given."""
    run = dict(row)
    for name in FIELDS:
        value = run[name]
        kind = int if name in WHOLE_NUMBERS else str
        if not (isinstance(value, kind) or (value is None and name in OPTIONAL)):
            raise ValueError(f"its {name} is {str(value)[:40]!r}")
        if name in JSON_FIELDS and value is not None:
            run[name] = parse_json(str(value), f"its {name}")
    run["time"] = datetime.fromisoformat(run["time"])
    run["directed"] = bool(run["directed"])
    run["converged"] = None if run["converged"] is None else bool(run["converged"])
    check_fields(run)
    return run


def insert(connection: sqlite3.Connection, record: RunRecord) -> int | None:
    """Insert a run and return its id; None if it is there already."""
    row = encode(record)
    places = ", ".join("?" * len(FIELDS))
    cursor = connection.execute(
        f"INSERT INTO runs ({', '.join(FIELDS)}) VALUES ({places}) ON CONFLICT (uid) DO NOTHING",
        tuple(row.values()),
    )
    if cursor.rowcount == 0:
        return None
    number = cursor.lastrowid
    connection.execute("INSERT INTO tables VALUES (?, ?, ?, ?)", (number, *pack(record.rows)))
    return number


def select(
    connection: sqlite3.Connection, path: Path, where: Mapping[str, Any], limit: int | None
) -> Iterator[dict[str, Any]]:
    """Yield the runs whose fields have the values of `where` (None: any), newest first."""
    given = {name: value for name, value in where.items() if value is not None}
    condition = " AND ".join(f"{name} = ?" for name in given) or "1"
    names = ("id", *FIELDS, "rows")
    rows = connection.execute(
        f"SELECT {', '.join(names)} FROM runs JOIN tables ON run = id WHERE {condition} "
        "ORDER BY time DESC, id DESC LIMIT ?",
        (*given.values(), -1 if limit is None else limit),
    )
    for row in rows:
        try:
            yield decode(dict(zip(names, row, strict=True)))
        except (ValueError, OverflowError) as error:
            raise damaged(path, f", its run {row[0]}: {error}") from error


def read_tables(
    connection: sqlite3.Connection, path: Path, runs: Sequence[int]
) -> Iterator[tuple[int, Table]]:
    """Yield the ids of runs, each with its table."""
    for run, types, rows, cells in connection.execute(
        "SELECT run, types, rows, cells FROM tables WHERE run IN (SELECT value FROM json_each(?))",
        (json.dumps(runs),),
    ):
        try:
            yield run, unpack(types, rows, cells)
        except (ValueError, TypeError, ArithmeticError, LookupError, zlib.error) as error:
            raise damaged(path, f", the table of run {run}: {error}") from error


def pack(rows: Table) -> tuple[str, int, bytes]:
    """Pack a numeric table: columns one after the other, which compresses counters well."""
    types = [[name, "f8" if each.dtype.kind == "f" else "i8"] for name, each in rows.items()]
    size = 8 * len(rows) * len(types)
    check_limit("document_bytes", size, f"the table of a run has {size:,} bytes")  # to read it
    cells = b"".join(rows[name].astype(f"<{kind}").tobytes() for name, kind in types)
    return json.dumps(types), len(rows), zlib.compress(cells)


def unpack(types: str, rows: int, cells: bytes) -> Table:
    """Return a packed table."""
    kinds = dict(parse_json(types, "the list of columns"))
    size = 8 * rows * len(kinds)
    check_limit("document_bytes", size, f"it has {size:,} bytes")
    content = inflated(cells, size)
    if len(content) != size:
        raise ValueError(f"it has not the {size} bytes that belong there")
    columns = np.frombuffer(bytearray(content), "<i8").reshape(len(kinds), rows)
    named = zip(kinds.items(), columns, strict=True)
    return Table(
        {str(name): each if kind == "i8" else each.view("<f8") for (name, kind), each in named}
    )


def inflated(packed: bytes, most: int) -> bytes:
    """Return what compressed bytes hold, as long as that is no more than `most` bytes."""
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed, most + 1)
    if len(content) > most or unpacking.unused_data or not (unpacking.eof or most == 0):
        raise ValueError(f"it is cut off, or has more than {most:,} bytes")
    return content


def frame_of(runs: list[dict[str, Any]]) -> pd.DataFrame:
    """Return runs as a frame, one row each."""
    import pandas as pd

    frame = pd.DataFrame(runs, columns=["id", *FIELDS, "rows"])
    frame["time"] = pd.to_datetime(frame["time"], utc=True)
    frame["converged"] = frame["converged"].astype("boolean")
    seconds = [float(sum(run["phases"].values())) for run in runs]
    frame["seconds"] = pd.Series(seconds, dtype="float64")
    return frame


def utc_text(moment: datetime) -> str:
    """Return a time as ISO text in UTC, of fixed length, so that text sorts by time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
