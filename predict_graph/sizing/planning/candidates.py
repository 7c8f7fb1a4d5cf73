"""Configurations that may be measured: machine types with their attributes, and machine counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.resources.profile import read_profile
from predict_graph.sizing.measuring.measurements import TYPE_NAMES
from predict_graph.sizing.quantities import parse_counts
from predict_graph.sizing.table_file import TextTable, positive, read_table

FloatArray = npt.NDArray[np.float64]

CORE_NAMES = ("cores", "vcpus", "cpus")
MEMORY_NAMES = ("memory_gb", "memory", "memory_gib", "ram_gb")
PRICE_NAMES = ("price_per_hour", "usd_per_hour")
PROFILE_NAME = "profile"


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
    """

    name: str
    cores: float
    memory: float | None = None
    price: float | None = None

    @property
    def resources(self) -> tuple[float, float | None]:
        """Cores and memory: all that a model knows of a type."""
        return self.cores, self.memory


@dataclass(frozen=True)
class Candidates:
    """Types and counts, one entry a configuration.

    Attributes
    ----------
    types : dict of str to MachineType
        By name.
    entries : list of (str, int)
        Type and machines.
    path : Path
    """

    types: dict[str, MachineType]
    entries: list[tuple[str, int]]
    path: Path

    @property
    def columns(self) -> dict[str, FloatArray]:
        """Machines, cores, and memory where all types have it; shape (n,) each."""
        kinds = [self.types[kind] for kind, _ in self.entries]
        found: dict[str, list[Any]] = {
            "machines": [count for _, count in self.entries],
            "cores": [kind.cores for kind in kinds],
            "memory": [kind.memory for kind in kinds],
        }
        return {n: np.array(v, np.float64) for n, v in found.items() if None not in v}

    def rates(self) -> FloatArray:
        """Return what a second of each configuration costs, in USD.

        Raises
        ------
        RequestError
            If the file has no prices.
        """
        prices = [self.types[kind].price for kind, _ in self.entries]
        if None in prices:
            raise RequestError(
                f"{self.path} has no prices, which this goal needs; accepted: a column "
                f"{' or '.join(PRICE_NAMES)}, or --goal fastest"
            )
        return self.columns["machines"] * np.array(prices, np.float64) / 3600


def read_candidates(path: Path, machines: Sequence[int] | None = None) -> Candidates:
    """Read candidates: machine types as :func:`read_types` does, and maybe ``machines``.

    Parameters
    ----------
    path : Path
        CSV or TSV. ``machines`` has a count, or counts such as ``2:16:2``; a type may have several
        rows.
    machines : sequence of int, optional
        Counts of every type, for a table without them.

    Raises
    ------
    RequestError
        If a column is missing or a value is wrong; file, line and value are named.
    """
    table = read_table(path)
    own = "machines" in table.columns
    if own == (machines is not None):
        raise RequestError(
            f"{path} has {'a' if own else 'no'} column machines; accepted: "
            f"{'no --machines' if own else '--machines N:M, the counts of every type'}"
        )
    types, names = _types(table)
    entries: list[tuple[str, int]] = []
    for row, name in zip(table.rows, names, strict=True):
        for count in parse_counts(row.cells["machines"]) if own else machines or ():
            if (name, count) in entries:
                raise RequestError(f"{row.place}: {count} machines of {name!r} come twice")
            entries.append((name, count))
    return Candidates(types, entries, path)


def read_types(path: Path) -> dict[str, MachineType]:
    """Read machine types: a table with a type, ``cores``, mostly memory and price.

    Parameters
    ----------
    path : Path
        CSV or TSV. A column ``profile`` names, from where the table is, a resource profile of
        ``calibrate`` for each type: cores then count by how fast they are.

    Raises
    ------
    RequestError
        If a column is missing or a value is wrong; file, line and value are named.
    """
    return _types(read_table(path))[0]


def read_prices(path: Path) -> dict[str, MachineType]:
    """Read machine types with prices: a table with ``type``, ``cores``, ``usd_per_hour``.

    Raises
    ------
    RequestError
        If a column is missing or a value is wrong; file, line and value are named.
    """
    table = read_table(path)
    if table.find(PRICE_NAMES) is None:
        table.needs(PRICE_NAMES[1], "prices")
    return _types(table)[0]


def example_prices() -> Path:
    """Return the table that comes with the package: an example, dated in its first line."""
    return Path(str(files("predict_graph.sizing.planning") / "example-prices.csv"))


def _types(table: TextTable) -> tuple[dict[str, MachineType], list[str]]:
    """Return the types, and the one of each row."""
    kind_name = table.find(TYPE_NAMES)
    if kind_name is None:
        raise RequestError(
            f"{table.path} has no column for the machine type; accepted: {', '.join(TYPE_NAMES)}; "
            f"there are: {', '.join(table.columns)}"
        )
    cores_name = table.find(CORE_NAMES) or table.needs("cores", "the cores of each machine type")
    memory_name, price_name = table.find(MEMORY_NAMES), table.find(PRICE_NAMES)
    speeds = _profiled(table)
    types: dict[str, MachineType] = {}
    names = [row.cells[kind_name] for row in table.rows]
    for row, name in zip(table.rows, names, strict=True):
        if not name:
            raise RequestError(f"{row.place}: the machine type is empty; accepted: a name")
        cores = positive(row, cores_name)
        kind = MachineType(
            name,
            cores if speeds is None else speeds[row.line],
            None if memory_name is None else positive(row, memory_name),
            None if price_name is None else positive(row, price_name),
        )
        if types.setdefault(name, kind) != kind:
            raise RequestError(
                f"{row.place}: the type {name!r} has other cores, memory or price than before"
            )
    return types, names


def _profiled(table: TextTable) -> dict[int, float] | None:
    """Return the cores of each row by its profile: busy at once, times how fast beside the mean."""
    if PROFILE_NAME not in table.columns:
        return None
    found = {}
    for row in table.rows:
        name = row.cells[PROFILE_NAME]
        if not name:
            raise RequestError(
                f"{row.place}: there is no profile; accepted: a file of calibrate --out for each "
                "type, or no column profile"
            )
        profile = read_profile(table.path.parent / name)
        found[row.line] = (profile.value("cpu_cores"), profile.value("cpu_integer_speed"))
    mean = float(np.exp(np.mean([np.log(speed) for _, speed in found.values()])))
    return {line: cores * speed / mean for line, (cores, speed) in found.items()}
