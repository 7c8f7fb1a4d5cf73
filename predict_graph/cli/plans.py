"""The commands fit and plan: a scaling model of a job, and the choice of machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli.groups import takes
from predict_graph.cli.output import Pages
from predict_graph.cli.tasks import rank_assignments
from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable

if TYPE_CHECKING:
    from predict_graph.sizing import Plan

_Confidence = Annotated[
    float, typer.Option(help="Probability with which a run keeps what is said; from 0.5.")
]


@takes(output=Pages)
def fit(
    output: Pages,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Measured points: of collect, or any CSV or TSV.")
    ],
    model: Annotated[
        str,
        typer.Option(
            help="auto, ernest, masha, usl, power-law or product; nimo for runs on unlike machines."
        ),
    ] = "auto",
    weights: Annotated[
        str, typer.Option(help="relative: minimise relative errors; none: seconds.")
    ] = "relative",
    term: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="Add a term to ernest or masha; repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only rows with this value; repeatable."),
    ] = None,
    scale_column: Annotated[str | None, typer.Option(help="Column of the scale.")] = None,
    machines_column: Annotated[str | None, typer.Option(help="Column of the machines.")] = None,
    seconds_column: Annotated[str | None, typer.Option(help="Column of the time.")] = None,
    history: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|none",
            help="For auto: runs of past jobs of the cluster; repeatable.",
            show_default="the rows that --where leaves out",
        ),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option(
            metavar="TYPES.csv",
            help="For auto: machine types with cores, memory_gb, price_per_hour, maybe profile; "
            "joins the runs on all of them in one model.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Iterations of each measured run, if plan shall scale them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="MODEL.json", help="Save the model, for plan.")
    ] = None,
) -> None:
    """Fit a model to measured runs: of a job on many machines, or of a task on unlike ones."""
    from predict_graph.sizing import JobModel, save_model
    from predict_graph.sizing import fit as fit_model

    output.check()
    if out is not None:
        check_writable(out)
    fitted = fit_model(
        file,
        model,
        scale_column=scale_column,
        machines_column=machines_column,
        seconds_column=seconds_column,
        where=_conditions(where),
        weights=weights,
        terms=term or (),
        iterations=iterations,
        history=history,
        types=types,
    )
    if out is not None:
        if isinstance(fitted, JobModel):
            save_model(fitted, out)
        else:
            from predict_graph.sizing.tasks.model import save_task

            save_task(fitted, out)
    output.show(fitted)


@takes(output=Pages)
def plan(
    output: Pages,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[TYPE=]MODEL.json…",
            help="Models of fit, or predictions on a cluster; one for each machine type. Models of "
            "tasks: in the order in which they run.",
        ),
    ],
    machines: Annotated[
        str | None, typer.Option(metavar="N:M", help="Machine counts: 2:64, 2:64:2 or 2,4,8.")
    ] = None,
    assignments: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="For models of tasks: a profile of calibrate (.json), or a table of candidates "
            "(.csv); repeatable.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="Attribute that all candidates share."),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="Scale of the job.", show_default="that of all measured points"),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Choose the cheapest that is done by then: 90s, 10m."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="USD", help="Choose the fastest that costs no more.")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|example", help="CSV with the columns type, cores, usd_per_hour."
        ),
    ] = None,
    confidence: _Confidence = 0.9,
    spare: Annotated[
        int, typer.Option(help="Extra machines to launch; the slowest are released.")
    ] = 0,
    spare_test: Annotated[
        str, typer.Option(metavar="TIME", help="How long all are held to find the slowest.")
    ] = "1m",
    iterations: Annotated[
        int | None, typer.Option(help="Iterations of the job, for a model of fit --iterations.")
    ] = None,
) -> None:
    """Choose machines for a job: by a deadline, within a budget, or along the frontier."""
    if assignments:
        for name, value in (("machines", machines), ("budget", budget), ("plot", output.plot)):
            if value is not None:
                raise RequestError(f"--{name} does not go with --assignments")
        rank_assignments(models, assignments, given, deadline, confidence, output)
        return
    if machines is None:
        raise RequestError(
            "a plan needs --machines N:M, or --assignments FILE with models of fit --model nimo"
        )
    from predict_graph.sizing import plan as make_plan

    output.check()
    made = make_plan(
        models,
        machines,
        scale=scale,
        deadline=deadline,
        budget=budget,
        prices=prices,
        confidence=confidence,
        spare=spare,
        spare_test=spare_test,
        iterations=iterations,
    )
    output.show(made)
    _refuse_if_impossible(made)


def _conditions(texts: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError(
                f"--where is {text!r}; accepted: NAME=VALUE, such as machine_type=m4.2xlarge"
            )
        if name.strip() in found:
            raise RequestError(f"the column {name.strip()} is given twice in --where")
        found[name.strip()] = value.strip()
    return found


def _refuse_if_impossible(made: Plan) -> None:
    from predict_graph.sizing.report import described

    if made.choice is None or made.choice.configuration is not None:
        return
    nearest = "; ".join(
        f"{what}: {described(one, made)}" for what, one in made.choice.nearest.items()
    )
    raise JobError(f"no configuration is {made.choice.condition}; {nearest}")
