"""The commands fit and plan: a scaling model of a job, and the choice of machines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from predict_graph import sizing
from predict_graph.cli import options
from predict_graph.cli.output import Pages
from predict_graph.errors import JobError, RequestError, unknown_name
from predict_graph.options import Group
from predict_graph.texts import named_values, to_number


@dataclass(frozen=True, kw_only=True)
class Columns(Group):
    """The columns of a table of measured runs, where their names do not say it.

    Parameters
    ----------
    scale_column
        Column of the scale; none if no column is it.
    machines_column
        Column of the machines.
    seconds_column
        Column of the time.
    type_column
        Column of the machine type.
    """

    scale_column: str | None = None
    machines_column: str | None = None
    seconds_column: str | None = None
    type_column: str | None = None


@dataclass(frozen=True, kw_only=True)
class Fitting(Columns):
    """How a model is fitted.

    Parameters
    ----------
    model
        auto, ernest or masha; nimo for runs on unlike machines.
    weights
        relative: minimise relative errors; none: seconds.
    history : FILE|none, default the rows that --where leaves out
        For auto: runs of past jobs of the cluster; repeatable.
    types : TYPES.csv
        For auto: machine types with cores, memory_gb, price_per_hour, maybe profile; joins the
        runs on all of them in one model.
    iterations
        Iterations of each measured run, if plan shall scale them.
    """

    model: str = "auto"
    weights: str = "relative"
    history: list[str] | None = None
    types: Path | None = None
    iterations: int | None = None


def fit(
    file: Path,
    *,
    output: Pages,
    fitting: Fitting,
    term: list[str] | None = None,
    where: list[str] | None = None,
    out: Path | None = None,
) -> None:
    """Fit a model to measured runs: of a job on many machines, or of a task on unlike ones.

    Parameters
    ----------
    file : FILE
        Measured points: of collect, or any CSV or TSV.
    term : TERM
        Add a term to ernest or masha; repeatable.
    where : NAME=VALUE
        Only rows with this value; repeatable.
    out : MODEL.json
        Save the model, for plan.
    """
    with output.display() as display:
        display.step(f"fitting a model to {file}", 0.0)
        fitted = sizing.fit(file, where=where, terms=term or (), **vars(fitting))
    if out is not None:
        sizing.save_model(fitted, out)
    output.show(fitted)
    if out is not None and not output.quiet:
        of_tasks = fitting.model.startswith("nimo")
        what = "--assignments FILE.csv" if of_tasks else "--machines FROM:TO"
        options.note(f"saved {out}; next: predict-graph plan {out} {what}")


_OF_TASKS = ("deadline", "budget", "confidence")  # what a plan of tasks reads


@dataclass(frozen=True, kw_only=True)
class Planning(Group):
    """What a plan is for.

    Parameters
    ----------
    scale : , default that of all measured points
        Scale of the job.
    deadline : TIME
        Choose the cheapest that is done by then: 90s, 10m.
    budget : USD
        Choose the fastest that costs no more.
    prices : FILE|example
        Machine types with cores and price_per_hour.
    confidence
        Probability with which a run keeps what is said; from 0.5, or 50%.
    spare
        Extra machines to launch; the slowest are released.
    spare_test : TIME, default 1m
        How long all are held to find the slowest.
    iterations
        Iterations of the job, for a model of fit --iterations.
    executor_cores : , default those of the log
        Cores of an executor, for an event log.
    """

    scale: float | None = None
    deadline: str | None = None
    budget: str | None = None
    prices: Path | None = None
    confidence: str = "0.9"
    spare: int = 0
    spare_test: str | None = None
    iterations: int | None = None
    executor_cores: int | None = None


def plan(
    models: list[str],
    *,
    output: Pages,
    planning: Planning,
    machines: str | None = None,
    assignments: list[Path] | None = None,
    given: list[str] | None = None,
) -> None:
    """Choose machines for a job: by a deadline, within a budget, or along the frontier.

    Parameters
    ----------
    models : [TYPE=]FILE…
        Models of fit, predictions on a cluster, or event logs of Spark; one for each machine
        type. Models of tasks: in the order in which they run.
    machines : N:M
        Machine counts: 2:64, 2:64:2 or 2,4,8.
    assignments : FILE
        For models of tasks: a profile of calibrate (.json), or a table of candidates (.csv);
        repeatable.
    given : --with NAME=VALUE
        Attribute that all candidates share.
    """
    if assignments:
        made = _rank(models, assignments, given, machines, planning)
    elif given:
        raise RequestError("--with goes with --assignments only")
    elif machines is not None:
        with output.display() as display:
            display.step(f"reading {', '.join(models)}", 0.0)
            made = sizing.plan(models, machines, **vars(planning))
    else:
        raise RequestError(
            "a plan needs --machines N:M, or --assignments FILE with models of fit --model nimo"
        )
    output.show(made)
    choice = made.choice
    if choice is not None and choice.configuration is None:
        nearest = (f"{what}: {made.described(one)}" for what, one in choice.nearest.items())
        raise JobError(f"no configuration is {choice.condition}; {'; '.join(nearest)}")


def _rank(
    models: list[str],
    files: list[Path],
    given: list[str] | None,
    machines: str | None,
    planning: Planning,
) -> sizing.Plan:
    """Rank candidate assignments for a task, or for a chain of them."""
    from predict_graph.sizing.tasks import assignments, model

    asked = {"machines": machines} | vars(planning) | dict.fromkeys(_OF_TASKS)
    unread = {name: value for name, value in asked.items() if value}
    options.refuse(unread, "does not go with --assignments")
    tasks, shared = [model.load_task(Path(path)) for path in models], attributes(given)
    known = {str(name): None for task in tasks for name in task.known}
    for name in shared:
        if name not in known:
            raise unknown_name("attribute", name, known)
    return assignments.plan_tasks(
        tasks,
        assignments.read_assignments(files, shared),
        deadline=planning.deadline,
        budget=planning.budget,
        confidence=planning.confidence,
    )


def attributes(texts: list[str] | None) -> dict[str, float]:
    """Return numbers from 0 by name from ``NAME=NUMBER`` of --with."""
    accepted, found = "NAME=NUMBER, from 0, such as edges=1e6", {}
    for name, value in named_values(texts, "--with", accepted).items():
        found[name] = to_number(value)
        if not 0.0 <= found[name] < math.inf:
            raise RequestError(f"--with {f'{name}={value}'!r}; accepted: {accepted}")
    return found
