"""Machine types with their attributes, candidates for runs on them, and runs that were measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import FloatArray
from predict_graph.durations import counted
from predict_graph.errors import RequestError
from predict_graph.resources.profile import read_profile
from predict_graph.sizing.measuring import measurements
from predict_graph.sizing.quantities import parse_counts
from predict_graph.sizing.table_file import NoRowsError, TextTable, name_key, read_table

CORE_NAMES = ("cores", "vcpus", "cpus", "vcpu", "number_of_cores", "guest_cpus")
MEMORY_NAMES = (
    *("memory_gb", "memory", "memory_gib", "ram_gb"),
    *("instance_memory", "memory_in_mb", "memory_mb"),
)
PRICE_NAMES = ("price_per_hour", "usd_per_hour", "linux_on_demand_cost", "retail_price")
DESCRIBED = (*CORE_NAMES, *MEMORY_NAMES, *PRICE_NAMES)
_CATALOGUED = (*measurements.TYPE_NAMES, "API Name", "name")  # how catalogues of clouds name a type
_AMOUNT = re.compile(
    r"^(?:USD|\$)?\s*([0-9][0-9.,]*)\s*(?:([MGT])i?B|vCPUs?|cores?)?\s*(?:USD)?\s*"
    r"(?:hourly|per hour|/\s*h(?:ou)?r?)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class MachineType:
    """A type of machine.

    Attributes
    ----------
    name : str
    cores : float
        Of one machine; by its resource profile, where there is one: how many cores of the mean
        speed of all profiles do what it does.
    memory : float or None
        In any unit that all types share.
    price : float or None
        USD an hour.
    counted : float or None
        Cores by number, where those above are by a profile.
    """

    name: str
    cores: float
    memory: float | None = None
    price: float | None = None
    counted: float | None = None


Types = Mapping[str, MachineType]


@dataclass(frozen=True)
class Candidates:
    """Types and counts, one entry a configuration.

    Attributes
    ----------
    types : dict of str to MachineType
        By name.
    entries : DataFrame
        ``machine_type`` and ``machines``.
    path : Path
    """

    types: dict[str, MachineType]
    entries: pd.DataFrame
    path: Path

    @property
    def described(self) -> Types | None:
        """The types; None where the machines are all alike, and nothing is known of them."""
        return None if "" in self.types else self.types


def read_candidates(path: Path | None, machines: Sequence[int] | None = None) -> Candidates:
    """Read candidates: machine types as :func:`read_types` does, and maybe ``machines``.

    Parameters
    ----------
    path : Path or None
        CSV or TSV. ``machines`` has a count, or counts such as ``2:16:2``; a type may have several
        rows, as in catalogues with one for each zone. Without it the machines are all alike.
    machines : sequence of int, optional
        Counts of every type, for a table without them.

    Raises
    ------
    RequestError
        If a column is missing or a value is wrong; file, line and value are named.
    """
    if path is None:
        if machines is None:
            raise RequestError("next needs --machines N:M, or --candidates FILE with that column")
        alike = pd.DataFrame({"machine_type": "", "machines": machines})
        return Candidates({"": MachineType("", 1.0, price=1.0)}, alike, Path("--machines"))
    table = read_table(path)
    own = "machines" in table.columns
    if own == (machines is not None):
        raise RequestError(
            f"{path} has {'a' if own else 'no'} column machines; accepted: "
            f"{'no --machines' if own else '--machines N:M, the counts of every type'}"
        )
    types = _types(table)
    kinds = table.cells[table.needs("the machine type", *_CATALOGUED)]
    counts: list[Any] = [machines] * len(kinds)
    if own:
        cells = table.cells["machines"].items()
        counts = [parse_counts(text, f"{table.place(line)}: machines") for line, text in cells]
    entries = pd.DataFrame({"machine_type": kinds, "machines": counts}).explode("machines")
    return Candidates(types, entries.astype({"machines": int}).drop_duplicates(), path)


def read_types(path: str | PathLike[str]) -> dict[str, MachineType]:
    """Read machine types: a table with a type, ``cores``, mostly memory and price.

    Parameters
    ----------
    path : Path
        CSV or TSV, or what a cloud lists: amounts may have units, as ``2 vCPUs``, ``8.0 GiB`` and
        ``$0.096 hourly``. A column ``profile`` names, from where the table is, a resource profile
        of ``calibrate`` for each type: cores then count by how fast they are. Without such a file,
        ``example`` is a table of the package.

    Raises
    ------
    RequestError
        If a column is missing or a value is wrong; file, line and value are named.
    """
    if str(path) == "example" and not Path(path).exists():
        path = str(files("predict_graph.sizing.planning") / "example-prices.csv")
    return _types(read_table(path))


def _types(table: TextTable) -> dict[str, MachineType]:
    kind = table.needs("the machine type", *_CATALOGUED)
    counts = _amounts(table, table.needs("the cores of each type", *CORE_NAMES))
    cores = _cores(table, counts)
    memory, price = (_known(table, table.find(names)) for names in (MEMORY_NAMES, PRICE_NAMES))
    types: dict[str, MachineType] = {}
    for (line, name), *values in zip(
        table.cells[kind].items(), cores.tolist(), memory, price, counts.tolist(), strict=True
    ):
        if not name:
            raise RequestError(f"{table.place(line)}: the machine type is empty; accepted: a name")
        found = MachineType(name, *values)
        if types.setdefault(name, found) != found:
            raise RequestError(
                f"{table.place(line)}: the type {name!r} has other cores, memory or price than "
                "before"
            )
    return types


def _known(table: TextTable, name: str | None) -> list[float | None]:
    """Return the numbers of a column, and nothing in cells such as ``unavailable``."""
    if name is None:
        return [None] * len(table.cells)
    known = table.cells[table.cells[name].str.contains("[0-9]")]
    found = _amounts(replace(table, cells=known), name)
    return [found.get(line) for line in table.cells.index]


def _amounts(table: TextTable, name: str) -> pd.Series:
    """Return the numbers of a column, those with a unit of memory in GiB."""
    parts = table.plain(name).str.extract(_AMOUNT)
    texts = parts[0].fillna(table.cells[name])
    plain = replace(table, cells=table.cells.assign(**{name: texts}))
    units = parts[1].str.upper().map({"M": 1 / 1024, "T": 1024.0})
    return plain.numbers(name) * units.fillna(1.0)


def _cores(table: TextTable, counts: pd.Series) -> FloatArray:
    """Return the cores of each row; by a profile those busy at once, times how fast they are."""
    if "profile" not in table.columns:
        return counts.to_numpy()
    files = table.cells["profile"]
    if (files == "").any():
        accepted = "a file of calibrate --out for each type, or no column profile"
        raise table.refusal("profile", files != "", accepted)
    profiles = [read_profile(table.path.parent / file) for file in files]
    busy, speed = (
        np.array([profile.value(what) for profile in profiles])
        for what in ("cpu_cores", "cpu_integer_speed")
    )
    return np.asarray(busy * speed / np.exp(np.log(speed).mean()))


def of_types(measured: measurements.Measurements, types: Types) -> measurements.Measurements:
    """Return the runs on types that are described, with a note on the others."""
    runs = measured.runs
    if measured.unit != "machines":
        raise RequestError(
            f"{measured.path} counts {measured.unit}; accepted with machine types: a column of "
            "machines"
        )
    if runs["machine_type"].isna().any():
        if len(types) > 1:
            raise RequestError(
                f"{measured.path} has no column for the machine type; accepted: a column "
                f"{' or '.join(measurements.TYPE_NAMES)}"
            )
        runs = runs.assign(machine_type=next(iter(types)))
    # The types are seen, and what describes them in the runs' own table as well.
    described = {measured.type_column, *map(name_key, DESCRIBED)}
    unseen = {n: c for n, c in measured.varying.items() if not described & {n, name_key(n)}}
    known = runs["machine_type"].isin(list(types))
    notes = list(measured.notes)
    if not known.all():
        unknown = ", ".join(sorted(set(runs["machine_type"][~known]))[:5])
        if not known.any():
            raise RequestError(
                f"the runs of {measured.path} are on {unknown}, which no row describes; "
                f"accepted: {', '.join(types)}"
            )
        count = counted((~known).sum())
        notes.append(f"left out, as no row describes such a type: {count} on {unknown}")
    return replace(measured, runs=runs[known], varying=unseen, notes=tuple(notes))


def columns_of(runs: pd.DataFrame, types: Types) -> dict[str, FloatArray]:
    """Return scale and machines of runs; of known types the cores, and the memory if all have it.

    Without `types` there are no cores and no memory.
    """
    found = {name: runs[name].to_numpy(np.float64) for name in ("scale", "machines")}
    if types:
        kinds = [types[kind] for kind in runs["machine_type"]]
        found["cores"] = np.array([kind.cores for kind in kinds], np.float64)
        if all(kind.memory is not None for kind in types.values()):
            found["memory"] = np.array([kind.memory for kind in kinds], np.float64)
    return found


def read_tried(
    path: Path,
    candidates: Candidates,
    scale: float | None = None,
    *,
    missing_ok: bool = False,
    **columns: str | None,
) -> measurements.Measurements:
    """Read the runs of a job, of one scale; a file without rows has none."""
    if scale is not None:
        measurements.chosen_scale([], scale)  # before runs of it are measured
    try:
        found = measurements.read_measurements(path, columns=columns)
    except RequestError as error:
        if isinstance(error, NoRowsError) or (missing_ok and not path.exists()):
            none = pd.DataFrame(columns=list(measurements.RUN_COLUMNS))
            return measurements.Measurements(none, {"machines": "machines"}, path)
        raise
    chosen = measurements.chosen_scale([found], scale)
    runs = found.runs[found.runs["scale"] == chosen]
    if (odd := runs["machines"][runs["machines"] % 1 > 0]).size:
        raise RequestError(
            f"{path}:{odd.index[0]}: machines are {odd.iloc[0]:g}; accepted: a whole number"
        )
    if others := len(found.runs) - len(runs):
        said = f"not used, as at another scale than {chosen:.10g}: {counted(others)}"
        found = replace(found, notes=(*found.notes, said))
    if candidates.described:
        return of_types(replace(found, runs=runs), candidates.described)
    if runs["machine_type"].nunique() > 1:
        raise RequestError(f"{path} has runs on several types; accepted: with --candidates FILE")
    return replace(found, runs=runs.assign(machine_type=""))
