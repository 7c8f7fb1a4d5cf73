"""Measured runs of a job: the file of `collect`, Ernest's own, or any table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.sizing.table_file import Row, TextTable, positive, read_table

__all__ = [
    "CONTRADICTION",
    "OWN_COLUMNS",
    "TYPE_NAMES",
    "Measurements",
    "Unfinished",
    "has_failed",
    "has_timed_out",
    "measured_columns",
    "read_measurements",
    "same_value",
    "time_factor",
]

FloatArray = npt.NDArray[np.float64]

# Names of a column, plain (see _plain), the likeliest first.
SCALE_NAMES = (
    "scale",
    "input_fraction",
    "fraction",
    "data_size",
    "input_size",
    "data_scale",
    "size",
    "input",
)
MACHINE_NAMES = (
    "machines",
    "machine_count",
    "instance_count",
    "instances",
    "nodes",
    "node_count",
    "workers",
    "executors",
    "scale_out",
    "cores",
)
SECONDS_NAMES = (
    "seconds",
    "gross_runtime",
    "runtime",
    "run_time",
    "time",
    "duration",
    "elapsed",
    "wall",
    "wall_time",
)
TYPE_NAMES = ("machine_type", "instance_type", "type")
# By definition: seconds.
TIME_UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "min": 60.0, "h": 3600.0}
SIZE_UNITS = ("b", "kb", "mb", "gb", "tb")
CONTRADICTION = 2.0  # runs of one configuration that differ by this factor are told; a choice
MOST_TOLD = 3  # a choice
# Written by `collect`; they are no properties of the job.
OWN_COLUMNS = ("repeat", "command", "started", "seconds", "exit_status", "outcome", "completed")


@dataclass(frozen=True)
class Unfinished:
    """Runs that give no time: they failed, or were ended after `seconds`.

    Attributes
    ----------
    scale, machines, seconds : ndarray of float64, shape (n,)
    types : tuple of str
        Machine type of each; empty without such a column.
    """

    scale: FloatArray
    machines: FloatArray
    seconds: FloatArray
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.machines)


_NONE = Unfinished(np.array([]), np.array([]), np.array([]), ())


@dataclass(frozen=True)
class Measurements:
    """Runs of one job.

    Attributes
    ----------
    scale, machines, seconds : ndarray of float64, shape (n,)
    columns : dict of str to str
        Name in the file of each of ``scale`` (absent when the file has none), ``machines``,
        ``seconds``.
    unit : str
        What `machines` counts: ``"machines"`` or ``"cores"``.
    machine_type : str or None
        When all rows have the same.
    types : tuple of str
        Machine type of each run; empty without such a column.
    broken : Unfinished
        Runs that failed; they are not among the others.
    ended : Unfinished
        Runs that a timeout ended: they would have taken longer.
    varying : dict of str to int
        Other columns that differ between rows, and how many values each has.
    path : Path
    """

    scale: FloatArray
    machines: FloatArray
    seconds: FloatArray
    columns: dict[str, str]
    unit: str
    machine_type: str | None
    types: tuple[str, ...] = ()
    broken: Unfinished = _NONE
    ended: Unfinished = _NONE
    varying: dict[str, int] = field(default_factory=dict)
    path: Path = Path()

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def warnings(self) -> list[str]:
        """What should be known before a model is fitted."""
        said = []
        if self.broken:
            count = f"{len(self.broken)} run{'s' if len(self.broken) > 1 else ''}"
            said.append(f"{count} of {self.path.name} failed and gave no time")
        said += self._contradictions()
        if "scale" not in self.columns:
            said.append("there is no column for the scale, so it is taken to be 1 in every run")
        for name, values in self.varying.items():
            said.append(
                f"the column {name!r} has {values} values, which the model does not see; "
                f"select one with --where {name}=VALUE"
            )
        return said

    def _contradictions(self) -> list[str]:
        """Return sentences on runs of one configuration that are far apart, the first few."""
        if any(name not in TYPE_NAMES for name in self.varying):
            return []  # they are runs of different things
        runs: dict[tuple[float, float, str], list[float]] = {}
        kinds = self.types or ("",) * len(self)
        for scale, count, kind, taken in zip(
            self.scale, self.machines, kinds, self.seconds, strict=True
        ):
            runs.setdefault((scale, count, kind), []).append(float(taken))
        found = [
            f"{count:g} {kind or self.unit} at scale {scale:g} took {min(times):.4g} s and "
            f"{max(times):.4g} s, which contradict each other; the median counts"
            for (scale, count, kind), times in runs.items()
            if max(times) > CONTRADICTION * min(times)
        ]
        return found[:MOST_TOLD]


def read_measurements(
    path: Path,
    *,
    scale_column: str | None = None,
    machines_column: str | None = None,
    seconds_column: str | None = None,
    where: Mapping[str, str] | None = None,
) -> Measurements:
    """Read measured runs.

    Columns that are not named are guessed from their names: ``scale`` or ``Input Fraction`` or
    ``data_size_MB``, ``machines`` or ``instance_count`` or ``#Cores``, ``seconds`` or ``Time (s)``
    or ``runtime_ms``. Units of time in a name are converted to seconds.

    Parameters
    ----------
    path : Path
        CSV or TSV with a header line.
    scale_column, machines_column, seconds_column : str, optional
        Names in the file.
    where : mapping of str to str, optional
        Only rows with these values; numbers are compared as numbers.

    Returns
    -------
    Measurements

    Raises
    ------
    RequestError
        If a column is missing or a guess is not possible, a value is wrong (file, line and value
        are named), or no row is left.
    """
    table = read_table(path)
    columns = measured_columns(
        table,
        scale_column=scale_column,
        machines_column=machines_column,
        seconds_column=seconds_column,
    )
    machines_name, seconds_name = columns["machines"], columns["seconds"]
    scale_name = columns.get("scale")
    names = list(columns.values())
    rows = _selected(table, where or {})
    done = [row for row in rows if not has_failed(row)]
    if not done:
        raise RequestError(f"all {len(rows)} runs in {path} failed, so there is nothing to fit")
    factor = time_factor(seconds_name)
    late = [row for row in rows if has_timed_out(row)]
    broken = [row for row in rows if has_failed(row) and not has_timed_out(row)]

    def unfinished(rows: list[Row], *, timed: bool) -> Unfinished:
        return Unfinished(
            scale=_numbers(rows, scale_name) if scale_name else np.ones(len(rows)),
            machines=_numbers(rows, machines_name),
            seconds=_numbers(rows, seconds_name) * factor if timed else np.full(len(rows), np.nan),
            types=_types(table, rows),
        )

    return Measurements(
        scale=_numbers(done, scale_name) if scale_name else np.ones(len(done)),
        machines=_numbers(done, machines_name),
        seconds=_numbers(done, seconds_name) * factor,
        columns=columns,
        unit="cores" if _plain(machines_name).endswith("cores") else "machines",
        machine_type=kinds.pop() if len(kinds := set(_types(table, done))) == 1 else None,
        types=_types(table, done),
        broken=unfinished(broken, timed=False),
        ended=unfinished(late, timed=True),
        varying=_varying(table, done, {*names, *(where or {})}, (scale_name, machines_name)),
        path=path,
    )


def measured_columns(
    table: TextTable,
    *,
    scale_column: str | None = None,
    machines_column: str | None = None,
    seconds_column: str | None = None,
) -> dict[str, str]:
    """Return the names of the columns ``machines``, ``seconds`` and, if there is one, ``scale``.

    Raises
    ------
    RequestError
        If one is missing and cannot be guessed, or is given for two things.
    """
    found = {
        "machines": _found(table, machines_column, MACHINE_NAMES, "machines", ()),
        "seconds": _found(table, seconds_column, SECONDS_NAMES, "seconds", tuple(TIME_UNITS)),
    }
    scale = _found_scale(table, scale_column)
    if scale is not None:
        found["scale"] = scale
    names = list(found.values())
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(f"the column {twice!r} of {table.path} is given for two things")
    return found


def _plain(name: str) -> str:
    """Return a column name in lower case, with one underscore for anything but letters and digits.

    Examples
    --------
    >>> _plain("#Cores"), _plain(" Time (s)"), _plain("data_size_MB")
    ('cores', 'time_s', 'data_size_mb')
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _found(
    table: TextTable,
    given: str | None,
    guesses: Sequence[str],
    what: str,
    units: tuple[str, ...],
) -> str:
    if given is not None:
        return table.needs(given, what)
    plain = {_plain(column): column for column in table.columns}
    for guess in guesses:
        for name in (guess, *(f"{guess}_{unit}" for unit in units)):
            if name in plain:
                return plain[name]
    raise RequestError(
        f"{table.path} has no column that is known to hold {what}; name it with --{what}-column; "
        f"there are: {', '.join(table.columns)}"
    )


def _found_scale(table: TextTable, given: str | None) -> str | None:
    try:
        return _found(table, given, SCALE_NAMES, "scale", SIZE_UNITS)
    except RequestError:
        if given is not None:
            raise
        return None  # the scale never changed


def time_factor(name: str) -> float:
    """Return how many seconds one unit of a column is, by its name."""
    return TIME_UNITS.get(_plain(name).rpartition("_")[2], 1.0)


def _selected(table: TextTable, where: Mapping[str, str]) -> list[Row]:
    rows = table.rows
    for name, value in where.items():
        table.needs(name, "--where")
        kept = [row for row in rows if same_value(row.cells[name], value)]
        if not kept:
            there = sorted({row.cells[name] for row in rows})
            shown = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
            raise RequestError(f"no row of {table.path} has {name}={value}; there are: {shown}")
        rows = kept
    return rows


def same_value(text: str, value: str) -> bool:
    """Whether two texts are the same, or the same number."""
    try:
        return text == value or float(text) == float(value)
    except ValueError:
        return False


def has_failed(row: Row) -> bool:
    """Whether a run is recorded as failed: by `collect`, or as not completed."""
    if row.cells.get("completed", "true").lower() in ("false", "0", "no"):
        return True
    outcome = row.cells.get("outcome", "ok")
    return outcome != "ok" or row.cells.get("exit_status", "0") not in ("", "0")


def has_timed_out(row: Row) -> bool:
    """Whether a run was ended by a timeout, so that it takes longer than it says."""
    return has_failed(row) and row.cells.get("outcome") == "timeout"


def _numbers(rows: Sequence[Row], column: str) -> FloatArray:
    return np.array([positive(row, column) for row in rows])


def _types(table: TextTable, rows: Sequence[Row]) -> tuple[str, ...]:
    plain = {_plain(column): column for column in table.columns}
    name = next((plain[name] for name in TYPE_NAMES if name in plain), None)
    return () if name is None else tuple(row.cells[name] for row in rows)


def _varying(
    table: TextTable, rows: Sequence[Row], known: set[str], configuration: Sequence[str | None]
) -> dict[str, int]:
    """Return other columns that differ, unless they follow from the scale or the machines."""
    counts = {}
    for name in table.columns:
        count = len({row.cells[name] for row in rows})
        if count < 2 or name in known or name in OWN_COLUMNS:
            continue
        if not any(_follows(rows, name, cause) for cause in configuration if cause is not None):
            counts[name] = count
    return counts


def _follows(rows: Sequence[Row], name: str, cause: str) -> bool:
    """Whether rows with the same value of `cause` have the same of `name`, as far as rows tell."""
    causes = {row.cells[cause] for row in rows}
    pairs = {(row.cells[cause], row.cells[name]) for row in rows}
    return len(pairs) == len(causes) < len(rows)
