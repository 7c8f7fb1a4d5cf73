"""Experiments to run: choosing a design, and the command line of each of its points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from costmodels.design import Design as Chosen
from costmodels.design import candidate_grid, optimal_design
from costmodels.scaling.terms import ERNEST, MASHA, TERMS
from predict_graph.errors import JobError, RequestError, check_installed
from predict_graph.files import written_beside
from predict_graph.sizing.measuring.measurements import MEASURED
from predict_graph.sizing.quantities import MOST_COUNTS, check_count
from predict_graph.sizing.table_file import read_table

# Columns of a design that no command gets.
REPEATS = "repeats"
WHOLE = "a whole number above 0"
NOT_PASSED = (REPEATS, "cost")
TERM_SETS = {"ernest": ERNEST, "masha": MASHA, "amdahl": ("1", "scale/machines")}
"""Terms by the name of their model."""
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def make_design(
    terms: Sequence[str],
    scale: tuple[float, float],
    machines: Sequence[int],
    budget: float,
    *,
    criterion: str = "a",
    max_repeats: int = 1,
    target: tuple[float, Sequence[int]] | None = None,
    scale_steps: int = 20,
    **grid: Any,
) -> Chosen:
    """Choose the runs that teach a model most for a budget.

    Parameters
    ----------
    terms : sequence of str
        Names of the term library, or one name of :data:`TERM_SETS`.
    machines : sequence of int
        Counts to choose from.
    scale, budget, criterion, max_repeats
        As in :func:`costmodels.design.candidate_grid` and
        :class:`costmodels.design.DesignProblem`.
    target : (float, sequence of int), optional
        Scale and machine counts whose times will be asked for; for the criterion ``"i"``.
    scale_steps : int, default 20
        Number of scales to choose from.
    **grid
        ``partitions``, ``cores_per_machine`` and ``cost`` of
        :func:`costmodels.design.candidate_grid`.

    Returns
    -------
    costmodels.design.Design

    Raises
    ------
    RequestError
        If an option is wrong, the budget too small, or cvxpy not installed.
    JobError
        If the solver finds no solution.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.3.
    """
    check_installed("cvxpy", "a design", extra="design")
    if len(terms) == 1 and terms[0] in TERM_SETS:
        terms = TERM_SETS[terms[0]]
    if unknown := [name for name in terms if name not in TERMS]:
        raise RequestError(
            f"unknown terms {unknown[0]!r}; accepted: {', '.join(TERM_SETS)}, or terms of the "
            f"library with commas between: {', '.join(TERMS)}"
        )
    try:
        return optimal_design(
            candidate_grid(scale, machines, steps=scale_steps, **grid),
            budget,
            terms=terms,
            criterion=criterion,
            max_repeats=max_repeats,
            targets=target and pd.DataFrame({"scale": target[0], "machines": list(target[1])}),
        )
    except ValueError as error:
        raise RequestError(str(error)) from error
    except RuntimeError as error:
        raise JobError(str(error)) from error


def write_design(design: Chosen, path: str | PathLike[str]) -> None:
    """Write the points as CSV; whole numbers without a decimal point, for jobs that expect them.

    Raises
    ------
    RequestError, JobError
        If the file cannot be written; what was there stays.
    """
    with written_beside(path) as beside:
        design.points.to_csv(beside, index=False, float_format="%.10g", lineterminator="\n")


def design_summary(design: Chosen) -> dict[str, Any]:
    """Return what `design --json` writes."""
    names = ("criterion", "value", "bound", "efficiency", "budget", "cost", "runs")
    return {
        "schema": 1,
        "terms": list(design.terms),
        **{name: getattr(design, name) for name in names},
        "points": design.points[["scale", "machines", "repeats", "cost"]].to_dict("records"),
    }


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


@dataclass(frozen=True, eq=False)
class Design:
    """Points of a design.

    Attributes
    ----------
    path : Path
    points : DataFrame
        The texts of ``machines``, ``scale`` when it changes, and others that the command takes; and
        the number of ``repeats``.
    """

    path: Path
    points: pd.DataFrame

    @property
    def columns(self) -> list[str]:
        """What the command takes."""
        return [str(name) for name in self.points if name != REPEATS]

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
        repeats = check_count("repeats are", repeats)
        self._check_used(command)
        counts = self.points[REPEATS] * repeats
        most = int(counts.max())
        if most * len(self.points) > MOST_COUNTS:
            raise RequestError(
                f"the design asks for up to {most * len(self.points):,} runs; "
                f"accepted: at most {MOST_COUNTS:,}"
            )
        points: Any = self.points[self.columns].to_dict("records")
        return [
            Experiment(values, repeat, _filled(command, {**values, "repeat": str(repeat)}))
            for repeat in range(1, most + 1)
            for values, count in zip(points, counts, strict=True)
            if repeat <= count
        ]

    def _check_used(self, command: Sequence[str]) -> None:
        if not command:
            raise RequestError(
                "there is no command; accepted: one after --, such as: -- python job.py {scale} "
                "{machines}"
            )
        used = {name for word in command for name in _PLACEHOLDER.findall(word)}
        for name in self.columns:
            if name not in used and self.points[name].nunique() > 1:
                raise RequestError(
                    f"the command does not use {{{name}}}, which {self.path} varies; "
                    f"accepted placeholders: {', '.join(f'{{{n}}}' for n in self.columns)}"
                )


def read_design(path: str | PathLike[str]) -> Design:
    """Read a design: a table with ``machines``, mostly ``scale``, maybe ``repeats`` and others.

    Points that come twice are repeats. The column ``cost``, which `design` writes, is passed over.

    Raises
    ------
    RequestError
        If there are no machines, a value is wrong, or a column has a name that the measured points
        need; file, line and value are named.
    """
    table = read_table(path)
    machines = table.needs("the number of machines", "machines")
    for name in table.columns:
        if name in MEASURED:
            raise RequestError(
                f"{path} has a column {name!r}, which is written by collect; accepted: designs "
                "without measured points"
            )
    counts = table.numbers(machines, WHOLE, whole=True).map("{:.0f}".format)
    given: dict[str, Any] = {machines: counts}
    if "scale" in table.columns:
        table.numbers("scale")
        given["scale"] = table.plain("scale")  # with a decimal point
    repeats = pd.Series(1.0, table.cells.index)
    if REPEATS in table.columns:
        repeats = table.numbers(REPEATS, WHOLE, whole=True)
    columns = [name for name in table.columns if name not in NOT_PASSED]
    points = table.cells[columns].assign(**given, **{REPEATS: repeats.astype(int)})
    return Design(table.path, points.groupby(columns, sort=False, as_index=False).sum())


def _filled(command: Sequence[str], values: dict[str, str]) -> tuple[str, ...]:
    """Put values in place of known names; other braces belong to the command."""
    return tuple(
        _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in command
    )
