"""What fit and plan do with tasks on unlike machines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer, Table
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable

if TYPE_CHECKING:
    from predict_graph.cli.output import Pages
    from predict_graph.sizing.tasks.assignments import Ranked, TaskPlan
    from predict_graph.sizing.tasks.model import TaskModel

__all__ = ["fit_tasks", "numbers", "rank_assignments"]


def fit_tasks(file: Path, model: str, out: Path | None, output: Pages) -> None:
    """Fit a model of a task to its runs, show it and save it."""
    from predict_graph.sizing.tasks.model import fit_task, save_task
    from predict_graph.sizing.tasks.runs import read_runs

    output.check()
    if out is not None:
        check_writable(out)
    fitted = fit_task(read_runs(file), model)
    if out is not None:
        save_task(fitted, out)
    metrics = fitted.metrics()
    rows = [
        ("model", f"{fitted.name}, shape {fitted.estimator.shape_}"),
        ("runs", f"{len(fitted.runs.seconds)}"),
        ("attributes", ", ".join(fitted.attributes)),
        *(
            (f"f_{name}", f"{formula} {'bytes' if name == 'data' else 's/byte'}")
            for name, formula in fitted.estimator.formulas_.items()
        ),
        *(
            (f"in f_{part}", "each attribute over " + ", ".join(f"{n} {v:.4g}" for n, v in units))
            for part, units in _references(fitted)
        ),
        ("left-out AE", f"mean {readable_seconds(metrics['mean_absolute_error'])}"),
        (
            "left-out PE",
            f"mean {metrics['mean_percent_error']:.1f}%, max {metrics['max_percent_error']:.1f}%",
        ),
        (
            "left-out ranking",
            f"OPD {metrics['order_preserving_degree']:.3f}, "
            f"RD(1) {metrics['ranking_distance_1']:.3f}",
        ),
    ]
    said = (
        f"the model {fitted.name} of {fitted.runs.source} is off by "
        f"{metrics['mean_percent_error']:.0f}% (at most {metrics['max_percent_error']:.0f}%) on "
        "runs that were left out"
    )
    answer = Answer(said, rows)
    output.give(answer, _fit_summary(fitted))
    output.draw(f"model of {fitted.runs.source}", answer, list)


def _references(fitted: TaskModel) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return what attributes are divided by; once for parts that have the same."""
    found: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for part, units in fitted.estimator.references_.items():
        found.setdefault(tuple(units.items()), []).append(part)
    return [(", f_".join(parts), list(units)) for units, parts in found.items()]


def rank_assignments(
    models: list[str],
    files: list[Path],
    given: list[str] | None,
    deadline: str | None,
    confidence: float,
    output: Pages,
) -> None:
    """Rank candidate assignments for a task, or for a chain of them."""
    from predict_graph.sizing import parse_duration
    from predict_graph.sizing.tasks.assignments import plan_tasks, read_assignments
    from predict_graph.sizing.tasks.model import load_task

    output.check()
    tasks, shared = [load_task(Path(path)) for path in models], numbers(given)
    known = {str(name): None for task in tasks for name in task.runs.attributes}
    for name in shared:
        if name not in known:
            raise RequestError(
                f"--with has {name!r}, which no model knows; accepted: {', '.join(known)}"
            )
    made = plan_tasks(
        tasks,
        read_assignments(files, shared),
        deadline=None if deadline is None else parse_duration(deadline, "deadline"),
        confidence=confidence,
    )
    answer = _answer(made)
    output.give(answer, _plan_summary(made))
    output.draw("plan for tasks", answer, list)
    if made.choice is None:
        best = made.ranked[0]
        raise JobError(
            f"no assignment is done in {deadline} with {100 * confidence:.4g}% confidence; the "
            f"fastest, {best.assignment.name}, takes {readable_seconds(best.seconds)}, at most "
            f"{readable_seconds(best.high)}"
        )


def numbers(texts: list[str] | None) -> dict[str, float]:
    """Return numbers from 0 by name from ``NAME=NUMBER``.

    Raises
    ------
    RequestError
        If one is something else.
    """
    found: dict[str, float] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (name.strip() and number >= 0.0 and math.isfinite(number)):
            raise RequestError(
                f"--with is {text!r}; accepted: NAME=NUMBER, from 0, such as edges=1e6"
            )
        found[name.strip()] = number
    return found


def _answer(made: TaskPlan) -> Answer:
    priced = any(one.cost is not None for one in made.ranked)
    columns = ["assignment", "time", "at least", "at most", *(["USD"] if priced else [])]
    rows = [
        (
            one.assignment.name + (" *" if one is made.choice else ""),
            readable_seconds(one.seconds),
            readable_seconds(one.low),
            readable_seconds(one.high),
            *(["" if one.cost is None else f"{one.cost:.4g}"] if priced else []),
        )
        for one in made.ranked
    ]
    title = f"assignments, fastest first; at most: with {100 * made.confidence:.4g}% confidence"
    if made.choice is None:
        said = "no assignment is done in time"
    else:
        one = next(each for each in made.ranked if each is made.choice)
        wanted = "fastest" if made.deadline is None else "chosen for the deadline"
        cost = "" if one.cost is None else f", {one.cost:.3g} USD"
        said = (
            f"{wanted}: {one.assignment.name}, {readable_seconds(one.seconds)} (at most "
            f"{readable_seconds(one.high)}){cost}"
        )
    return Answer(said, tables=[Table(title, columns, rows)], warnings=made.warnings)


def _fit_summary(fitted: TaskModel) -> dict[str, Any]:
    return {
        "schema": 1,
        "model": fitted.name,
        "shape": fitted.estimator.shape_,
        "formulas": dict(fitted.estimator.formulas_),
        "attributes": fitted.attributes,
        "runs": len(fitted.runs.seconds),
        "left_out": fitted.metrics(),
        "left_out_errors": dict(fitted.estimator.left_out_errors_),
    }


def _plan_summary(made: TaskPlan) -> dict[str, Any]:
    return {
        "schema": 1,
        "confidence": made.confidence,
        "deadline": made.deadline,
        "assignments": [_plain(one) for one in made.ranked],
        "choice": None if made.choice is None else made.choice.assignment.name,
        "warnings": list(made.warnings),
    }


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
