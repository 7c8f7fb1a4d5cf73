"""Measured runs of a job: the file of `collect`, Ernest's own, or any table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predict_graph.durations import parse_duration, unit_seconds
from predict_graph.errors import RequestError
from predict_graph.results import Value
from predict_graph.sizing.measuring.outcomes import outcome_columns, read_outcomes
from predict_graph.sizing.table_file import Row, TextTable, name_key, positive, read_table

FloatArray = npt.NDArray[np.float64]

# Names of columns as name_key writes them, the likeliest first; expressions of the whole name.
_COUNT = "(?:number|num|no|of|n|count|total|alloc|allocated|requested|used|spark|cluster)"
_MACHINES = tuple(
    f"{_COUNT}*{noun}s{_COUNT}*|{_COUNT}+{noun}|{noun}{_COUNT}+|scaleout|clustersize"
    for noun in (
        *("machine", "instance", "node", "server", "host", "vm"),
        *("worker", "executor", "executorinstance", "core", "v?cpu"),
    )
)
_SCALES = tuple(
    f"(?:total)?{name}(?:in)?(?:[kmgtp]?i?b|bytes)?"
    for name in (
        *("scale", "(?:input)?fraction", "(?:input|data(?:set)?)?size", "datascale"),
        *("scalefactor", "input", "data"),
    )
)
_ABOUT = "(?:total|mean|avg|average|median|measured|actual|gross|job|app|application|query)*"
_TIMES = tuple(
    f"{_ABOUT}{name}{_ABOUT}(?:in)?(?P<unit>[a-zµμ]*?){_ABOUT}"
    for name in (
        *("seconds", "run(?:ning)?time", "exec(?:ution)?time", "wall(?:clock)?time", "makespan"),
        *("elapsed(?:time|raw)?", "duration", "completiontime", "time(?:taken)?", "wall(?:clock)?"),
        *("real", "latency", ""),
    )
)
_CLOCKS = ("ddhhmmss", "hhmmss", "hmmss", "hms", "mmss", "hhmm")  # in place of a unit
TYPE_NAMES = ("machine_type", "instance_type", "node_type", "vm_type", "type")
CONTRADICTION = 2.0  # runs of one configuration that differ by this factor are reported; not tuned
MOST_REPORTED = 3  # not tuned
# Written by `collect`; they are no properties of the job.
OWN_COLUMNS = ("repeat", "command", "started", "seconds")


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Value):
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
    notes: tuple[str, ...] = ()
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
        said += self.notes
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
        if any(name_key(name) not in map(name_key, TYPE_NAMES) for name in self.varying):
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
        return found[:MOST_REPORTED]


def read_measurements(
    path: Path,
    *,
    scale_column: str | None = None,
    machines_column: str | None = None,
    seconds_column: str | None = None,
    where: Mapping[str, str] | None = None,
) -> Measurements:
    """Read measured runs.

    Columns that are not named are inferred from their names: ``scale`` or ``Input Fraction`` or
    ``data_size_MB``, ``machines`` or ``NodeCount`` or ``#Cores``, ``seconds`` or ``Time (min)`` or
    ``durationHours``. Units of time in a name or after a number, and clock times such as
    ``1-02:03:04``, are converted to seconds.

    Parameters
    ----------
    path : Path
        A table with a header line.
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
        If a column is missing or cannot be inferred, a value is wrong (file, line and value
        are named), or no row is left.
    """
    table = read_table(path)
    columns = measured_columns(
        table,
        scale_column=scale_column,
        machines_column=machines_column,
        seconds_column=seconds_column,
    )
    runs, notes = job_runs(table, columns, _selected(table, where or {}))
    done = [run for run in runs if run.outcome == "ok"]
    if not done:
        raise RequestError(f"all {len(runs)} runs in {path} failed, so there is nothing to fit")
    broken, ended = (
        Unfinished(*_columns([run for run in runs if run.outcome == outcome]))
        for outcome in ("failed", "timeout")
    )
    scale, machines, seconds, types = _columns(done)
    known = {*columns.values(), *(where or {}), *OWN_COLUMNS, *outcome_columns(table)}
    configuration = [columns[name] for name in ("scale", "machines") if name in columns]
    return Measurements(
        scale=scale,
        machines=machines,
        seconds=seconds,
        columns=columns,
        unit="cores" if re.search("core|cpu", name_key(columns["machines"])) else "machines",
        machine_type=types[0] if len(set(types)) == 1 else None,
        types=types,
        broken=broken,
        ended=ended,
        varying=_varying(table, [run.row for run in done], known, configuration),
        notes=tuple(notes),
        path=path,
    )


def _columns(
    runs: Sequence[JobRun],
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """Return scale, machines, seconds and machine types; no types without such a column."""
    numbers = np.array([(run.scale, run.machines, run.seconds) for run in runs]).reshape(-1, 3)
    types = tuple(run.machine_type for run in runs if run.machine_type is not None)
    return numbers[:, 0], numbers[:, 1], numbers[:, 2], types


@dataclass(frozen=True)
class JobRun:
    """A row of a table of runs.

    Attributes
    ----------
    row : Row
    scale, machines : float
    seconds : float
        Not a number for a run that failed.
    outcome : str
        ``"ok"``, ``"failed"``, or ``"timeout"``: it takes longer than `seconds`.
    machine_type : str or None
        None without such a column.
    """

    row: Row
    scale: float
    machines: float
    seconds: float
    outcome: str
    machine_type: str | None


def job_runs(
    table: TextTable, columns: Mapping[str, str], rows: Sequence[Row] | None = None
) -> tuple[list[JobRun], list[str]]:
    """Return the runs of a table, and sentences on what was assumed.

    A run whose time is none above 0, such as ``OOM`` or -1, counts as failed; one of ``>1h`` as
    ended by a timeout. Steps of SLURM jobs, such as ``123.batch``, are left out.

    Parameters
    ----------
    table : TextTable
    columns : mapping of str to str
        Of :func:`measured_columns`.
    rows : sequence of Row, optional
        Rows of the table; all by default.

    Raises
    ------
    RequestError
        If a number of machines or a scale is wrong, or no run has a time.
    """
    kind, job = table.find(TYPE_NAMES), table.find(("jobid",))
    name = columns["seconds"]
    unit = time_unit(name) or _last_word(name)
    unit = unit if unit in _CLOCKS or unit_seconds(unit) else "s"
    lines = {row.line for row in (table.rows if rows is None else rows)}
    steps = [row.line for row in table.rows if job and re.match(r"\d+(_\d+)?\.", row.cells[job])]
    found: list[JobRun] = []
    odd: list[Row] = []
    for row, outcome in zip(table.rows, read_outcomes(table), strict=True):
        if row.line not in lines.difference(steps) or outcome == "not run":
            continue
        text = row.plain(name)
        if text.startswith(">") and outcome == "ok":
            outcome = "timeout"
        seconds = math.nan if outcome == "failed" else _seconds(text.lstrip("> "), unit)
        if math.isnan(seconds):
            odd += [row] if outcome == "ok" else []
            outcome = "failed"
        scale = positive(row, columns["scale"]) if "scale" in columns else 1.0
        machines = positive(row, columns["machines"])
        found.append(
            JobRun(row, scale, machines, seconds, outcome, row.cells[kind] if kind else None)
        )
    said = [f"{len(steps)} steps of SLURM jobs in {table.path.name} are left out"] if steps else []
    if odd:
        first = f"{odd[0].place}: {name} is {odd[0].cells[name][:60]!r}"
        if len(odd) == len(found):
            raise RequestError(f"{first}; accepted: a time above 0, such as 90, 1h30m or 01:30:00")
        more = "" if len(odd) == 1 else f", like {len(odd) - 1} more"
        said.append(f"{first}, which is no time: this run counts as failed{more}")
    return found, said


def _seconds(text: str, unit: str) -> float:
    """Return a time in seconds; not a number if it is none."""
    if unit in _CLOCKS:
        text, unit = f"{text}:00" if unit == "hhmm" else text, "s"
    try:
        return parse_duration(text, unit=unit)
    except RequestError:
        return math.nan


def time_unit(name: str) -> str | None:
    """Return the unit of a column of times, by its name; None if the name is of another kind.

    Examples
    --------
    >>> [time_unit(name) for name in ("Time (min)", "durationHours", "wall time", "cpu_time")]
    ['min', 'hours', 's', None]
    """
    return next((unit for pattern in _TIMES if (unit := _unit_by(pattern, name))), None)


def _unit_by(pattern: str, name: str) -> str | None:
    found = re.fullmatch(pattern, name_key(name))
    if found is None:
        return None
    unit = found["unit"]
    if not unit:
        return "s" if pattern != _TIMES[-1] else None
    apart = unit == "s" or (unit == _last_word(name) and pattern != _TIMES[-1])
    known = unit in _CLOCKS or (unit_seconds(unit) and (len(unit) > 1 or apart))
    return unit if known else None


def _last_word(name: str) -> str:
    """Return the last word of a name such as ``runtimeMs`` or ``Time (h)``, in lower case."""
    words = re.findall(r"[A-Z]?[a-zµμ]+|[A-Z]+(?![a-z])", name)
    return words[-1].lower() if words else ""


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
        If one is missing and cannot be inferred, or is given for two things.
    """
    keys = {name_key(column) for column in table.columns}

    def is_time(pattern: str, column: str) -> bool:
        key = name_key(column)
        least = key.endswith("min") and key[:-3] + "max" in keys  # the minimum, not minutes
        return not least and _unit_by(pattern, column) is not None

    def is_called(pattern: str, column: str) -> bool:
        return re.fullmatch(pattern, name_key(column)) is not None

    found: dict[str, str] = {}
    for what, given, patterns, fits in (
        ("machines", machines_column, _MACHINES, is_called),
        ("seconds", seconds_column, _TIMES, is_time),
        ("scale", scale_column, _SCALES, is_called),
    ):
        matches = (name for one in patterns for name in table.columns if fits(one, name))
        name = next(matches, None) if given is None else table.needs(given, what)
        if name is not None:
            found[what] = name
        elif what != "scale":  # which may have been the same in all runs
            raise RequestError(
                f"{table.path} has no column that is known to hold {what}; name it with "
                f"--{what}-column; there are: {', '.join(table.columns)}"
            )
    names = list(found.values())
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(f"the column {twice!r} of {table.path} is given for two things")
    return found


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


def _varying(
    table: TextTable, rows: Sequence[Row], known: set[str], configuration: Sequence[str]
) -> dict[str, int]:
    """Return other columns that differ, unless they follow from the scale or the machines."""
    counts = {}
    for name in table.columns:
        count = len({row.cells[name] for row in rows})
        if count < 2 or name in known:
            continue
        if not any(_follows(rows, name, cause) for cause in configuration):
            counts[name] = count
    return counts


def _follows(rows: Sequence[Row], name: str, cause: str) -> bool:
    """Whether rows with the same value of `cause` have the same of `name`, in all rows."""
    causes = {row.cells[cause] for row in rows}
    pairs = {(row.cells[cause], row.cells[name]) for row in rows}
    return len(pairs) == len(causes) < len(rows)
