"""Measured runs of a job: the file of `collect`, Ernest's own, or any table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from predict_graph.durations import parse_duration, unit_seconds
from predict_graph.errors import RequestError
from predict_graph.results import Value
from predict_graph.sizing.measuring.outcomes import outcome_columns, read_outcomes
from predict_graph.sizing.table_file import Row, TextTable, name_key, positive, read_table

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
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?)\s*([kmgtp]i?b?|b|bytes)", re.IGNORECASE)
_UNITS = ("unit", "units", "timeunit", "durationunit", "runtimeunit")
_CLOCKS = ("ddhhmmss", "hhmmss", "hmmss", "hms", "mmss", "hhmm")  # in place of a unit
TYPE_NAMES = ("machine_type", "instance_type", "node_type", "vm_type", "type")
CONTRADICTION = 2.0  # runs of one configuration that differ by this factor are reported; not tuned
MOST_REPORTED = 3  # not tuned
RUN_COLUMNS = ("scale", "machines", "seconds", "outcome", "machine_type")
# Written by `collect`; they are no properties of the job.
OWN_COLUMNS = ("repeat", "command", "started", "seconds")


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Value):
    """Runs of one job.

    Attributes
    ----------
    runs : DataFrame
        Of :func:`job_runs`, the failed ones included.
    columns : dict of str to str
        Name in the file of each of ``scale`` (absent when the file has none), ``machines``,
        ``seconds``.
    varying : dict of str to int
        Other columns that differ between rows, and how many values each has.
    notes : tuple of str
        Assumptions about the table.
    path : Path
    """

    runs: pd.DataFrame
    columns: dict[str, str]
    varying: dict[str, int]
    notes: tuple[str, ...]
    path: Path

    @property
    def done(self) -> pd.DataFrame:
        """The runs that succeeded."""
        return self.of("ok")

    def of(self, *outcomes: str) -> pd.DataFrame:
        """Return the runs with these outcomes."""
        return self.runs[self.runs["outcome"].isin(outcomes)]

    @property
    def unit(self) -> str:
        """The unit of the column of machines: ``"machines"`` or ``"cores"``."""
        return "cores" if re.search("core|cpu", name_key(self.columns["machines"])) else "machines"

    @property
    def machine_type(self) -> str | None:
        """The machine type, when all runs have the same."""
        kinds = set(self.done["machine_type"])
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def warnings(self) -> list[str]:
        """What should be known before a model is fitted."""
        said = []
        if failed := len(self.of("failed")):
            said.append(f"{counted(failed)} of {self.path.name} failed and gave no time")
        said += self.notes
        if all(name_key(name) in map(name_key, TYPE_NAMES) for name in self.varying):
            said += contradictions(self.done, self.path, self.unit)[:MOST_REPORTED]
        if "scale" not in self.columns:
            said.append("there is no column for the scale, so it is taken to be 1 in every run")
        for name, values in self.varying.items():
            said.append(
                f"the column {name!r} has {values} values, which the model does not see; "
                f"select one with --where {name}=VALUE"
            )
        return said


def counted(runs: int) -> str:
    """Return a number of runs in words."""
    return "1 run" if runs == 1 else f"{runs} runs"


def contradictions(done: pd.DataFrame, path: Path, unit: str = "machines") -> list[str]:
    """Return sentences on runs of one configuration that are far apart."""
    found = []
    keys = ["scale", "machines", "machine_type"]
    for (scale, count, kind), mine in done.groupby(keys, dropna=False, sort=False):
        fast, slow = mine["seconds"].idxmin(), mine["seconds"].idxmax()
        low, high = mine["seconds"].min(), mine["seconds"].max()
        if high > CONTRADICTION * low:
            name = f"{kind} x {count:g}" if isinstance(kind, str) else f"{count:g} {unit}"
            at = "" if done["scale"].nunique() == 1 else f" at scale {scale:g}"
            found.append(
                f"{path}:{fast} and line {slow} contradict each other: {name}{at} in {low:.4g} s "
                f"and {high:.4g} s; the median counts"
            )
    return found


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
    done = runs[runs["outcome"] == "ok"]
    if done.empty:
        raise RequestError(f"all {len(runs)} runs in {path} failed, so there is nothing to fit")
    known = {*columns.values(), *(where or {}), *OWN_COLUMNS, *outcome_columns(table)}
    configuration = [columns[name] for name in ("scale", "machines") if name in columns]
    varying = _varying(table.cells.loc[done.index], known, configuration)
    return Measurements(runs, columns, varying, tuple(notes), path)


def job_runs(
    table: TextTable, columns: Mapping[str, str], rows: pd.Index | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the runs of a table, and sentences on what was assumed.

    One row a line of the file: ``scale``, ``machines``, ``seconds`` (not a number for a failed
    run), ``outcome`` (``"ok"``, ``"failed"``, or ``"timeout"``: it takes longer than `seconds`) and
    ``machine_type`` (None without such a column). A run whose time is none above 0, such as ``OOM``
    or -1, counts as failed; one of ``>1h`` as ended by a timeout. Steps of SLURM jobs, such as
    ``123.batch``, are left out. Scales such as ``10GB`` are in the unit of the first.
    `rows` are the lines to read; all by default.
    """
    kind, job = table.find(TYPE_NAMES), table.find(("jobid",))
    name = columns["seconds"]
    unit = time_unit(name) or _last_word(name)
    unit = unit if unit in _CLOCKS or unit_seconds(unit) else "s"
    units = table.find(_UNITS)
    if units is not None and not all(unit_seconds(row.cells[units].lower()) for row in table.rows):
        units = None  # of something else
    steps = {row.line for row in table.rows if job and re.match(r"\d+(_\d+)?\.", row.cells[job])}
    found: dict[int, tuple[float, float, float, str, str | None]] = {}
    odd: list[Row] = []
    sizes: list[str] = []
    for row, outcome in zip(table.rows, read_outcomes(table), strict=True):
        left_out = row.line in steps or (rows is not None and row.line not in rows)
        if left_out or outcome == "not run":
            continue
        text = row.plain(name)
        if text.startswith(">") and outcome == "ok":
            outcome = "timeout"
        own = unit if units is None else row.cells[units].lower()
        seconds = math.nan if outcome == "failed" else _seconds(text.lstrip("> "), own)
        if math.isnan(seconds):
            odd += [row] if outcome == "ok" else []
            outcome = "failed"
        scale, size = _scale(row, columns["scale"]) if "scale" in columns else (1.0, "")
        sizes.append(size)
        machines = positive(row, columns["machines"])
        found[row.line] = scale, machines, seconds, outcome, row.cells[kind] if kind else None
    said = [f"{len(steps)} steps of SLURM jobs in {table.path.name} are left out"] if steps else []
    if odd:
        first = f"{odd[0].place}: {name} is {odd[0].cells[name][:60]!r}"
        if len(odd) == len(found):
            raise RequestError(f"{first}; accepted: a time above 0, such as 90, 1h30m or 01:30:00")
        more = "" if len(odd) == 1 else f", like {len(odd) - 1} more"
        said.append(f"{first}, which is no time: this run counts as failed{more}")
    runs = pd.DataFrame.from_dict(found, orient="index", columns=list(RUN_COLUMNS))
    if any(sizes):
        if not all(sizes):
            raise RequestError(
                f"{table.path} has a scale with a unit, such as 10GB, in {sum(map(bool, sizes))} "
                f"of {len(sizes)} rows; accepted: a unit in all rows or in none"
            )
        runs["scale"] /= _size_of(sizes[0])
        said.append(f"the scale is in {sizes[0]}, the unit of the first row")
    return runs, said


def _scale(row: Row, column: str) -> tuple[float, str]:
    """Return a scale and its unit, such as ``GB``; in units of 1 if it has one."""
    found = _SIZE.fullmatch(row.plain(column))
    if found is None or not float(found[1]):
        return positive(row, column), ""
    return float(found[1]) * _size_of(found[2]), found[2]


def _size_of(unit: str) -> float:
    """Return how many bytes a unit such as ``GB`` or ``MiB`` has."""
    base = 1024.0 if unit[1:2].lower() == "i" else 1000.0
    return base ** "bkmgtp".index(unit[0].lower())


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


def _selected(table: TextTable, where: Mapping[str, str]) -> pd.Index:
    """Return the lines with these values."""
    cells = table.cells
    for name, value in where.items():
        table.needs(name, "--where")
        kept = cells[same_values(cells[name], value)]
        if kept.empty:
            there = sorted(set(cells[name]))
            shown = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
            raise RequestError(f"no row of {table.path} has {name}={value}; there are: {shown}")
        cells = kept
    return cells.index


def same_values(texts: pd.Series, value: str) -> pd.Series:
    """Return which texts are this value, or the same number."""
    numbers = pd.to_numeric(texts, errors="coerce")
    same: pd.Series = (texts == value) | (numbers == pd.to_numeric(value, errors="coerce"))
    return same


def _varying(cells: pd.DataFrame, known: set[str], configuration: Sequence[str]) -> dict[str, int]:
    """Return other columns that differ, unless they follow from the scale or the machines."""
    counts = cells.drop(columns=[name for name in cells if name in known]).nunique()
    return {
        str(name): int(count)
        for name, count in counts.items()
        if count > 1 and not any(_follows(cells, str(name), cause) for cause in configuration)
    }


def _follows(cells: pd.DataFrame, name: str, cause: str) -> bool:
    """Whether rows with the same value of `cause` have the same of `name`, in all rows."""
    causes = cells[cause].nunique()
    return bool(len(cells[[cause, name]].drop_duplicates()) == causes < len(cells))
