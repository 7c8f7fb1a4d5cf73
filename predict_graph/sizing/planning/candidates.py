"""Configurations that may be measured: machine types with their attributes, and machine counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.sizing.quantities import parse_counts
from predict_graph.sizing.table_file import TextTable, positive, read_table

__all__ = ["TYPE_NAMES", "Candidates", "MachineType", "read_candidates"]

FloatArray = npt.NDArray[np.float64]

TYPE_NAMES = ("machine_type", "instance_type", "type")
MEMORY_NAMES = ("memory_gb", "memory")
PRICE_NAMES = ("price_per_hour", "usd_per_hour")


@dataclass(frozen=True)
class MachineType:
    """A type of machine.

    Attributes
    ----------
    name : str
    cores : float
    memory : float or None
        In any unit that all types share.
    price : float or None
        USD an hour.
    """

    name: str
    cores: float
    memory: float | None
    price: float | None


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

    def place(self, kind: str, machines: float) -> int | None:
        """Return where a configuration is among the entries, if it is one."""
        wanted = (kind, int(machines))
        return self.entries.index(wanted) if wanted in self.entries else None

    @property
    def columns(self) -> dict[str, FloatArray]:
        """Machines, cores, and memory where all types have it; shape (n,) each."""
        kinds = [self.types[kind] for kind, _ in self.entries]
        found = {
            "machines": np.array([count for _, count in self.entries], np.float64),
            "cores": np.array([kind.cores for kind in kinds], np.float64),
        }
        memories = [kind.memory for kind in kinds]
        if None not in memories:
            found["memory"] = np.array(memories, np.float64)
        return found

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
    """Read candidates: a table with a type, ``cores``, mostly memory and price, maybe ``machines``.

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
    kind_name = _one_of(table, TYPE_NAMES)
    if kind_name is None:
        raise RequestError(
            f"{path} has no column for the machine type; accepted: {', '.join(TYPE_NAMES)}; "
            f"there are: {', '.join(table.columns)}"
        )
    table.needs("cores", "the cores of each machine type")
    memory_name, price_name = _one_of(table, MEMORY_NAMES), _one_of(table, PRICE_NAMES)
    own = "machines" in table.columns
    if own == (machines is not None):
        raise RequestError(
            f"{path} has {'a' if own else 'no'} column machines; accepted: "
            f"{'no --machines' if own else '--machines N:M, the counts of every type'}"
        )
    types: dict[str, MachineType] = {}
    entries: list[tuple[str, int]] = []
    for row in table.rows:
        name = row.cells[kind_name]
        if not name:
            raise RequestError(f"{row.place}: the machine type is empty; accepted: a name")
        kind = MachineType(
            name,
            positive(row, "cores"),
            None if memory_name is None else positive(row, memory_name),
            None if price_name is None else positive(row, price_name),
        )
        if types.setdefault(name, kind) != kind:
            raise RequestError(
                f"{row.place}: the type {name!r} has other cores, memory or price than before"
            )
        for count in parse_counts(row.cells["machines"]) if own else machines or ():
            if (name, count) in entries:
                raise RequestError(f"{row.place}: {count} machines of {name!r} come twice")
            entries.append((name, count))
    return Candidates(types, entries, path)


def _one_of(table: TextTable, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.columns), None)
