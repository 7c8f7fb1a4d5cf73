"""Runs of one task on different resources: a table to which each profiled run is added."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable
from predict_graph.inputs import read_bytes
from predict_graph.results import Value
from predict_graph.sizing.table_file import Row, read_table, table_line

FloatArray = npt.NDArray[np.float64]

SEEN = ("started", "seconds", "utilization", "data_bytes", "network_share")
"""Columns of what was seen of a run; all others are attributes of resources and data."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskRuns(Value):
    """Runs of a task.

    Attributes
    ----------
    attributes : DataFrame
        Of the resources and of the data; one row a run.
    seconds, utilization, data_bytes, network_share : ndarray of float64
    source : str
        Name of the file.
    """

    attributes: pd.DataFrame
    seconds: FloatArray
    utilization: FloatArray
    data_bytes: FloatArray
    network_share: FloatArray
    source: str


def add_run(path: Path, seen: Mapping[str, object], attributes: Mapping[str, float]) -> None:
    """Append a run to the table; when this returns, it is on the disk.

    Raises
    ------
    RequestError
        If the table has other columns, or cannot be written.
    JobError
        If writing fails: disk full.
    """
    check_writable(path)
    columns = [*SEEN, *attributes]
    line = table_line([*(seen[name] for name in SEEN), *attributes.values()])
    text = read_bytes(path) if path.exists() else b""
    if text:
        header = text.partition(b"\n")[0].decode(errors="replace").strip()
        if header.split(",") != columns:
            raise RequestError(
                f"{path} has other columns than this run ({_difference(header.split(','), columns)}"
                "); accepted: the same attributes in the same order, or another --out"
            )
    new = line if text else table_line(columns) + line
    if text and not text.endswith(b"\n"):  # a crash left a part of a line
        new = b"\n" + new
    try:
        with path.open("ab") as out:
            out.write(new)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise JobError(f"writing {path} failed: {error.strerror}") from error


def read_runs(path: Path) -> TaskRuns:
    """Read a table of runs: of `profile`, or any with a column ``seconds`` and attributes.

    Columns without any number are left out. Without ``utilization``, ``data_bytes`` and
    ``network_share`` the whole time is modelled at once.

    Raises
    ------
    RequestError
        If there is no usable column, or a value is out of range; file and line are named.
    """
    table = read_table(path)
    table.needs("seconds", "the time of each run")
    names = [name for name in table.columns if name not in SEEN]
    numeric = [name for name in names if any(_is_number(row.plain(name)) for row in table.rows)]
    if not numeric:
        raise RequestError(f"{path} has no column of numbers besides {', '.join(SEEN)}")

    def column(name: str, usual: float, low: float, high: float) -> FloatArray:
        if name not in table.columns:
            return np.full(len(table.rows), usual)
        return np.array([_number(row, name, low, high) for row in table.rows])

    tiny = np.nextafter(0.0, 1.0)
    return TaskRuns(
        attributes=pd.DataFrame(
            {name: [_number(row, name, 0.0) for row in table.rows] for name in numeric}
        ),
        seconds=column("seconds", 1.0, tiny, math.inf),
        utilization=column("utilization", 1.0, 0.0, 1.0),
        data_bytes=column("data_bytes", 1.0, tiny, math.inf),
        network_share=column("network_share", 1.0, 0.0, 1.0),
        source=path.name,
    )


def _difference(there: list[str], here: list[str]) -> str:
    parts = [
        f"{what}: {', '.join(names)}"
        for what, names in (
            ("only there", [name for name in there if name not in here]),
            ("only here", [name for name in here if name not in there]),
        )
        if names
    ]
    return "; ".join(parts) or "in another order"


def _number(row: Row, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    text = row.plain(name)
    value = float(text) if _is_number(text) else math.nan
    if not (low <= value <= high and math.isfinite(value)):
        accepted = "a number"
        if low == 0.0:
            accepted = "a number from 0" + (f" to {high:g}" if high < math.inf else "")
        elif low > 0.0:
            accepted = "a number above 0"
        raise RequestError(f"{row.place}: {name} is {text[:60]!r}; accepted: {accepted}")
    return value


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
