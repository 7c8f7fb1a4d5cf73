"""Candidate assignments: machines, networks, places of the data; ranked by a model of the task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.answers import Answer, Table
from predict_graph.durations import readable_seconds
from predict_graph.errors import RequestError
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture, unit_of
from predict_graph.resources.profile import read_profile
from predict_graph.results import Result
from predict_graph.sizing.fitting.model import check_confidence
from predict_graph.sizing.planning.choices import SECONDS_PER_HOUR
from predict_graph.sizing.table_file import Row, number, read_table
from predict_graph.sizing.tasks.model import TaskModel

_STAGED = "staged_"
_STAGE_SECONDS = "stage_seconds"
_PRICE = "usd_per_hour"


@dataclass(frozen=True)
class Assignment:
    """Resources that a task may be given.

    Attributes
    ----------
    name : str
    attributes : mapping of str to float
    usd_per_hour : float or None
    stage_seconds : float
        Before the task starts: what moving its data takes; 0 when it stays where it is.
    """

    name: str
    attributes: Mapping[str, float]
    usd_per_hour: float | None = None
    stage_seconds: float = 0.0


@dataclass(frozen=True)
class Ranked:
    """An assignment with the time of the task, or of the chain of tasks, on it.

    Attributes
    ----------
    assignment : Assignment
    seconds, low, high : float
        Staging included.
    task_seconds : tuple of float
        Of each task of the chain.
    cost, cost_high : float or None
        USD at `seconds` and at `high`.
    """

    assignment: Assignment
    seconds: float
    low: float
    high: float
    task_seconds: tuple[float, ...]
    cost: float | None
    cost_high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class TaskPlan(Result):
    """All assignments, fastest first, and the choice.

    Attributes
    ----------
    ranked : tuple of Ranked
    confidence : float
    deadline : float or None
    choice : Ranked or None
        With a deadline: the cheapest that meets it with the confidence asked for (the fastest where
        there are no prices); None when none does. Without one: the fastest.
    warnings : tuple of str
    """

    ranked: tuple[Ranked, ...]
    confidence: float
    deadline: float | None
    choice: Ranked | None
    warnings: tuple[str, ...]

    @property
    def answer(self) -> Answer:
        """The choice, and the time of each assignment."""
        priced = any(one.cost is not None for one in self.ranked)
        columns = ["assignment", "time", "at least", "at most", *(["USD"] if priced else [])]
        rows = [
            (
                one.assignment.name + (" *" if one is self.choice else ""),
                readable_seconds(one.seconds),
                readable_seconds(one.low),
                readable_seconds(one.high),
                *(["" if one.cost is None else f"{one.cost:.4g}"] if priced else []),
            )
            for one in self.ranked
        ]
        title = f"assignments, fastest first; at most: with {100 * self.confidence:.4g}% confidence"
        if self.choice is None:
            said = "no assignment is done in time"
        else:
            one = self.choice
            wanted = "fastest" if self.deadline is None else "chosen for the deadline"
            cost = "" if one.cost is None else f", {one.cost:.3g} USD"
            said = (
                f"{wanted}: {one.assignment.name}, {readable_seconds(one.seconds)} (at most "
                f"{readable_seconds(one.high)}){cost}"
            )
        return Answer(said, tables=[Table(title, columns, rows)], warnings=self.warnings)

    @property
    def title(self) -> str:
        """What the plan is for."""
        return "plan for tasks"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan, ready for JSON."""
        return {
            "schema": 1,
            "confidence": self.confidence,
            "deadline": self.deadline,
            "assignments": [_plain(one) for one in self.ranked],
            "choice": None if self.choice is None else self.choice.assignment.name,
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return all assignments, fastest first."""
        names = ("seconds", "low", "high", "cost", "cost_high")
        return pd.DataFrame(
            {
                "assignment": one.assignment.name,
                **one.assignment.attributes,
                **{name: getattr(one, name) for name in names},
                "chosen": one is self.choice,
            }
            for one in self.ranked
        )

    def pictures(self) -> list[Picture]:
        """Return the time of each assignment."""
        divisor, unit = unit_of(self.ranked[-1].seconds)
        said = ", ".join(
            f"{one.assignment.name} {readable_seconds(one.seconds)}" for one in self.ranked
        )
        picture = dot_picture(
            "Time of the assignments",
            f"Time: {said}.",
            [one.assignment.name for one in self.ranked],
            *(
                [getattr(one, name) / divisor for one in self.ranked]
                for name in ("seconds", "low", "high")
            ),
            xlabel=f"time, {unit} (line: {100 * self.confidence:.4g}% at either end)",
            emphasised=[] if self.choice is None else [self.choice.assignment.name],
        )
        return [picture]


def read_assignments(
    paths: Sequence[Path], constants: Mapping[str, float] | None = None
) -> list[Assignment]:
    """Read candidates from tables and from resource profiles.

    A table has one row a candidate: ``name``, its attributes, and maybe ``usd_per_hour``. With
    ``stage_seconds`` a candidate can also have its data moved to it first: it then comes twice, the
    second time with that time added and with each ``staged_X`` in the place of ``X``. A profile is
    one candidate, by the name of its file.

    Parameters
    ----------
    paths : sequence of Path
        ``.json`` for profiles; anything else is a table.
    constants : mapping of str to float, optional
        Attributes that all candidates share, such as the size of the data.

    Raises
    ------
    RequestError
        If a file cannot be read, or two candidates have one name.
    """
    found: list[Assignment] = []
    for path in paths:
        if path.suffix == ".json":
            found.append(Assignment(path.stem, read_profile(path).row()))
        else:
            found += [one for row in read_table(path).rows for one in _of_row(row)]
    shared = dict(constants or {})
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f"two assignments are called {name!r}; accepted: a name each")
    return [
        Assignment(one.name, {**shared, **one.attributes}, one.usd_per_hour, one.stage_seconds)
        for one in found
    ]


def plan_tasks(
    models: Sequence[TaskModel],
    assignments: Sequence[Assignment],
    *,
    deadline: float | None = None,
    confidence: float = 0.9,
) -> TaskPlan:
    """Rank assignments for a chain of tasks that run one after the other.

    The time of a chain is the sum of those of its tasks, and of moving the data (NIMO, section
    V-C); a deadline is kept with the confidence asked for, errors of the tasks being independent.

    Raises
    ------
    RequestError
        If an assignment lacks an attribute that a model needs, or the confidence is out of range.
    """
    check_confidence(confidence)
    if not assignments:
        raise RequestError("there is no assignment to rank; accepted: --assignments FILE")
    for model in models:
        for one in assignments:
            missing = [name for name in model.attributes if name not in one.attributes]
            if missing:
                raise RequestError(
                    f"the assignment {one.name!r} has no {missing[0]!r}, which the model of "
                    f"{model.runs.source} needs; it has: {', '.join(one.attributes) or 'nothing'}"
                )
    everything = pd.DataFrame([dict(one.attributes) for one in assignments])
    tables = [everything[model.attributes] for model in models]
    parts = np.stack(
        [model.seconds(table, confidence) for model, table in zip(models, tables, strict=True)]
    )
    middle = parts[:, :, 0]
    below = np.sqrt(((middle - parts[:, :, 1]) ** 2).sum(axis=0))
    above = np.sqrt(((parts[:, :, 2] - middle) ** 2).sum(axis=0))
    ranked = [
        _ranked(one, middle[:, number], float(below[number]), float(above[number]))
        for number, one in enumerate(assignments)
    ]
    ranked.sort(key=lambda each: each.seconds)
    warnings = [
        f"{', '.join(outside)} of some assignments {'lie' if len(outside) > 1 else 'lies'} outside "
        f"of what {model.runs.source} has; intervals do not widen with the distance"
        for model in models
        if (outside := model.beyond(everything))
    ]
    if len(ranked) > 1 and len({each.task_seconds for each in ranked}) == 1:
        used = sorted({name for model in models for name in model.attributes})
        warnings.append(
            f"the candidates are alike in what the models know ({', '.join(used)}): their times "
            "cannot be distinguished; fit runs on different resources"
        )
    return TaskPlan(
        ranked=tuple(ranked),
        confidence=confidence,
        deadline=deadline,
        choice=_chosen(ranked, deadline),
        warnings=tuple(warnings),
    )


def _plain(one: Ranked) -> dict[str, Any]:
    return {
        "name": one.assignment.name,
        "attributes": dict(one.assignment.attributes),
        "seconds": {"predicted": one.seconds, "low": one.low, "high": one.high},
        "task_seconds": list(one.task_seconds),
        "stage_seconds": one.assignment.stage_seconds,
        "cost": one.cost,
        "cost_at_most": one.cost_high,
    }


def _ranked(one: Assignment, tasks: np.ndarray, below: float, above: float) -> Ranked:
    seconds = float(tasks.sum()) + one.stage_seconds
    rate = None if one.usd_per_hour is None else one.usd_per_hour / SECONDS_PER_HOUR
    return Ranked(
        assignment=one,
        seconds=seconds,
        low=seconds - below,
        high=seconds + above,
        task_seconds=tuple(float(value) for value in tasks),
        cost=None if rate is None else rate * seconds,
        cost_high=None if rate is None else rate * (seconds + above),
    )


def _chosen(ranked: Sequence[Ranked], deadline: float | None) -> Ranked | None:
    if deadline is None:
        return ranked[0]
    in_time = [each for each in ranked if each.high <= deadline]
    if not in_time:
        return None
    return min(
        in_time, key=lambda each: (math.inf if each.cost is None else each.cost, each.seconds)
    )


def _of_row(row: Row) -> list[Assignment]:
    numbers = {
        column: number(row, column, "a number from 0, or nothing")
        for column, text in row.cells.items()
        if column != "name" and text
    }
    name = row.cells.get("name") or f"line {row.line}"
    price = numbers.pop(_PRICE, None)
    moving = numbers.pop(_STAGE_SECONDS, None)
    for column in numbers:
        if column.startswith(_STAGED) and column.removeprefix(_STAGED) not in row.cells:
            raise RequestError(
                f"{row.place}: {column} is for a column {column.removeprefix(_STAGED)}, which is "
                f"not there; accepted: {_STAGED} before the name of another column"
            )
    staged = {
        column.removeprefix(_STAGED): numbers.pop(column)
        for column in list(numbers)
        if column.startswith(_STAGED)
    }
    found = [Assignment(name, numbers, price)]
    if moving is not None:
        found.append(Assignment(f"{name}, staged", {**numbers, **staged}, price, moving))
    return found
