"""Candidate assignments: machines, networks, places of the data; ranked by a model of the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from costmodels.occupancy.terms import attribute_of
from predict_graph.errors import RequestError
from predict_graph.resources.profile import read_profile
from predict_graph.sizing.planning.candidates import PRICE_NAMES
from predict_graph.sizing.planning.plans import Plan
from predict_graph.sizing.quantities import parse_conditions
from predict_graph.sizing.table_file import TextTable, read_table
from predict_graph.sizing.tasks.model import TaskModel

_STAGED = "staged_"
_STAGE_SECONDS = "stage_seconds"


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


def read_assignments(
    paths: Sequence[Path], constants: Mapping[str, float] | None = None
) -> list[Assignment]:
    """Read candidates from tables and from resource profiles.

    A table has one row a candidate: ``name``, its attributes, and maybe ``price_per_hour``. With
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
            found += _candidates(read_table(path))
    name, count = Counter(one.name for one in found).most_common(1)[0]
    if count > 1:
        raise RequestError(f"two assignments are called {name!r}; accepted: a name each")
    shared = dict(constants or {})
    if twice := [name for name in shared if any(name in one.attributes for one in found)]:
        raise RequestError(f"{twice[0]} is given, and assignments have it; accepted: one of these")
    return [replace(one, attributes=shared | dict(one.attributes)) for one in found]


def plan_tasks(
    models: Sequence[TaskModel],
    assignments: Sequence[Assignment],
    *,
    deadline: float | str | None = None,
    budget: float | str | None = None,
    confidence: float | str = 0.9,
) -> Plan:
    """Rank assignments for a chain of tasks that run one after the other.

    The time of a chain is the sum of those of its tasks, and of moving the data (NIMO, section
    V-C); a deadline is kept with the confidence asked for, errors of the tasks being independent.

    Raises
    ------
    RequestError
        If an assignment lacks an attribute that a model needs, a price is missing, or the
        confidence is out of range.
    """
    deadline, budget, confidence = parse_conditions(deadline, budget, confidence)
    if not assignments:
        raise RequestError("there is no assignment to rank; accepted: --assignments FILE")
    for model in models:
        for one in assignments:
            missing = [name for name in model.attributes if name not in one.attributes]
            if missing:
                raise RequestError(
                    f"the assignment {one.name!r} has no {missing[0]!r}, which the model of "
                    f"{model.source} needs; it has: {', '.join(one.attributes) or 'nothing'}"
                )
            for name in model.attributes:
                if one.attributes[name] == 0 < model.known[name].min() and attribute_of(name).power:
                    raise RequestError(f"{name} of {one.name!r} is 0; accepted: a number above 0")
    if budget is not None and all(one.usd_per_hour is None for one in assignments):
        raise RequestError(f"a budget needs prices; accepted: a column {PRICE_NAMES[0]}")
    everything = pd.DataFrame([dict(one.attributes) for one in assignments])
    parts = np.stack([model.seconds(everything, confidence) for model in models])
    tasks, low, high = np.moveaxis(parts, 1, 0)
    staging = np.array([one.stage_seconds for one in assignments])
    rates = pd.Series([one.usd_per_hour for one in assignments], dtype=float).fillna(np.inf) / 3600
    seconds = tasks.sum(axis=0) + staging
    most = seconds + np.sqrt(((high - tasks) ** 2).sum(axis=0))
    least = seconds - np.sqrt(((tasks - low) ** 2).sum(axis=0))
    outside = [model.beyond(everything) for model in models]
    names = [one.name for one in assignments]
    placements = pd.DataFrame(
        {
            "name": names,
            "machine_type": names,
            "machines": 1,
            "seconds": seconds,
            "low": least,
            "high": most,
            "cost": rates * seconds,
            "cost_high": rates * most,
            "in_measured_range": ~np.any([far.any(axis=1) for far in outside], axis=0),
            "chance": 1.0,
            "assignment": [asdict(one) for one in assignments],
            "task_seconds": tasks.T.tolist(),
        }
    )
    warnings = [
        f"{', '.join(known)} of some assignments {'lie' if len(known) > 1 else 'lies'} outside of "
        f"what {model.source} has; intervals do not widen with the distance"
        for model, far in zip(models, outside, strict=True)
        if (known := list(far.columns[far.any()]))
    ]
    if len(placements) > 1 and (tasks == tasks[:, :1]).all():
        used = sorted({name for model in models for name in model.attributes})
        warnings.append(
            f"the candidates are alike in what the models know ({', '.join(used)}): their times "
            "cannot be distinguished; fit runs on different resources"
        )
    return Plan(
        confidence=confidence,
        deadline=deadline,
        budget=budget,
        cost_unit="USD",
        unit="assignment",
        models=tuple(models),
        configurations=placements.sort_values(["high", "seconds"], ignore_index=True),
        warnings=tuple(warnings),
    )


def _candidates(table: TextTable) -> list[Assignment]:
    """Return the candidates of a table."""
    found, priced = {}, str(table.find(PRICE_NAMES))
    for column in table.columns:
        base = column.removeprefix(_STAGED)
        if base not in table.columns:
            raise RequestError(
                f"{table.path} has a column {column} and none {base}; accepted: {_STAGED} before "
                "the name of another column"
            )
        if column != "name":
            given = replace(table, cells=table.cells[table.cells[column] != ""])
            found[column] = given.numbers(column, "a number from 0, or nothing", least=0.0)
    candidates = []
    names = table.cells["name"] if "name" in table.columns else pd.Series("", table.cells.index)
    numbers = pd.DataFrame(found, table.cells.index)
    for given_name, (line, row) in zip(names, numbers.iterrows(), strict=True):
        own = {str(name): value for name, value in row.dropna().items()}
        moving, name = own.pop(_STAGE_SECONDS, None), given_name or f"line {line}"
        moved = [each for each in own if each.startswith(_STAGED)]
        staged = {each.removeprefix(_STAGED): own.pop(each) for each in moved}
        placed = [(name, own, 0.0), (f"{name}, staged", own | staged, moving or 0.0)]
        for label, known, seconds in placed if staged or moving is not None else placed[:1]:
            attributes = {each: value for each, value in known.items() if each != priced}
            candidates.append(Assignment(label, attributes, known.get(priced), seconds))
    return candidates
