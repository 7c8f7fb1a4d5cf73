"""Runs of one task on different resources: a table to which each profiled run is added."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from predict_graph.errors import RequestError
from predict_graph.results import Value
from predict_graph.sizing.measuring.points_file import AppendedTable
from predict_graph.sizing.table_file import number, read_table

# Columns that were observed of a run, with what is accepted of each; all others are attributes of
# resources and data.
_OBSERVED = {
    "seconds": ("a number above 0", math.ulp(0.0), sys.float_info.max),
    "utilization": ("a number from 0 to 1", 0.0, 1.0),
    "data_bytes": ("a number above 0", math.ulp(0.0), sys.float_info.max),
    "network_share": ("a number from 0 to 1", 0.0, 1.0),
}
_STARTED = "started"


@dataclass(frozen=True, eq=False, repr=False)
class TaskRuns(Value):
    """Runs of a task."""

    # One row a run: observations, and attributes of the resources and of the data.
    table: pd.DataFrame
    # Name of the file.
    source: str

    @property
    def observed(self) -> pd.DataFrame:
        """Return ``seconds``, ``utilization``, ``data_bytes`` and ``network_share``."""
        return self.table[list(_OBSERVED)]

    @property
    def attributes(self) -> pd.DataFrame:
        """Return the attributes of the resources and of the data."""
        return self.table.drop(columns=list(_OBSERVED))


def add_run(path: Path, observed: Mapping[str, object], attributes: Mapping[str, float]) -> None:
    """Append a run to the table; when this returns, it is on the disk."""
    columns = [_STARTED, *_OBSERVED]
    with AppendedTable(path, [*columns, *attributes]) as table:
        table.append([*(observed[name] for name in columns), *attributes.values()])


def read_runs(path: Path) -> TaskRuns:
    """Read a table of runs: of `profile`, or any with a column ``seconds`` and attributes.

    Columns without any number are left out. Without ``utilization``, ``data_bytes`` and
    ``network_share`` the whole time is modelled at once.
    """
    table = read_table(path)
    table.needs("seconds", "the time of each run")
    names = [name for name in table.columns if name not in (_STARTED, *_OBSERVED)]
    numeric = [name for name in names if any(_is_number(row.plain(name)) for row in table.rows)]
    if not numeric:
        raise RequestError(f"{path} has no column of numbers besides {', '.join(_OBSERVED)}")
    found = {
        name: [number(row, name, accepted, least=least, most=most) for row in table.rows]
        if name in table.columns
        else 1.0
        for name, (accepted, least, most) in _OBSERVED.items()
    }
    attributes = {n: [number(row, n, "a number from 0") for row in table.rows] for n in numeric}
    return TaskRuns(pd.DataFrame({**found, **attributes}), path.name)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
