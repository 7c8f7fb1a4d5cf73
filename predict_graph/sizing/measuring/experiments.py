"""Experiments to run: a design, and the command line of each of its points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from predict_graph.errors import RequestError
from predict_graph.sizing.table_file import TextTable, number, positive, read_table

MOST_RUNS = 100_000  # limit: more is a slip; not tuned
# Columns of a design that no command gets; and those of measured points, the outcome last: a line
# that ends in one is whole.
REPEATS = "repeats"
WHOLE = "a whole number above 0"
NOT_PASSED = (REPEATS, "cost")
MEASURED = ("repeat", "command", "started", "seconds", "exit_status", "outcome")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Experiment:
    """One run that is to be measured.

    Attributes
    ----------
    values : dict of str to str
        Text of each column of the design, as the command gets it.
    repeat : int
        From 1 on.
    command : tuple of str
        Program and arguments.
    """

    values: dict[str, str]
    repeat: int
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as ``scale 0.1, machines 4, repeat 1``."""
        described = [f"{name} {value}" for name, value in self.values.items()]
        return ", ".join([*described, f"repeat {self.repeat}"])


@dataclass(frozen=True)
class Design:
    """Points of a design.

    Attributes
    ----------
    columns : list of str
        ``machines``, ``scale`` when it changes, and others that the command takes.
    points : list of (dict of str to str, int)
        Values and number of repeats.
    """

    path: Path
    columns: list[str]
    points: list[tuple[dict[str, str], int]]

    def experiments(self, command: Sequence[str], repeats: int = 1) -> list[Experiment]:
        """Return all runs: every point once, then every point again, so that drift spreads.

        Parameters
        ----------
        command : sequence of str
            ``{name}`` stands for the value of a column, ``{repeat}`` for the number of the repeat.
        repeats : int, default 1
            Of each point, times its own in the column ``repeats``.

        Raises
        ------
        RequestError
            If the command does not use a column that changes, or there are too many runs.
        """
        if repeats < 1:
            raise RequestError(f"repeats are {repeats}; accepted: 1 or more")
        self._check_used(command)
        most = repeats * max(count for _, count in self.points)
        if most * len(self.points) > MOST_RUNS:
            raise RequestError(
                f"the design asks for up to {most * len(self.points):,} runs; "
                f"accepted: at most {MOST_RUNS:,}"
            )
        return [
            Experiment(values, repeat, _filled(command, {**values, "repeat": str(repeat)}))
            for repeat in range(1, most + 1)
            for values, count in self.points
            if repeat <= count * repeats
        ]

    def _check_used(self, command: Sequence[str]) -> None:
        if not command:
            raise RequestError(
                "there is no command; accepted: one after --, such as: -- python job.py {scale} "
                "{machines}"
            )
        used = {name for word in command for name in _PLACEHOLDER.findall(word)}
        for name in self.columns:
            if name not in used and len({values[name] for values, _ in self.points}) > 1:
                raise RequestError(
                    f"the command does not use {{{name}}}, which {self.path} varies; "
                    f"accepted placeholders: {', '.join(f'{{{n}}}' for n in self.columns)}"
                )


def read_design(path: Path) -> Design:
    """Read a design: a table with ``machines``, mostly ``scale``, maybe ``repeats`` and others.

    Points that come twice are repeats. The column ``cost``, which `design` writes, is passed over.

    Raises
    ------
    RequestError
        If there are no machines, a value is wrong, or a column has a name that the measured points
        need; file, line and value are named.
    """
    table = read_table(path)
    table.needs("machines", "the number of machines")
    for name in table.columns:
        if name in MEASURED:
            raise RequestError(
                f"{path} has a column {name!r}, which is written by collect; accepted: designs "
                "without measured points"
            )
    columns = [name for name in table.columns if name not in NOT_PASSED]
    counts: dict[tuple[str, ...], int] = {}
    for values, repeats in _points(table, columns):
        counts[values] = counts.get(values, 0) + repeats
    points = [(dict(zip(columns, v, strict=True)), count) for v, count in counts.items()]
    return Design(path, columns, points)


def _points(table: TextTable, columns: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    found = []
    for row in table.rows:
        machines = number(row, "machines", WHOLE, least=1, whole=True)
        if "scale" in columns:
            positive(row, "scale")
        own = REPEATS in table.columns
        repeats = number(row, REPEATS, WHOLE, least=1, whole=True) if own else 1
        values = {**row.cells, "machines": str(int(machines))}
        found.append((tuple(values[name] for name in columns), int(repeats)))
    return found


def _filled(command: Sequence[str], values: dict[str, str]) -> tuple[str, ...]:
    """Put values in place of known names; other braces belong to the command."""
    return tuple(
        _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in command
    )
