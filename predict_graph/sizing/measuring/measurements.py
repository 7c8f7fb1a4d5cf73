"""Measured runs of a job: the file of `collect`, Ernest's own, or any table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from predict_graph.durations import counted, parse_duration, unit_seconds
from predict_graph.errors import RequestError
from predict_graph.results import Value
from predict_graph.sizing.measuring.outcomes import read_outcomes
from predict_graph.sizing.quantities import parse_number
from predict_graph.sizing.table_file import TextTable, name_key, read_table
from predict_graph.texts import to_number

# Names of columns as name_key writes them, the likeliest first; expressions of the whole name.
_COUNT = "(?:number|num|no|of|n|count|total|alloc|allocated|requested|used|spark|cluster)"
_NOUNS = (
    "machine instance node server host vm worker executor executorinstance core v?cpu gpu "
    "(?:mpi)?rank proc process processe thread"
)
_MACHINES = tuple(
    f"{_COUNT}*{noun}s{_COUNT}*|{_COUNT}+{noun}|{noun}{_COUNT}+|scaleout|clustersize"
    for noun in _NOUNS.split()
)
_SIZES = "scale (?:input)?fraction (?:input|data(?:set)?)?size datascale scalefactor input data"
_SCALES = tuple(f"(?:total)?{name}(?:in)?(?:[kmgtp]?i?b|bytes)?" for name in _SIZES.split())
_ABOUT = (
    "(?:total|mean|avg|average|median|measured|actual|gross|job|app|application|query|train"
    "|training|epoch|response|processing|solver)*"
)
_DURATIONS = (
    "seconds run(?:ning)?time exec(?:ution)?time wall(?:clock)?time makespan elapsed(?:time|raw)? "
    "duration completiontime time(?:taken)? wall(?:clock)? real latency"
)
_TIMES = tuple(
    f"{_ABOUT}{name}{_ABOUT}(?:in)?(?P<unit>[a-zµμ]*?){_ABOUT}"
    for name in (*_DURATIONS.split(), "")
)
_PATTERNS = {"machines": _MACHINES, "seconds": _TIMES, "scale": _SCALES}
_COUNTED = {
    **{"core": "cores", "cpu": "cores", "gpu": "GPUs", "rank": "ranks"},
    **{"proc": "processes", "thread": "threads"},
}
_SIZE = re.compile(r"^([0-9]+(?:\.[0-9]*)?)\s*([kmgtp]i?b?|b|bytes)$", re.IGNORECASE)
_UNITS = ("unit", "units", "timeunit", "durationunit", "runtimeunit")
_CLOCKS = ("ddhhmmss", "hhmmss", "hmmss", "hms", "mmss", "hhmm")  # in place of a unit
TYPE_NAMES = ("machine_type", "instance_type", "node_type", "vm_type", "type")
# Columns that `collect` writes, the outcome last: a line that ends in one is whole.
MEASURED = ("repeat", "command", "started", "seconds", "exit_status", "outcome")
RUN_COLUMNS = ("scale", "machines", "seconds", "outcome", "machine_type")


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Value):
    """Runs of one job.

    Attributes
    ----------
    runs : DataFrame
        Of :func:`measurements_of`, the failed ones included.
    columns : dict of str to str
        Name in the file of each of ``scale`` (absent when the file has none), ``machines``,
        ``seconds``.
    path : Path
    varying : dict of str to int
        Other columns that differ between rows, and how many values each has.
    notes : tuple of str
        Assumptions about the table.
    type_column : str or None
    """

    runs: pd.DataFrame
    columns: dict[str, str]
    path: Path
    varying: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    type_column: str | None = None

    @property
    def done(self) -> pd.DataFrame:
        """The runs that succeeded."""
        return self.of("ok")

    def of(self, *outcomes: str) -> pd.DataFrame:
        """Return the runs with these outcomes."""
        return self.runs[self.runs["outcome"].isin(outcomes)]

    @property
    def unit(self) -> str:
        """The unit of the column of machines: ``"machines"``, ``"cores"``, ``"GPUs"``, …."""
        name = name_key(self.columns["machines"])
        return next((unit for word, unit in _COUNTED.items() if word in name), "machines")

    @property
    def machine_type(self) -> str | None:
        """The machine type, when all runs have the same."""
        kinds = set(self.done["machine_type"])
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def contradictions(self) -> list[str]:
        """Sentences on configurations whose runs differ twofold, or failed and succeeded."""
        found = []
        keys = ["scale", "machines", "machine_type"]
        repeated = self.runs[self.runs.duplicated(keys, keep=False)]
        for (scale, count, kind), mine in repeated.groupby(keys, dropna=False, sort=False):
            name = f"{count:g} × {kind}" if isinstance(kind, str) else f"{count:g} {self.unit}"
            name += f" at scale {scale:g}" if self.runs["scale"].nunique() > 1 else ""
            fine = mine[mine["outcome"] == "ok"]["seconds"]
            failed = mine[mine["outcome"] == "failed"]
            if len(fine) and len(failed):
                found.append(
                    f"{name} failed ({self.path}:{failed.index[0]}) and succeeded "
                    f"({self.path}:{fine.index[0]}); it counts as one that succeeds"
                )
            if fine.max() > 2 * fine.min():
                found.append(
                    f"{self.path}:{fine.idxmin()} and line {fine.idxmax()} contradict each other: "
                    f"{name} in {fine.min():.4g} s and {fine.max():.4g} s; the median counts"
                )
        return found

    @property
    def warnings(self) -> list[str]:
        """What should be known before a model is fitted."""
        said = []
        if failed := len(self.of("failed")):
            said.append(f"{counted(failed)} of {self.path.name} failed and gave no time")
        said += self.notes
        if not self.varying.keys() - {self.type_column}:
            said += self.contradictions[:3]
        if "scale" not in self.columns:
            said.append("there is no column for the scale, so it is taken to be 1 in every run")
        other = "" if "scale" in self.columns else ", or --scale-column if it is the scale"
        for name, values in self.varying.items():
            said.append(
                f"the column {name!r} has {values} values, which the model does not see; "
                f"select one with --where {name}=VALUE{other}"
            )
        return said


def chosen_scale(measured: Sequence[Measurements], scale: float | None) -> float:
    """Return the scale that is wanted, by default that of all runs."""
    if scale is None:
        scales = pd.concat([one.runs["scale"] for one in measured])
        low, high = scales.min(), scales.max()
        if low < high:
            raise RequestError(
                f"the job was measured at scales from {low:g} to {high:g}; say for which scale it "
                "is with --scale S"
            )
        return float(low)
    chosen = parse_number(str(scale), "scale")
    for one in measured:
        if "scale" not in one.columns:
            raise RequestError(
                f"the runs of {one.path.name} had no scale, so what another one takes is not "
                "known; accepted: no --scale, or a table with a column for the scale"
            )
    return chosen


def read_measurements(
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str | None] | None = None,
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
    columns : mapping of str to str, optional
        Names in the file of ``scale``, ``machines``, ``seconds`` and ``type``; ``"none"`` as scale
        if no column is it.
    where : mapping of str to str, optional
        Only rows with these values; numbers are compared as numbers.

    Returns
    -------
    Measurements

    Raises
    ------
    RequestError
        If a column is missing or cannot be inferred, or a value is wrong (file, line and value
        are named).
    """
    return measurements_of(read_table(path), columns or {}, where or {})


def measurements_of(
    table: TextTable, given: Mapping[str, Any], where: Mapping[str, str], *, others: bool = False
) -> Measurements:
    """Return the runs in the rows of a table with some values, or in the others.

    Columns are `given` as to :func:`read_measurements`, or by options such as ``scale_column``.

    One row a line of the file: ``scale``, ``machines``, ``seconds`` (not a number for a failed
    run), ``outcome`` (``"ok"``, ``"failed"``, or ``"timeout"``: it takes longer than `seconds`) and
    ``machine_type`` (None without such a column). A run whose time is none above 0, such as ``OOM``
    or -1, counts as failed; one of ``>1h`` as ended by a timeout. Steps of SLURM jobs, such as
    ``123.batch`` below ``123``, are left out. Scales such as ``10GB`` are in the unit of the first.
    """
    names = {what.removesuffix("_column"): name for what, name in given.items() if name is not None}
    columns = measured_columns(table, names)
    kind = table.needs("type", names["type"]) if "type" in names else table.find(TYPE_NAMES)
    outcome, outcome_columns = read_outcomes(table)
    kept, notes = (outcome != "not run") & (table.where(where) != others), []
    if job := table.find(("jobid",)):
        steps = table.cells[job].str.extract(r"^(\w+)\.", expand=False).isin(table.cells[job])
        kept &= ~steps
        if steps.any():
            notes.append(f"left out of {table.path.name}: {counted(steps.sum(), 'SLURM steps')}")
    table = replace(table, cells=table.cells[kept])
    outcome = outcome[table.cells.index]
    name = columns["seconds"]
    times = table.plain(name)
    outcome[times.str.startswith(">") & (outcome == "ok")] = "timeout"
    units = _units_of(table, name)
    read = [_seconds(text, unit) for text, unit in zip(times, units, strict=True)]
    seconds = pd.Series(read, times.index, float).mask(outcome == "failed")
    odd = table.cells[name][seconds.isna() & (outcome == "ok")]
    if len(odd):
        first = f"{table.place(odd.index[0])}: {name} is {odd.iloc[0][:60]!r}"
        if len(odd) == len(table.cells):
            raise RequestError(f"{first}; accepted: a time above 0, such as 90, 1h30m or 01:30:00")
        more = "" if len(odd) == 1 else f", like {len(odd) - 1} more"
        notes.append(f"{first}, which is no time: this run counts as failed{more}")
    outcome[seconds.isna()] = "failed"
    notes += [] if table.find(_UNITS) else _doubts_of_unit(name, times, units)
    scale = _scales(table, columns["scale"], notes) if "scale" in columns else 1.0
    content = scale, table.numbers(columns["machines"]), seconds, outcome, table.cells.get(kind)
    runs = pd.DataFrame(dict(zip(RUN_COLUMNS, content, strict=True)), table.cells.index)
    varying = varying_columns(
        table.cells[outcome == "ok"],
        {"", job, *columns.values(), *MEASURED, *outcome_columns, *(() if others else where)},
        [columns[what] for what in ("scale", "machines") if what in columns],
    )
    return Measurements(runs, columns, table.path, varying, tuple(notes), kind)


def _scales(table: TextTable, column: str, notes: list[str]) -> pd.Series:
    """Return scales, those with a unit such as ``GB`` in that of the first row."""
    parts = table.plain(column).str.extract(_SIZE)
    units = parts[1].dropna()
    if units.empty:
        return table.numbers(column)
    if len(units) < len(parts):
        raise RequestError(
            f"{table.path} has a scale with a unit, such as 10GB, in {len(units)} of {len(parts)} "
            "rows; accepted: a unit in all rows or in none"
        )
    notes.append(f"the scale is in {units.iloc[0]}, the unit of the first row")
    return parts[0].astype(float) * units.map(_size_of) / _size_of(units.iloc[0])


def _size_of(unit: str) -> float:
    """Return how many bytes a unit such as ``GB`` or ``MiB`` has."""
    base = 1024.0 if unit[1:2].lower() == "i" else 1000.0
    return base ** "bkmgtp".index(unit[0].lower())


def _seconds(text: str, unit: str) -> float:
    """Return a time in seconds, about (``~``) or at least (``>``) so many; not a number if none."""
    text = text.lstrip("~≈> ")
    if unit in _CLOCKS:
        text, unit = f"{text}:00" if unit == "hhmm" else text, "s"
    try:
        return parse_duration(text, unit=unit)
    except RequestError:
        return math.nan


def _units_of(table: TextTable, name: str) -> pd.Series:
    """Return the unit of each time: in a column of units, by the name of its own, or seconds."""
    units = table.find(_UNITS)
    if units is not None and table.cells[units].str.lower().map(unit_seconds).notna().all():
        return table.cells[units].str.lower()
    named = (_unit_by(pattern, name) for pattern in _TIMES)
    unit = next(filter(None, named), _last_word(name))
    return pd.Series(unit if unit in _CLOCKS or unit_seconds(unit) else "s", table.cells.index)


def _doubts_of_unit(name: str, times: pd.Series, units: pd.Series) -> list[str]:
    """Return a note if times are read as seconds that may be whole milliseconds, of runs above 1 s.

    The column of SLURM that names no unit, ElapsedRaw, has seconds.
    """
    numbers = times.map(to_number).loc[lambda each: each > 0]
    named = unit_seconds(_last_word(name)) or re.search("sec|elapsedraw", name_key(name))
    if named or (units != "s").any() or (numbers % 1).any() or not numbers.min() >= 1000:
        return []
    ends = f"{numbers.min():.10g} to {numbers.max():.10g}"
    return [f"{name!r} names no unit, so {ends} are seconds; milliseconds need a name like time_ms"]


def _unit_by(pattern: str, name: str) -> str | None:
    if (found := re.fullmatch(pattern, name_key(name))) is None:
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


def measured_columns(table: TextTable, given: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns ``machines``, ``seconds`` and, if there is one, ``scale``.

    Raises
    ------
    RequestError
        If one is missing and cannot be inferred, or is given for two things.
    """
    found: dict[str, str] = {}
    for what, patterns in _PATTERNS.items():
        if what == "scale" and given.get(what) == "none" and "none" not in table.columns:
            continue
        likely = [(pattern, name) for pattern in patterns for name in table.columns]
        matches = (name for pattern, name in likely if _is_named(what, pattern, name, table))
        name = table.needs(what, given[what]) if what in given else next(matches, None)
        if name is None and what != "scale":  # which may have been the same in all runs
            raise RequestError(
                f"{table.path} has no column that is known to hold {what}; name it with "
                f"--{what}-column; there are: {', '.join(table.columns)}"
            )
        if name in found.values():
            raise RequestError(f"the column {name!r} of {table.path} is given for two things")
        if name is not None:
            found[what] = name
    return found


def _is_named(what: str, pattern: str, name: str, table: TextTable) -> bool:
    """Whether the name of a column is one of the machines, the seconds or the scale."""
    key = name_key(name)
    if what == "seconds":  # beside a maximum, min is the minimum, not minutes
        lowest = key.endswith("min") and f"{key[:-3]}max" in map(name_key, table.columns)
        return not lowest and _unit_by(pattern, name) is not None
    named = re.fullmatch(pattern, key) is not None
    return named and (what != "scale" or _has_numbers(table, name))


def _has_numbers(table: TextTable, name: str) -> bool:
    """Whether a column holds amounts, and not texts alone, such as the names of files."""
    texts = table.plain(name)
    return bool(texts.str.match(_SIZE).any() or texts.map(to_number).notna().any())


def varying_columns(
    cells: pd.DataFrame, known: set[str | None], configuration: Sequence[str]
) -> dict[str, int]:
    """Return other columns that differ, unless they follow from the scale or the machines."""
    counts = cells.drop(columns=[name for name in cells if name in known]).nunique()
    counts = counts[counts > 1]
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    for cause in configuration:
        ratios = numbers[counts.index].div(numbers[cause], axis=0)
        # All the cores, for one, follow from the machines.
        counts = counts[~(ratios.max(skipna=False) <= ratios.min() * (1 + 1e-9))]
        if cells[cause].duplicated().any():  # else all columns follow from it
            several = [cells.groupby(cause)[name].nunique().max() > 1 for name in counts.index]
            counts = counts[several]
    return {str(name): int(count) for name, count in counts.items()}
